package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const manLong = `man writes the manual page of kb or of one of its commands, made from the same
text as --help, in the language of man(7). With --dir it writes all of them.`

func newMan(e *env) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:         "man [COMMAND]",
		Short:       "manual pages",
		Long:        manLong,
		Example:     "  kb man ask | man -l -\n  kb man --dir /usr/local/share/man/man1",
		Args:        args(cobra.MaximumNArgs(1)),
		Annotations: about(),
		RunE: func(cmd *cobra.Command, names []string) error {
			root := cmd.Root()
			if dir != "" {
				if len(names) > 0 {
					return usagef("--dir writes all pages; leave %s out", names[0])
				}
				return writePages(root, dir)
			}
			page := root
			if len(names) > 0 {
				var err error
				if page, _, err = root.Find(names); err != nil || page == root {
					return unknownCommand(root, names[0])
				}
			}
			_, err := io.WriteString(e.stdout, manPage(page))
			if err == nil && e.stdoutTTY {
				fmt.Fprintf(e.stderr, "hint: to read it: %s | man -l -\n", strings.Join(append([]string{"kb man"}, names...), " "))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write the pages of all commands into this folder")
	return cmd
}

// writePages writes a file for kb and for each of its commands.
func writePages(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return readable(err)
	}
	var all []error
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		if c == root || c.IsAvailableCommand() {
			all = append(all, os.WriteFile(filepath.Join(dir, pageName(c)+".1"), []byte(manPage(c)), 0o644))
		}
	}
	return errors.Join(all...)
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is the page of a command. It holds no date, so that the same kb
// writes the same bytes.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"kb manual\"\n", strings.ToUpper(pageName(c)), "kb "+version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(c)), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	prose(&b, c.Long)
	if !c.HasParent() {
		for _, g := range c.Groups() {
			fmt.Fprintf(&b, ".SS %s\n", roff(strings.TrimSuffix(g.Title, ":")))
			for _, sub := range c.Commands() {
				if sub.GroupID == g.ID && sub.IsAvailableCommand() {
					fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
				}
			}
		}
	}
	options(&b, c)
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		literal(&b, c.Example)
	}
	if title, body, ok := strings.Cut(c.Annotations["exit"], "\n"); ok {
		fmt.Fprintf(&b, ".SH %s\n", title)
		literal(&b, body)
	}
	if c.HasParent() {
		b.WriteString(".SH SEE ALSO\n.BR kb (1)\n")
	}
	return b.String()
}

func options(b *strings.Builder, c *cobra.Command) {
	b.WriteString(".SH OPTIONS\n")
	c.InitDefaultHelpFlag()
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, ".TP\n.B %s", roff(name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		b.WriteString("\n" + roff(usage))
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" && f.DefValue != "[]" {
			b.WriteString(roff(fmt.Sprintf(" (default %s)", f.DefValue)))
		}
		b.WriteByte('\n')
	})
}

// prose writes paragraphs. One that shows records or commands, which begins
// with white space or with the word Reads or Writes, keeps its lines.
func prose(b *strings.Builder, text string) {
	for i, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(p, " ") || strings.HasPrefix(p, "Reads:") || strings.HasPrefix(p, "Writes:") {
			literal(b, p)
		} else {
			b.WriteString(roff(p) + "\n")
		}
	}
}

func literal(b *strings.Builder, text string) {
	fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff(strings.TrimRight(text, "\n")))
}

// roff escapes what man(7) would take for its own: backslashes, hyphens, and
// dots and quotes that begin a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
