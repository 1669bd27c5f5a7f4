package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences yields the byte ranges [start, end) of the sentences of s. The
// ranges tile s: nothing is left out, and white space belongs to the sentence
// before it (at the beginning, to the first).
//
// A sentence ends behind 。！？；｡ and ．, and behind . ! ? ; where white space,
// the end or a character of another script follows, but not behind the dot of
// an abbreviation, an initial or the number of a list item. Closing quotes,
// brackets and emphasis stay with it, and so do citation marks ("…。[1]"). It
// also ends where a Markdown block does: at a blank line, behind a heading or
// a table row, before a list item, quote, heading or fence, at each line inside
// a fence, and at a page break. The cells of a table row stay together: one that
// is written as text, a | b, ends behind its citation marks alone.
func Sentences(s string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		start := 0
		for line := range sentenceLines(s) {
			row := strings.Contains(s[line.start:line.end], " | ")
			for end := range sentenceEnds(s, max(line.start, start), line.end) {
				cited := s[end-1] == ']'
				end = skipBlank(s, end, line.end)
				if row && (end < line.end || !cited) {
					continue
				}
				if !yield(start, end) {
					return
				}
				start = end
			}
			if end := line.end; line.closes && end > start && strings.TrimSpace(s[start:end]) != "" {
				end = skipBlank(s, end, len(s))
				if !yield(start, end) {
					return
				}
				start = end
			}
		}
		if start < len(s) {
			yield(start, len(s))
		}
	}
}

// sentenceLine is a line with its line end. It closes the sentence if the
// block ends there.
type sentenceLine struct {
	start, end int
	closes     bool
}

func sentenceLines(s string) iter.Seq[sentenceLine] {
	return func(yield func(sentenceLine) bool) {
		fenced := false
		end := lineEnd(s, 0)
		kind := kindOfLine(s[:end])
		for start := 0; start < len(s); {
			if kind == lineFence {
				fenced = !fenced
			}
			next, nextEnd := lineBlank, end
			if end < len(s) {
				nextEnd = lineEnd(s, end)
				next = kindOfLine(s[end:nextEnd])
			}
			closes := fenced || kind.alone() || next != lineText || s[end-1] == '\f'
			if !yield(sentenceLine{start, end, closes}) {
				return
			}
			start, end, kind = end, nextEnd, next
		}
	}
}

// lineEnd is behind the line end or page break of the line that begins at i.
func lineEnd(s string, i int) int {
	if n := strings.IndexAny(s[i:], "\n\f"); n >= 0 {
		return i + n + 1
	}
	return len(s)
}

type lineKind int

const (
	lineText lineKind = iota
	lineBlank
	lineItem // of a list, or a quote: what follows may belong to it
	lineHeading
	lineRow
	lineFence
)

// alone says whether nothing behind such a line belongs to it.
func (k lineKind) alone() bool { return k == lineBlank || k >= lineHeading }

func kindOfLine(line string) lineKind {
	line = strings.TrimLeft(line, " \t")
	trimmed := strings.TrimRight(line, " \t\r\n\f")
	switch {
	case trimmed == "":
		return lineBlank
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		return lineFence
	case line[0] == '|':
		return lineRow
	case isHeading(trimmed), isNumbered(trimmed), isRule(trimmed):
		return lineHeading
	case line[0] == '>', isItem(line):
		return lineItem
	}
	return lineText
}

// IsHeading says whether a line is a heading: of Markdown, or of a numbered
// clause as plain text and PDF have them.
func IsHeading(line string) bool {
	line = strings.Trim(line, " \t\r\n\f")
	return line != "" && (isHeading(line) || isNumbered(line))
}

