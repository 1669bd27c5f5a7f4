package markdown

import (
	"strings"
	"sync"
)

// Writer makes a Markdown text of the blocks of another format, so that what
// reads the text finds the headings, the tables and the code. Text that would
// be taken for the beginning of a block is escaped with a backslash. The zero
// value is usable.
type Writer struct {
	b    strings.Builder
	list bool // the last block is an item
}

// String returns the text, with a line end behind each block.
func (w *Writer) String() string { return w.b.String() }

// Len is the length of the text so far, in bytes.
func (w *Writer) Len() int { return w.b.Len() }

// Heading writes a heading of a level from 1 to 6.
func (w *Writer) Heading(level int, text string) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return
	}
	w.block(strings.Repeat("#", min(max(level, 1), 6)) + " " + headingEscapes().Replace(text))
}

var headingEscapes = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "<", `\<`, "`", "\\`")
})

// Text writes a paragraph, which may have several lines.
func (w *Writer) Text(text string) { w.block(prefixed(text, "")) }

// Quote writes a paragraph as a quotation.
func (w *Writer) Quote(text string) { w.block(prefixed(text, "> ")) }

// Item writes an item of a list, depth from 0, behind a marker such as "-" or
// "1."; with "" the text continues the item before.
func (w *Writer) Item(depth int, marker, text string) {
	indent := strings.Repeat("  ", min(max(depth, 0), 8))
	if marker != "" {
		marker += " "
	}
	if text = prefixed(marker+text, indent+"  "); text == "" {
		return
	}
	if marker != "" {
		text = indent + text[len(indent)+2:]
	}
	if w.list {
		w.b.WriteString(text + "\n")
		return
	}
	w.block(text)
	w.list = true
}

// Code writes a fenced block of code.
func (w *Writer) Code(language, text string) {
	text = strings.Trim(strings.TrimRight(text, " \t\n"), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	w.block(fence + language + "\n" + text + "\n" + fence)
}

// Table writes rows, of which the first is the header, which is filled up to
// the longest row. A table of one row or one column is paragraphs.
func (w *Writer) Table(rows [][]string) {
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	if columns < 2 || len(rows) < 2 {
		for _, row := range rows {
			w.Text(strings.Join(row, "  "))
		}
		return
	}
	var b strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(strings.Join(strings.Fields(cell), " "), "|", `\|`) + " ")
		}
		if i == 0 {
			b.WriteString(strings.Repeat("|  ", columns-len(row)) + "|\n" + strings.Repeat("|---", columns))
		}
		b.WriteString("|\n")
	}
	w.block(strings.TrimSuffix(b.String(), "\n"))
}

func (w *Writer) block(text string) {
	w.list = false
	if text == "" {
		return
	}
	if w.b.Len() > 0 {
		w.b.WriteByte('\n')
	}
	w.b.WriteString(text + "\n")
}

// prefixed puts the prefix before each line that is not blank, and escapes it.
func prefixed(text, prefix string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, prefix+escapeLine(line))
		}
	}
	return strings.Join(lines, "\n")
}

// escapeLine keeps a line of text from being a heading, a rule, a fence, HTML,
// the delimiter row of a table, or the beginning of front matter.
func escapeLine(line string) string {
	if startsBlock(line) {
		return `\` + line
	}
	return line
}

func startsBlock(line string) bool {
	switch line[0] {
	case '#':
		rest := strings.TrimLeft(line, "#")
		return len(line)-len(rest) <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
	case '<':
		return len(line) > 1 && (strings.IndexByte("!?/", line[1]) >= 0 || line[1]|0x20 >= 'a' && line[1]|0x20 <= 'z')
	case '`', '~':
		return fenceOf(line) != ""
	case '+':
		return strings.HasPrefix(line, "+++")
	case '-', '=', '|', ':':
		return strings.Trim(line, "=") == "" || strings.Trim(line, "-|: \t") == ""
	}
	return false
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; s[i] != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
