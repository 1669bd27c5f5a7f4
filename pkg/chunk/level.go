package chunk

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"kb/pkg/markdown"
	"kb/pkg/text"
)

// level cuts a text into pieces that tile it, as byte ranges.
type level func(s string) iter.Seq2[int, int]

// recursiveLevels are the separators of the recursive strategy, coarsest first;
// behind the last, text is cut between characters.
func recursiveLevels() []level {
	return []level{behind("\n\n"), behind("\n"), behind("。"), behind("，"), behind(" ")}
}

// textLevels cut plain text.
func textLevels() []level { return append([]level{behind("\n\n")}, sentenceLevels()...) }

// sentenceLevels cut what is too long for one chunk down to words.
func sentenceLevels() []level { return []level{text.Sentences, clauses, behind(" ")} }

// lineLevels cut code and tables.
func lineLevels() []level { return []level{behind("\n"), behind(" ")} }

// behind cuts behind each run of a separator.
func behind(separator string) level {
	return func(s string) iter.Seq2[int, int] {
		return func(yield func(int, int) bool) {
			for start := 0; start < len(s); {
				end := len(s)
				if i := strings.Index(s[start:], separator); i >= 0 {
					end = start + i + len(separator)
					for end < len(s) && s[end] == separator[0] && len(separator) <= 2 {
						end++
					}
				}
				if !yield(start, end) {
					return
				}
				start = end
			}
		}
	}
}

// clauses cuts behind commas, semicolons and colons, and at line ends.
func clauses(s string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		start := 0
		for i, r := range s {
			end := i + utf8.RuneLen(r)
			switch r {
			case '，', '、', '；', '：', '\n':
			case ',', ';', ':':
				if end == len(s) || s[end] != ' ' && s[end] != '\n' {
					continue
				}
			default:
				continue
			}
			if !yield(start, end) {
				return
			}
			start = end
		}
		if start < len(s) {
			yield(start, len(s))
		}
	}
}

// recurse yields the pieces of the first level, and cuts those that are longer
// than limit by the next. The rows of a table carry it.
func (s *splitter) recurse(start, end, limit int, table *markdown.Block, levels []level, yield func(unit) bool) bool {
	if len(levels) == 0 {
		return s.characters(start, end, table, yield)
	}
	at := start
	for _, to := range levels[0](s.text[start:end]) {
		to += start
		if to < end && !cuttable(s.text, to) {
			continue
		}
		if n := s.count(at, to); n <= limit {
			if !yield(unit{start: at, end: to, runes: n, whole: table != nil, table: table}) {
				return false
			}
		} else if !s.recurse(at, to, limit, table, levels[1:], yield) {
			return false
		}
		at = to
	}
	return true
}

// cuttable says whether s may be cut at i, where the character before is
// punctuation or white space, which only marks and joiners attach to.
func cuttable(s string, i int) bool {
	if s[i-1] == '\n' || s[i-1] == '\f' {
		return true
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r < utf8.RuneSelf && s[i-1] != '\r' || !unicode.Is(unicode.M, r) && !extends(r)
}

// extends says whether r belongs to the character before it, marks left out.
func extends(r rune) bool {
	return r == '\n' || r == 0x200c || r == 0x200d || r == 0xff9e || r == 0xff9f || r >= 0x1f3fb && r <= 0x1f3ff || r >= 0xe0020 && r <= 0xe007f
}

// longest is the number of code points above which a character is cut all the
// same: real ones have up to about ten, and a file of marks must not become one
// chunk. Stream-safe text (UAX 15) has no more than 31.
const longest = 64

// characters yields what readers see as characters (UAX 29).
func (s *splitter) characters(start, end int, table *markdown.Block, yield func(unit) bool) bool {
	state := -1
	for start < end {
		n := 1
		if !plainASCII(s.text[start:end]) {
			var cluster string
			cluster, _, _, state = uniseg.FirstGraphemeClusterInString(s.text[start:end], state)
			n = len(cluster)
		} else {
			state = -1
		}
		for n > 0 {
			end := start + runesFrom(s.text[start:start+n], longest)
			u := unit{start: start, end: end, runes: s.count(start, end), table: table}
			if !yield(u) {
				return false
			}
			n -= end - start
			start = end
		}
	}
	return true
}

// plainASCII says whether the first byte is a character by itself: another
// ASCII character, or nothing, follows it.
func plainASCII(s string) bool {
	return s[0] < utf8.RuneSelf && s[0] != '\r' && (len(s) == 1 || s[1] < utf8.RuneSelf)
}

// runesFrom is the length in bytes of the first n code points, or of all.
func runesFrom(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
