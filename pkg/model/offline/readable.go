package offline

import (
	"iter"
	"path"
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
	step     bool // that has a number
	begins   bool // the first of its paragraph
	lead     bool // it leads in the list
	list     int  // the list or the lines of code that it is of, or leads in; 0: none
}

// readable splits the text of a passage into what can be quoted: sentences,
// list items, table rows, lines of code (as code); and into what stands above
// these: headings, questions and the head of a table. Drawn lines, definitions
// of links and sentences that only lead in what is not a list or code are left
// out. Marks are dropped where that changes no word.
func readable(p record.Passage) []passageSentence {
	r := reader{begins: true}
	for piece := range pieces(p) {
		r.read(piece)
	}
	r.dropLead()
	return r.out
}

// reader makes sentences of pieces.
type reader struct {
	out         []passageSentence
	fenced      bool
	open        bool   // the last sentence ended in a semicolon
	begins      bool   // the next one is the first of its paragraph
	blank, last string // white space behind the last piece; that piece
	columns     string // the head of the table
	lists       int    // how many there were
	inList      bool
	leads       bool // the last sentence leads in what follows
}

func (r *reader) read(piece string) {
	raw, before := strings.TrimSpace(piece), len(r.out)
	r.blank += piece[:len(piece)-len(strings.TrimLeftFunc(piece, unicode.IsSpace))]
	lines := strings.Count(r.blank, "\n")
	r.begins = r.begins || lines > 1
	if lines > 1 || lines > 0 && !isRow(raw) {
		r.columns = ""
	}
	switch {
	case strings.HasPrefix(raw, "```"), strings.HasPrefix(raw, "~~~"):
		r.fenced = !r.fenced
	case r.fenced:
		if raw != "" && !strings.Contains(raw, "`") {
			r.enlist(passageSentence{text: "`" + raw + "`"})
		}
	case isTableRule(raw):
		if n := len(r.out); n > 0 && isRow(r.last) && r.out[n-1].text == plain(r.last) {
			r.out, r.columns = r.out[:n-1], joinCells(cells(r.last), true)
		}
	default:
		r.prose(raw)
	}
	if len(r.out) > before {
		r.out[before].begins, r.begins = r.begins, false
	}
	// The semicolon of Chinese, ；, parts clauses that stand alone.
	r.open = strings.HasSuffix(raw, ";") && len(r.out) > 0 && strings.HasSuffix(r.out[len(r.out)-1].text, ";")
	r.last, r.blank = raw, piece[len(strings.TrimRightFunc(piece, unicode.IsSpace)):]
}

func (r *reader) prose(raw string) {
	s, item := plain(raw), stripMark(raw) != raw
	asking, question := asks(s)
	if !item || isHeadingLine(raw) {
		r.inList = r.inList && !r.begins && !isHeadingLine(raw)
		r.dropLead()
	}
	switch {
	case isHeadingLine(raw):
		r.out = append(r.out, passageSentence{text: strings.Trim(raw, "# \t"), heading: true})
	case question:
		r.out = append(r.out, passageSentence{text: asking, question: true, item: item})
	case s == "":
	case leadsIn(s):
		r.dropLead()
		r.inList, r.leads = false, true
		r.out = append(r.out, passageSentence{text: s, item: item})
	case r.open && !r.begins && !item:
		r.out[len(r.out)-1].text += " " + s
	case r.columns != "" && isRow(raw):
		r.out = append(r.out, passageSentence{text: joinCells(cells(raw), true), columns: r.columns})
	case item || r.inList:
		r.enlist(passageSentence{text: s, item: item, step: item && unicode.IsDigit(rune(raw[0]))})
	default:
		r.out = append(r.out, passageSentence{text: s})
	}
}

