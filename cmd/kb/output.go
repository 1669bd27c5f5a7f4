package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"kb/pkg/answer"
)

// outputFlags choose between lines for people and records for programs.
type outputFlags struct{ json, text bool }

func (f *outputFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "write JSON Lines, also on a terminal")
	cmd.Flags().BoolVar(&f.text, "text", false, "write for people, also into a pipe")
	cmd.MarkFlagsMutuallyExclusive("json", "text")
}

// human says whether a person reads standard output.
func (f *outputFlags) human(e *env) bool { return f.text || e.stdoutTTY && !f.json }

// style paints text for a terminal, and leaves it alone elsewhere.
type style struct {
	colour   bool
	terminal bool
	width    int // columns
}

func (e *env) style() style {
	s := style{width: 80}
	if !e.stdoutTTY {
		return s
	}
	s.terminal = true
	canPaint := true
	if f, ok := e.stdout.(interface{ Fd() uintptr }); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
			s.width = min(w, 120)
		}
		canPaint = escapes(f.Fd())
	}
	noColour, _ := e.lookup("NO_COLOR")
	termName, _ := e.lookup("TERM")
	s.colour = canPaint && noColour == "" && termName != "dumb"
	return s
}

func (s style) paint(code, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string   { return s.paint("1", t) }
func (s style) dim(t string) string    { return s.paint("2", t) }
func (s style) place(t string) string  { return s.paint("36", t) }
func (s style) alarm(t string) string  { return s.paint("31", t) }
func (s style) strong(t string) string { return s.paint("1;33", t) }

// beside puts right, dimmed, at the end of the line that left begins, or
// behind it where there is no room.
func (s style) beside(left string, paintLeft func(string) string, right string) string {
	left = s.wrapped(left)
	gap := s.width - columns(left[strings.LastIndexByte(left, '\n')+1:]) - columns(right)
	if gap < 2 && s.terminal {
		return paintLeft(left) + "\n" + strings.Repeat(" ", max(s.width-columns(right), 0)) + s.dim(right)
	}
	return paintLeft(left) + strings.Repeat(" ", max(gap, 2)) + s.dim(right)
}

// table takes Markdown tables, each in one write. A terminal that is too narrow
// for one shows its columns with nothing between them.
func (s style) table(w io.Writer) io.Writer {
	if !s.terminal {
		return w
	}
	return tableWriter{w, s.width}
}

type tableWriter struct {
	w     io.Writer
	width int
}

func (t tableWriter) Write(table []byte) (int, error) {
	lines := strings.Split(strings.TrimSuffix(string(table), "\n"), "\n")
	if columns(lines[0]) <= t.width || !strings.HasPrefix(lines[0], "| ") {
		return t.w.Write(table)
	}
	for i, line := range lines {
		if i == 1 { // the rule below the head
			continue
		}
		line = strings.TrimSuffix(strings.TrimPrefix(line, "| "), "|")
		if _, err := fmt.Fprintln(t.w, strings.TrimRight(strings.ReplaceAll(line, " | ", "  "), " ")); err != nil {
			return 0, err
		}
	}
	return len(table), nil
}

// columns is the width of text on a terminal.
func columns(text string) int { return uniseg.StringWidth(text) }

func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// count writes a number with its noun: "1 chunk", "2 chunks".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// plainLine is a text of others, such as a file's name, on one line.
func plainLine(s string) string {
	return strings.NewReplacer("\n", "␊", "\r", "␍", "\t", " ").Replace(answer.Plain(s))
}
