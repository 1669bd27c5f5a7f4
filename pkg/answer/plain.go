package answer

import (
	"fmt"
	"strings"
)

// Plain returns s without what would act on a terminal or hide from a reader:
// escape sequences, control characters, bidirectional overrides, invisible tag
// characters. Line ends and tabs stay. Text of notes and models goes through
// it before it is shown.
func Plain(s string) string {
	if !strings.ContainsFunc(s, isHidden) {
		return s
	}
	var b strings.Builder
	for s != "" {
		if n := escapeSequence(s); n > 0 {
			s = s[n:]
			continue
		}
		i := strings.IndexFunc(s[1:], isHidden) + 1
		if i == 0 {
			i = len(s)
		}
		b.WriteString(strings.Map(visible, s[:i]))
		s = s[i:]
	}
	return b.String()
}

// Place is where a passage stands, in a form that a terminal can open and a
// reader can follow: path:line, or path p.N of what has pages, and the headings.
func Place(path string, page, line int, headings []string) string {
	where := path
	switch {
	case page > 0:
		where += fmt.Sprintf(" p.%d", page)
	case line > 0:
		where += fmt.Sprintf(":%d", line)
	}
	if len(headings) > 0 {
		where += " › " + strings.Join(headings, " › ")
	}
	return Plain(where)
}

func visible(r rune) rune {
	if isHidden(r) {
		return -1
	}
	return r
}

func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r < 0x61c:
		return false
	case r == 0x61c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidi
		return true
	case r == 0x2028, r == 0x2029, r == 0xfeff:
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f // tags
}

// escapeSequence is the length of the sequence after ECMA-48 that s begins
// with: ESC [ … letter, or ESC ] … up to BEL or ESC \; 0 if there is none.
func escapeSequence(s string) int {
	switch {
	case strings.HasPrefix(s, "\x1b["):
		return sequenceEnd(s, 2)
	case strings.HasPrefix(s, "\u009b"):
		return sequenceEnd(s, len("\u009b"))
	case strings.HasPrefix(s, "\x1b]"), strings.HasPrefix(s, "\x1bP"), strings.HasPrefix(s, "\x1b_"), strings.HasPrefix(s, "\x1b^"):
		return stringEnd(s)
	}
	return 0
}

func sequenceEnd(s string, i int) int {
	for i < len(s) && s[i] >= 0x20 && s[i] < 0x40 {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] < 0x7f {
		i++
	}
	return i
}

// stringEnd finds the end of a command string. One that does not end on its
// line loses only its introducer, so that a stray byte hides no text.
func stringEnd(s string) int {
	line := s
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		line = s[:i]
	}
	bell, st := strings.IndexByte(line, '\a'), strings.Index(line[2:], "\x1b\\")
	switch {
	case bell >= 0 && (st < 0 || bell < st+2):
		return bell + 1
	case st >= 0:
		return st + 4
	}
	return 2
}
