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
	text    string
	heading bool
}

// readable splits the text of a passage into what can be quoted: sentences,
// list items, table rows, lines of code (as code). Questions, drawn lines, the
// head of a table and definitions of links are left out. Marks are dropped
// where that changes no word.
func readable(p record.Passage) []passageSentence {
	var out []passageSentence
	fenced, open := false, false // open: the last sentence ended in a semicolon
	for piece := range pieces(p) {
		raw := strings.TrimSpace(piece)
		switch {
		case strings.HasPrefix(raw, "```"), strings.HasPrefix(raw, "~~~"):
			fenced = !fenced
		case fenced:
			if raw != "" && !strings.Contains(raw, "`") {
				out = append(out, passageSentence{text: "`" + raw + "`"})
			}
		case isTableRule(raw):
			if n := len(out); n > 0 && strings.Contains(out[n-1].text, " | ") {
				out = out[:n-1] // the head of the table
			}
		case isHeadingLine(raw):
			out = append(out, passageSentence{text: strings.Trim(raw, "# \t"), heading: true})
		default:
			s := plain(raw)
			switch {
			case s == "" || isQuestion(s):
			case open && stripMark(raw) == raw:
				out[len(out)-1].text += " " + s
			default:
				out = append(out, passageSentence{text: s})
			}
		}
		open = endsOpen(piece) && len(out) > 0 && strings.HasSuffix(out[len(out)-1].text, ";")
	}
	return out
}

// pieces are the sentences of a passage. On a page of a PDF, whose paragraphs
// are joined when it is read, a line that is still by itself is a heading or a
// row of a table, and no part of the sentence behind it.
func pieces(p record.Passage) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start, end := range text.Sentences(p.Text) {
			for i := start; i < end && p.Page > 0; i++ {
				if p.Text[i] == '\n' && !goesOn(p.Text[start:i]) {
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

// endsOpen says whether a sentence ends in a semicolon with more behind it in
// its paragraph. (The one of Chinese, ；, parts clauses that stand alone.)
func endsOpen(s string) bool {
	said := strings.TrimRight(s, " \t\n")
	return strings.HasSuffix(said, ";") && !strings.Contains(s[len(said):], "\n\n")
}

func isHeadingLine(line string) bool {
	return text.IsHeading(line) && !strings.Contains(line, "\n")
}

func isTableRule(line string) bool {
	return strings.HasPrefix(line, "|") && strings.Trim(line, "|-: \t") == ""
}

// isQuestion says whether a sentence asks; one that only leads in what follows
// answers no more.
func isQuestion(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "\"”」』)）*_"))
	return last == '?' || last == '？' || last == ':' || last == '：'
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
	if strings.HasPrefix(s, "|") {
		s = tableRow(s)
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

// tableRow keeps the cells apart: "一线城市 | 500 元".
func tableRow(s string) string {
	var cells []string
	for cell := range strings.SplitSeq(strings.Trim(s, "| \t"), "|") {
		if cell = strings.TrimSpace(cell); cell != "" {
			cells = append(cells, cell)
		}
	}
	return strings.Join(cells, " | ")
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
