package main

import "testing"

// A command is found by the name in the list before it is made.
func TestCommandsHaveTheirNames(t *testing.T) {
	e := system()
	for _, c := range commands(e, newSettings(e)) {
		if got := c.make().Name(); got != c.name {
			t.Errorf("the command %q is in the list as %q", got, c.name)
		}
	}
}
