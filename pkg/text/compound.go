package text

import (
	"strings"
	"unicode/utf8"
)

// A compound is a word of several parts: rotate_keys, --fail-fast, v2.10.1,
// ERR-5023, HTTPHeader. It gives
//
//	the whole                err-5023     v2.10.1        parsehttpheader
//	without separators       err5023      2.10.1 (no v)
//	adjacent pairs of parts               v2.10, 10.1    parsehttp, httpheader
//	the parts                err, 5023    v2, 10, 1      parse, http, header
//
// so that each is found by any of these. The whole and the pairs are rare
// terms, which is what puts ERR-5023 before ERR-5032. A question leaves out
// the parts that would find anything (numbers of one or two digits).
type compound struct {
	start, end int
	cuts       []int // offsets at which parts begin, the first excepted
	seps       int   // how many of the cuts have a separator before them
	commas     bool  // thousands separators are inside: 1,000,000
	humps      []int // of the text, behind this word
}

// longest is the length in bytes above which a word is no word any more (but
// base64, or a line drawn with letters) and is not indexed.
const longest = 128

const digits = "0123456789"

// scanWord finds the end of the word that begins at i, and its parts.
func scanWord(s string, i int, humps []int) compound {
	c := compound{start: i}
	for len(humps) > 0 && humps[0] <= i {
		humps = humps[1:]
	}
	for i < len(s) {
		if len(humps) > 0 && humps[0] == i {
			c.cuts = append(c.cuts, i)
			humps = humps[1:]
		}
		b := s[i]
		if b < utf8.RuneSelf {
			switch {
			case lower(b), digit(b):
				i++
				continue
			case !joins(s, c.start, i):
			case b == ',':
				c.commas = true
				i++
				continue
			case b == '\'':
				i++
				continue
			default:
				c.seps++
				i++
				c.cuts = append(c.cuts, i)
				for len(humps) > 0 && humps[0] <= i {
					humps = humps[1:]
				}
				continue
			}
			break
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if classOf(r) != classWord {
			break
		}
		i += n
	}
	c.end, c.humps = i, humps
	return c
}

// joins says whether the byte at i joins what is before and behind it into
// one word.
func joins(s string, start, i int) bool {
	if i == start || i+1 >= len(s) {
		return false
	}
	before, after := s[i-1], s[i+1]
	switch s[i] {
	case '.', '-', '_', '\'':
		return wordByte(before) && wordStart(s[i+1:])
	case ',':
		return digit(before) && digit(after) && thousands(s[i+1:])
	}
	return false
}

func wordByte(c byte) bool { return lower(c) || digit(c) || c >= utf8.RuneSelf }

func wordStart(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return classOf(r) == classWord
}

// thousands says whether s begins with three digits and no fourth.
func thousands(s string) bool {
	return len(s) >= 3 && digit(s[0]) && digit(s[1]) && digit(s[2]) && (len(s) == 3 || !digit(s[3]))
}

func (c *compound) write(s string, w *tokenWriter) {
	word := s[c.start:c.end]
	w.over(c.start, c.end)
	if c.commas {
		w.hold(true) // the places of the parts are those of another text
		scan(folded{text: strings.ReplaceAll(word, ",", "")}, w)
		w.hold(false)
		return
	}
	if len(c.cuts) == 0 || isDecimal(word) {
		c.writeWord(s, word, w)
		return
	}
	if w.known != nil && c.isIdentifier(s) && w.known(word) {
		w.add(word)
		w.exact = append(w.exact, word)
		if strings.ContainsAny(word, digits) || c.seps > 0 && !c.initials(word) {
			w.names = append(w.names, word)
		}
		return
	}
	w.miss(word)
	if len(word) <= longest {
		w.add(word)
		c.writeJoined(word, w)
	}
	c.writeParts(s, w)
}

// isIdentifier says whether the compound is the name of one thing: it has a
// digit, an underscore, a dot or camel case, or it is an option like
// --fail-fast. Other words with hyphens are ordinary language.
func (c *compound) isIdentifier(s string) bool {
	return c.seps < len(c.cuts) || strings.ContainsAny(s[c.start:c.end], digits+"_.") ||
		strings.HasSuffix(s[:c.start], "--")
}

// writeWord writes a word of one part, and C++ and C# as they are.
func (c *compound) writeWord(s, word string, w *tokenWriter) {
	word = strings.TrimSuffix(word, "'s")
	if len(word) > longest {
		return
	}
	if n := sharpSuffix(s[c.end:]); n > 0 {
		w.over(c.start, c.end+n)
		w.add(s[c.start : c.end+n])
		w.over(c.start, c.end)
	}
	if w.known != nil && isCode(word) && w.known(word) {
		w.add(word)
		w.exact, w.names = append(w.exact, word), append(w.names, word)
		return
	}
	w.miss(word)
	if w.known != nil {
		if letters, number := splitCode(word); number != "" && w.known(w.stems.stem(letters)) && w.known(number) {
			w.addWord(letters)
			w.addWord(number)
			return
		}
	}
	w.addWord(word)
}

// isCode says whether a word of one part is a letter with digits behind it:
// e1001, p1, h1n1. 1970s and 5th are ordinary language.
func isCode(word string) bool { return lower(word[0]) && strings.ContainsAny(word, digits) }

// splitCode parts the letters of a code from the number behind them; number is
// "" where the word is something else.
func splitCode(word string) (letters, number string) {
	letters = strings.TrimRight(word, digits)
	number = word[len(letters):]
	if letters == "" || !isLetters(letters) {
		return word, ""
	}
	return letters, number
}

// CodeParts returns the terms that the codes of a question, like TP533, are in a
// note that writes them as two words, TP 533. [Refiner.Refine] takes them
// for the code where the index knows both and not the code.
func CodeParts(question string) []string {
	var out []string
	var stems stemmer
	for _, w := range latinWords(Normalize(question)) {
		if letters, number := splitCode(w.text); number != "" {
			out = append(out, stems.stem(letters), number)
		}
	}
	return out
}

func sharpSuffix(s string) int {
	n := 0
	switch {
	case strings.HasPrefix(s, "++"):
		n = 2
	case strings.HasPrefix(s, "#"):
		n = 1
	}
	if n == 0 || n < len(s) && (wordByte(s[n]) || s[n] == s[n-1]) {
		return 0
	}
	return n
}

// isDecimal says whether a word is digits, a dot, digits.
func isDecimal(word string) bool {
	dots := 0
	for i := range len(word) {
		switch {
		case word[i] == '.':
			dots++
		case !digit(word[i]):
			return false
		}
	}
	return dots == 1
}

// writeJoined writes the compound as others may write it: e-mail as email,
// rotate_keys as rotateKeys would be, U.S. as US, v2.10.1 as 2.10.1.
func (c *compound) writeJoined(word string, w *tokenWriter) {
	switch {
	case c.seps == 0:
		if stem := w.stems.stem(word); stem != word {
			w.add(stem)
		}
	case !strings.Contains(word, "."):
		w.addWord(strings.ReplaceAll(strings.ReplaceAll(word, "-", ""), "_", ""))
	case c.initials(word):
		w.addWord(strings.ReplaceAll(word, ".", ""))
	case word[0] == 'v' && digit(word[1]):
		w.add(word[1:])
	}
}

// initials says whether the compound is single letters with dots: u.s, e.g.
func (c *compound) initials(word string) bool {
	return len(word) == 2*c.seps+1 && !strings.ContainsAny(word, digits)
}

func (c *compound) writeParts(s string, w *tokenWriter) {
	start := c.start
	for i := 0; i <= len(c.cuts); i++ {
		end := c.partEnd(s, i)
		if part := s[start:end]; len(part) <= longest && c.keeps(part, w.query) {
			w.over(start, end)
			w.addWord(part)
		}
		if i < len(c.cuts) {
			if len(c.cuts) > 1 {
				c.writePair(s, start, i, w)
			}
			start = c.cuts[i]
		}
	}
}

// writePair writes the part that begins at start together with the next one.
func (c *compound) writePair(s string, start, i int, w *tokenWriter) {
	end := c.partEnd(s, i+1)
	if end-start > longest {
		return
	}
	w.over(start, end)
	if pair := s[start:end]; strings.ContainsAny(pair, ".-_") {
		w.add(pair)
	} else {
		w.addWord(pair)
	}
}

// partEnd is the end of part i, without the separator behind it.
func (c *compound) partEnd(s string, i int) int {
	if i == len(c.cuts) {
		return c.end
	}
	end := c.cuts[i]
	if b := s[end-1]; b == '.' || b == '-' || b == '_' {
		end--
	}
	return end
}

// keeps says whether a part is worth a token: a single letter is not, nor is a
// short number in a question.
func (c *compound) keeps(part string, query bool) bool {
	if len(part) == 1 && !digit(part[0]) {
		return false
	}
	return !query || len(part) > 2 || !digit(part[0]) || !digit(part[len(part)-1])
}
