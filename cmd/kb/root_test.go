package main

import (
	"strings"
	"testing"
)

// A command is found by the name in the list before it is made.
func TestCommandsHaveTheirNames(t *testing.T) {
	e := system()
	for _, c := range commands(e, newSettings(e)) {
		if got := c.make().Name(); got != c.name {
			t.Errorf("the command %q is in the list as %q", got, c.name)
		}
	}
}

// On a terminal the descriptions of flags keep to its width; the records, which
// are to be copied, are left to it.
func TestHelpKeepsToTheTerminal(t *testing.T) {
	for _, name := range allCommands() {
		var out strings.Builder
		e := system()
		e.stdout, e.stdoutTTY = &out, true
		if code := run([]string{name, "--help"}, e); code != exitOK {
			t.Fatalf("kb %s --help: exit code %d", name, code)
		}
		_, flags, found := strings.Cut(out.String(), "\nFlags:\n")
		if !found {
			t.Errorf("kb %s --help shows no flags", name)
		}
		for line := range strings.Lines(flags) {
			if line = strings.TrimRight(line, "\n"); columns(line) > 80 {
				t.Errorf("kb %s --help: %d columns: %s", name, columns(line), line)
			}
		}
	}
}

func allCommands() (names []string) {
	e := system()
	for _, c := range commands(e, newSettings(e)) {
		names = append(names, c.name)
	}
	return names
}
