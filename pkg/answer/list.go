package answer

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"kb/pkg/text"
)

// listFilter drops the list of references that models like to add under a
// heading at the end of an answer: its entries are the model's guesses, while
// kb knows the passages. It also drops white space around the text.
//
// A list is dropped only if nothing but its entries follows to the end and
// something was said before. An entry is a line that begins with a marker, or
// a list item that cites nothing; items that end in a citation are the answer
// itself. Text is held back only from what may be such a heading.
type listFilter struct {
	line  string // the line at hand, as far as it is held back
	held  string // white space, or a heading and what followed it
	list  bool   // held begins with a heading
	said  bool   // text went out
	midst bool   // the line at hand has gone out in part
}

func (f *listFilter) write(s string) string {
	var out strings.Builder
	for s != "" {
		n := strings.IndexByte(s, '\n') + 1
		if n == 0 {
			n = len(s)
		}
		f.line += s[:n]
		s = s[n:]
		if strings.HasSuffix(f.line, "\n") || !f.list && !mayBeHeading(f.line, f.midst) {
			f.endLine(&out)
		}
	}
	return out.String()
}

// close takes the end of the text for the end of a line.
func (f *listFilter) close() string {
	var out strings.Builder
	f.endLine(&out)
	return out.String()
}

// endLine decides about the line at hand, or the part of it that came.
func (f *listFilter) endLine(out *strings.Builder) {
	line := f.line
	f.line = ""
	switch {
	case f.list && (strings.TrimSpace(line) == "" || isEntry(line) || isReferences(line)):
		f.held += line
	case !f.midst && f.said && isReferences(line):
		f.list = true
		f.held += line
	default:
		f.list = false
		f.send(out, line)
	}
	f.midst = line != "" && !strings.HasSuffix(line, "\n")
}

// send writes what is held and the line, and holds back its trailing white
// space.
func (f *listFilter) send(out *strings.Builder, line string) {
	s := f.held + line
	if !f.said {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	kept := strings.TrimRightFunc(s, unicode.IsSpace)
	f.held = s[len(kept):]
	f.said = f.said || kept != ""
	out.WriteString(kept)
}

// mayBeHeading says whether the line may still become a heading of a list of
// references.
func mayBeHeading(line string, midst bool) bool {
	if midst {
		return false
	}
	word := headingWord(line)
	if word == "" {
		return len(line) < 16
	}
	for _, h := range referenceHeadings() {
		if strings.HasPrefix(h, word) {
			return true
		}
	}
	return isReferences(line)
}

// isReferences says whether a line is the heading of a list of references.
func isReferences(line string) bool {
	word := headingWord(line)
	for _, h := range referenceHeadings() {
		if word == h {
			return true
		}
	}
	return false
}

// headingWord is a line without what makes it a heading.
func headingWord(line string) string {
	if len(line) > 64 {
		return line
	}
	return strings.TrimRight(strings.TrimLeft(text.Normalize(line), " \t#*_>-【["), " \t\n\r*_:】]")
}

func referenceHeadings() []string {
	return []string{"references", "reference", "sources", "source", "citations", "bibliography", "works cited", "footnotes",
		"参考资料", "参考文献", "参考来源", "资料来源", "引用来源", "引用资料", "引用文献", "来源", "出处", "引文", "引用"}
}

var entryPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:[-*+•]\s*|\d+[.)、]\s*)?(?:[\[【［][^\]】］\n]{1,16}[\]】］]|<sup>)`)
})

var itemPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:[-*+•]\s|\d+[.)、])`)
})

// isEntry says whether a line is an entry of a list of references.
func isEntry(line string) bool {
	if entryPattern().MatchString(line) {
		return true
	}
	return itemPattern().MatchString(line) && !strings.ContainsAny(line, "[【［")
}