func isHeading(line string) bool {
	rest := strings.TrimLeft(line, "#")
	n := len(line) - len(rest)
	return n >= 1 && n <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// isNumbered says whether a line looks like the heading of a numbered clause,
// as plain text and PDF have them: "7.2 How to pick a hotel". Such a line is
// short, begins with at least two numbers, and has no mark at its end.
func isNumbered(line string) bool {
	if line == "" || !digit(line[0]) {
		return false
	}
	rest := strings.TrimLeft(line, "0123456789.")
	number := line[:len(line)-len(rest)]
	if len(number) > 12 || len(line) > 90 || !strings.Contains(strings.TrimRight(number, "."), ".") || strings.Contains(number, "..") {
		return false
	}
	title := strings.TrimLeft(rest, " \t\u3000")
	first, _ := utf8.DecodeRuneInString(title)
	last, _ := utf8.DecodeLastRuneInString(title)
	return len(title) < len(rest) && unicode.IsLetter(first) && !unicode.IsLower(first) &&
		!strings.ContainsRune("。！？；，：.!?;,:", last)
}

// isRule says whether a line is only drawn: --- *** ___ ===.
func isRule(line string) bool {
	return len(line) >= 3 && strings.IndexByte("-*_=", line[0]) >= 0 && strings.Trim(line, line[:1]+" ") == ""
}

// isItem says whether a line begins with a bullet or a number and a space.
func isItem(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	switch n := len(line) - len(rest); {
	case rest == "":
		return false
	case n == 0:
		if strings.IndexByte("-*+", rest[0]) < 0 {
			return false
		}
	case n > 9 || rest[0] != '.' && rest[0] != ')':
		return false
	}
	return len(rest) > 1 && (rest[1] == ' ' || rest[1] == '\t')
}

// sentenceEnds yields the offsets behind the sentences that end in s[from:to],
// with what closes them but without white space.
func sentenceEnds(s string, from, to int) iter.Seq[int] {
	return func(yield func(int) bool) {
		line := from
		for i := from; i < to; {
			r, n := utf8.DecodeRuneInString(s[i:to])
			i += n
			if !endsSentence(r) {
				continue
			}
			mark, only := i-n, true
			for i < to {
				r, n := utf8.DecodeRuneInString(s[i:to])
				if !endsSentence(r) {
					break
				}
				only = false
				i += n
			}
			end := skipClosers(s, i, to)
			if r < utf8.RuneSelf && (!endsWord(s[end:to]) || r == '.' && only && dotInside(s, line, mark, s[end:to])) {
				continue
			}
			i = skipCitations(s, end, to)
			if !yield(i) {
				return
			}
		}
	}
}

func endsSentence(r rune) bool {
	switch r {
	case '。', '！', '？', '；', '｡', '．', '.', '!', '?', ';':
		return true
	}
	return false
}

func skipClosers(s string, i, to int) int {
	for i < to {
		r, n := utf8.DecodeRuneInString(s[i:to])
		if !strings.ContainsRune("”’」』）】》〉］\"')]}*_`", r) {
			break
		}
		i += n
	}
	return i
}

// skipCitations passes over marks like [1], [1, 2], [^3] and 【4】 that stand
// behind a sentence, but not over links.
func skipCitations(s string, i, to int) int {
	for {
		at := skipSpaces(s, i, to)
		n := citation(s[at:to])
		if n == 0 || strings.HasPrefix(s[at+n:to], "(") {
			return i
		}
		i = at + n
	}
}

func skipSpaces(s string, i, to int) int {
	for i < to && s[i] == ' ' {
		i++
	}
	return i
}

// citation is the length of the citation mark that s begins with; 0 for none.
func citation(s string) int {
	open, shut := "[", "]"
	if strings.HasPrefix(s, "【") {
		open, shut = "【", "】"
	}
	if !strings.HasPrefix(s, open) {
		return 0
	}
	n := len(open)
	digits := 0
	for n < len(s) && n < 40 && (digit(s[n]) || strings.IndexByte("^,- ", s[n]) >= 0) {
		if digit(s[n]) {
			digits++
		}
		n++
	}
	if digits == 0 || !strings.HasPrefix(s[n:], shut) {
		return 0
	}
	return n + len(shut)
}

// endsWord says whether what follows an ASCII mark lets it end a sentence.
func endsWord(rest string) bool {
	if rest == "" {
		return true
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsSpace(r) || isHan(r) || citation(rest) > 0
}

// dotInside says whether the dot at mark belongs to a word: to an
// abbreviation, an initial or the number of an item. line is where its line,
// or the sentence, begins; rest is what follows.
func dotInside(s string, line, mark int, rest string) bool {
	word := s[line:mark]
	if i := strings.LastIndexAny(word, " \t\n([\"'*_"); i >= 0 {
		word = word[i+1:]
	} else if word != "" && strings.Trim(word, "0123456789") == "" {
		return true
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " \t"))
	if unicode.IsLower(next) {
		return true
	}
	if len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z' && word != "I" {
		return true
	}
	return isAbbreviation(strings.ToLower(word))
}

func isAbbreviation(word string) bool {
	switch word {
	case "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "no", "nos", "fig", "figs", "eq", "ch", "sec",
		"vol", "pp", "p", "ed", "eds", "al", "cf", "approx", "ca", "tel", "ext", "gen", "col", "sgt", "lt", "capt", "rev", "hon",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "e.g", "i.e", "a.m", "p.m",
		"u.s", "u.k", "u.n", "ph.d", "b.c", "a.d":
		return true
	}
	return false
}

// skipBlank is the offset behind the white space at i.
func skipBlank(s string, i, to int) int {
	rest := strings.TrimLeftFunc(s[i:to], unicode.IsSpace)
	return to - len(rest)
}
