package offline

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"kb/pkg/record"
	"kb/pkg/text"
)

// passageSentence is a sentence of a passage without the Markdown around it.
type passageSentence struct {
	text     string
	columns  string // the head of the table that it is a row of
	heading  bool
	question bool // it asks, and answers nothing itself
	item     bool // it begins an item of a list
	begins   bool // the first of its paragraph
}

// readable splits the text of a passage into what can be quoted: sentences,
// list items, table rows, lines of code (as code); and into what stands above
// these: headings, questions and the head of a table. Drawn lines, sentences
// that only lead in what follows and definitions of links are left out. Marks
// are dropped where that changes no word.
func readable(p record.Passage) []passageSentence {
	var out []passageSentence
	fenced, open := false, false // open: the last sentence ended in a semicolon
	begins, blank := true, ""    // blank: white space behind the last piece
	var last, columns string     // the last piece; the head of the table
	for piece := range pieces(p) {
		raw, before := strings.TrimSpace(piece), len(out)
		blank += piece[:len(piece)-len(strings.TrimLeftFunc(piece, unicode.IsSpace))]
		lines := strings.Count(blank, "\n")
		begins = begins || lines > 1
		if lines > 1 || lines > 0 && !isRow(raw) {
			columns = ""
		}
		switch {
		case strings.HasPrefix(raw, "```"), strings.HasPrefix(raw, "~~~"):
			fenced = !fenced
		case fenced:
			if raw != "" && !strings.Contains(raw, "`") {
				out = append(out, passageSentence{text: "`" + raw + "`"})
			}
		case isTableRule(raw):
			if n := len(out); n > 0 && isRow(last) && out[n-1].text == plain(last) {
				out, columns = out[:n-1], joinCells(cells(last), true)
			}
		case isHeadingLine(raw):
			out = append(out, passageSentence{text: strings.Trim(raw, "# \t"), heading: true})
		default:
			s, item := plain(raw), stripMark(raw) != raw
			asking, question := asks(s)
			switch {
			case question:
				out = append(out, passageSentence{text: asking, question: true, item: item})
			case s == "" || leadsIn(s):
			case open && !begins && !item:
				out[len(out)-1].text += " " + s
			case columns != "" && isRow(raw):
				out = append(out, passageSentence{text: joinCells(cells(raw), true), columns: columns})
			default:
				out = append(out, passageSentence{text: s, item: item})
			}
		}
		if len(out) > before {
			out[before].begins, begins = begins, false
		}
		// The semicolon of Chinese, ；, parts clauses that stand alone.
		open = strings.HasSuffix(raw, ";") && len(out) > 0 && strings.HasSuffix(out[len(out)-1].text, ";")
		last, blank = raw, piece[len(strings.TrimRightFunc(piece, unicode.IsSpace)):]
	}
	return out
}

// pieces are the sentences of a passage. On a page of a PDF, whose paragraphs
// are joined when it is read, a line that is still by itself is a heading or a
// row of a table, and no part of the sentence behind it; nor is, anywhere, what
// stands before a line that begins with "Q:" or "A:".
func pieces(p record.Passage) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start, end := range text.Sentences(p.Text) {
			for i := start; i < end; i++ {
				if p.Text[i] == '\n' && (p.Page > 0 && !goesOn(p.Text[start:i]) || isLabelled(p.Text[i+1:end])) {
					if !yield(p.Text[start : i+1]) {
						return
					}
					start = i + 1
				}
			}
			if start < end && !yield(p.Text[start:end]) {
				return
			}
		}
	}
}

// longLine is how many characters a line of text in Latin script has at least
// where the width of the page ended it.
const longLine = 60

// goesOn says whether a line may be the first part of a sentence that the next
// one continues: reading a PDF does not join a line to one that begins with a
// capital or a digit.
func goesOn(line string) bool {
	line = strings.TrimSpace(line[strings.LastIndexByte(line, '\n')+1:])
	last, _ := utf8.DecodeLastRuneInString(line)
	return utf8.RuneCountInString(line) >= longLine && last < 0x2e80
}

func isHeadingLine(line string) bool {
	return text.IsHeading(line) && !strings.Contains(line, "\n")
}

// leadsIn says whether a sentence only leads in what follows.
func leadsIn(s string) bool { return lastMark(s, ":：") }

func lastMark(s, marks string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "\"”’」』)）*_"))
	return strings.ContainsRune(marks, last)
}

// plain is a sentence on one line, without the marks at its beginning and
// without emphasis; "" if nothing can be read in it.
func plain(s string) string {
	s = strings.TrimSpace(s)
	for {
		rest := stripMark(s)
		if rest == s {
			break
		}
		s = rest
	}
	if isRow(s) {
		s = joinCells(cells(s), false)
	}
	s = joinLines(strings.ReplaceAll(s, "**", ""))
	if strings.HasPrefix(s, "[") && strings.Contains(s, "]: ") || !strings.ContainsFunc(s, isWordRune) {
		return ""
	}
	return s
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// stripMark drops one quote mark, bullet, check box, or number of an item.
func stripMark(s string) string {
	for _, mark := range []string{">", "- ", "* ", "+ ", "• ", "[ ] ", "[x] ", "[X] "} {
		if rest, ok := strings.CutPrefix(s, mark); ok {
			return strings.TrimSpace(rest)
		}
	}
	rest := strings.TrimLeft(s, "0123456789")
	if n := len(s) - len(rest); n > 0 && n < 3 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return strings.TrimSpace(rest[2:])
	}
	return s
}

// joinLines puts a wrapped sentence on one line: with a space, but between
// Han characters without one.
func joinLines(s string) string {
	var b strings.Builder
	for line := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\f' }) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if b.Len() > 0 {
			before, _ := utf8.DecodeLastRuneInString(b.String())
			after, _ := utf8.DecodeRuneInString(line)
			if before < 0x2e80 || after < 0x2e80 {
				b.WriteByte(' ')
			}
		}
		b.WriteString(line)
	}
	return b.String()
}