// enlist adds a sentence to the list at hand, or to a new one. A new one is led
// in by a sentence that does only that and by the one before it in its
// paragraph: "Do not restart it. Instead:".
func (r *reader) enlist(s passageSentence) {
	if !r.inList {
		r.inList = true
		r.lists++
		for n := len(r.out) - 1; r.leads; n-- {
			r.out[n].lead, r.out[n].list = true, r.lists
			r.leads = n == len(r.out)-1 && !r.out[n].begins && n > 0 && r.out[n-1].isProse()
		}
	}
	r.leads = false
	s.list = r.lists
	r.out = append(r.out, s)
}

func (s passageSentence) isProse() bool { return !s.heading && !s.question && s.columns == "" }

// dropLead takes back a lead that no list and no code follows.
func (r *reader) dropLead() {
	if r.leads {
		r.out = r.out[:len(r.out)-1]
		r.leads = false
	}
}

// pieces are the sentences of a passage. On a page of a PDF, whose paragraphs
// are joined when it is read, a line that is still by itself is a heading or a
// row of a table, and no part of the sentence behind it; so is a line of plain
// text that was not wrapped. Nor is, anywhere, what stands before a line that
// begins with "Q:" or "A:".
func pieces(p record.Passage) iter.Seq[string] {
	width := 0 // of the lines of plain text
	plain := strings.EqualFold(path.Ext(p.Path), ".txt")
	if plain {
		width = wrapWidth(p.Text)
	}
	return func(yield func(string) bool) {
		for start, end := range text.Sentences(p.Text) {
			for i := start; i < end; i++ {
				if p.Text[i] == '\n' && (p.Page > 0 && !goesOn(p.Text[start:i]) || isLabelled(p.Text[i+1:end]) ||
					plain && !wrapped(p.Text[:i], p.Text[i+1:], width)) {
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

// wrapped says whether a line ended because the first word of the next had no
// room: lines that could be longer are lines of a list, or of an address. One that
// begins below a column of the line goes on in it, and rows are never wrapped.
func wrapped(line, next string, width int) bool {
	line = line[strings.LastIndexByte(line, '\n')+1:]
	next, _, _ = strings.Cut(next, "\n")
	if below(line, next) {
		return true
	}
	if areRows(line, next) {
		return false
	}
	line, next = strings.TrimSpace(line), strings.TrimSpace(next)
	first := next[:len(next)-len(strings.TrimLeftFunc(next, isNoSpace))]
	if r, n := utf8.DecodeRuneInString(next); r >= 0x2e80 {
		first = next[:n]
	}
	return width >= narrow && columns(line)+1+columns(first) > width
}

func isNoSpace(r rune) bool { return !unicode.IsSpace(r) }

// below says whether the next line is indented to where a column of the line
// begins, behind two blanks.
func below(line, next string) bool {
	at := len(next) - len(strings.TrimLeft(next, " "))
	return at > 2 && at < len(line) && at < len(next) && line[at] != ' ' && line[at-2:at] == "  " && strings.TrimSpace(line[:at]) != ""
}

// areRows says whether two lines are rows of values, as many in each, with
// commas or tabs between them.
func areRows(a, b string) bool {
	for _, sep := range []string{",", "\t"} {
		if n := strings.Count(a, sep); n > 1 && n == strings.Count(b, sep) && !strings.Contains(a+b, sep+" ") {
			return true
		}
	}
	return false
}

// wrapWidth is the width that most lines of a text with a line behind them are
// wrapped to; 0 if there is none.
func wrapWidth(s string) int {
	lines := strings.Split(s, "\n")
	width, full := 0, 0
	for _, line := range lines {
		width = max(width, columns(strings.TrimSpace(line)))
	}
	for i, line := range lines[1:] {
		switch {
		case strings.TrimSpace(line) == "" || strings.TrimSpace(lines[i]) == "":
		case wrapped(lines[i], line, width):
			full++
		default:
			full--
		}
	}
	if full <= 0 {
		return 0
	}
	return width
}

// narrow is a width to which nobody wraps text.
const narrow = 40

// columns is about how wide a line is in a terminal.
func columns(line string) int {
	n := utf8.RuneCountInString(line)
	for _, r := range line {
		if r >= 0x2e80 {
			n++
		}
	}
	return n
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
