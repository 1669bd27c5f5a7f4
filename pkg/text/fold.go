package text

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folding is NFKC, then lower case, then Traditional to Simplified Chinese
// character by character; invisible characters (soft hyphen, zero-width
// spaces and joiners, byte order mark) are dropped, and the typographic
// apostrophe and hyphen become the ASCII ones.
//
// The Unicode normaliser is the expensive step and hardly ever needed: ASCII,
// the unified ideographs and their punctuation fold rune by rune, and only
// runs of other runes, with the rune before them that they may combine with,
// are normalised.

// Normalize folds s so that texts that a reader takes for equal compare equal.
// Folding twice is folding once.
func Normalize(s string) string { return fold(s).text }

// folded is a text after folding and the places where its camel case was:
// humps are ascending byte offsets at which a part of a word begins
// (HTTP|Header, rotate|Keys).
type folded struct {
	text  string
	humps []int
}

func fold(s string) folded { return foldLetters(s, false) }

// foldLetters is fold, and to base letters, too: Café is cafe, Straße strasse.
func foldLetters(s string, toBase bool) folded {
	if isASCII(s) {
		return foldASCII(s)
	}
	f := folder{trad: simplified(), toBase: toBase, held: none}
	f.out.Grow(len(s))
	mixed := false
	for len(s) > 0 {
		n := plainPrefix(s)
		f.write(s[:n])
		if s = s[n:]; s == "" {
			break
		}
		mixed = true
		n = mixedPrefix(s)
		f.write(norm.NFKC.String(s[:n]))
		s = s[n:]
	}
	f.flush()
	out := f.out.String()
	if mixed && !norm.NFC.IsNormalString(out) {
		// a small letter may combine with a mark that its capital does not
		// combine with; the offsets of the humps are lost with it
		return folded{text: norm.NFC.String(out)}
	}
	return folded{out, f.humps}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func foldASCII(s string) folded {
	var f folded
	first := strings.IndexFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' })
	if first < 0 {
		return folded{text: s}
	}
	out := []byte(s)
	for i := first; i < len(s); i++ {
		c := s[i]
		if c < 'A' || c > 'Z' {
			continue
		}
		out[i] = c + 'a' - 'A'
		if i > 0 && hump(s[i-1], i+1 < len(s) && lower(s[i+1])) {
			f.humps = append(f.humps, i)
		}
	}
	f.text = string(out)
	return f
}

// hump says whether an upper case letter begins a part of a word, from the
// byte before it and from whether a lower case letter follows.
func hump(before byte, lowerFollows bool) bool {
	if lower(before) || digit(before) {
		return true
	}
	return before >= 'A' && before <= 'Z' && lowerFollows
}

func lower(c byte) bool { return c >= 'a' && c <= 'z' }
func digit(c byte) bool { return c >= '0' && c <= '9' }

// folder lowers and simplifies text that is normalised already.
type folder struct {
	trad   *charTable
	toBase bool
	out    strings.Builder
	humps  []int
	// the last two runes, one of them not yet written: whether an upper case
	// letter is a hump depends on the letter behind it
	before, held rune
}

// none stands for no rune.
const none rune = -1

func (f *folder) write(s string) {
	for _, r := range s {
		if r = visible(r); r < 0 {
			continue
		}
		if f.held != none {
			f.emit(r)
		}
		f.before, f.held = f.held, r
	}
}

func (f *folder) flush() {
	if f.held != none {
		f.emit(none)
	}
}

func (f *folder) emit(next rune) {
	r := f.held
	switch {
	case r < utf8.RuneSelf:
		if r >= 'A' && r <= 'Z' {
			if hump(asciiByte(f.before), lower(asciiByte(next))) {
				f.humps = append(f.humps, f.out.Len())
			}
			r += 'a' - 'A'
		}
	case r >= firstIdeograph:
		r = f.trad.get(r)
		if r >= 0xa000 {
			r = unicode.ToLower(r)
		}
	default:
		r = unicode.ToLower(r)
		if f.toBase {
			f.out.WriteString(baseLetters(r))
			return
		}
	}
	f.out.WriteRune(r)
}

func asciiByte(r rune) byte {
	if r >= 0 && r < utf8.RuneSelf {
		return byte(r)
	}
	return 0
}

// visible maps a rune that has a plain equivalent for a searcher, or to -1
// what cannot be seen.
func visible(r rune) rune {
	if r < 0xad {
		return r
	}
	switch r {
	case 0xad, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff:
		return -1
	case 0x2018, 0x2019, 0x02bc:
		return '\''
	case 0x2010, 0x2011:
		return '-'
	case 0x3000:
		return ' '
	}
	if r >= 0xff01 && r <= 0xff5e {
		return r - 0xff01 + '!'
	}
	return r
}

// plain says whether NFKC leaves r alone, or does to it what visible does, if
// nothing that combines stands behind it.
func plain(r rune) bool {
	switch {
	case r < 0xa0:
		return true
	case r >= 0x4e00 && r <= 0x9fff:
		return true
	case r >= 0x3000 && r <= 0x3029:
		return true
	case r == 0x2014, r >= 0x2018 && r <= 0x201d:
		return true
	case r >= 0xff01 && r <= 0xff5e:
		return true
	}
	return false
}

// plainPrefix is the length of the leading plain runes of s, without the last
// one if it is not the end: what follows may combine with it.
func plainPrefix(s string) int {
	last := 0
	for i, r := range s {
		if !plain(r) {
			return last
		}
		last = i
	}
	return len(s)
}

// mixedPrefix is the length of a part of s that ends before two plain runes
// in a row, so that nothing combines across its end.
func mixedPrefix(s string) int {
	run, last := 0, 0
	for i, r := range s {
		if i == 0 {
			continue
		}
		if !plain(r) {
			run = 0
			continue
		}
		if run++; run == 2 {
			return last
		}
		last = i
	}
	return len(s)
}

// charTable maps characters to characters: directly in the planes that matter,
// by binary search beyond them.
type charTable struct {
	direct [0xa000 - firstIdeograph]uint16
	from   []rune
	to     []rune
}

const firstIdeograph = 0x3400

func (t *charTable) get(r rune) rune {
	if i := int(r) - firstIdeograph; i >= 0 && i < len(t.direct) {
		if to := t.direct[i]; to != 0 {
			return rune(to)
		}
		return r
	}
	return t.search(r)
}

func (t *charTable) search(r rune) rune {
	lo, hi := 0, len(t.from)
	for lo < hi {
		mid := (lo + hi) / 2
		if t.from[mid] < r {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(t.from) && t.from[lo] == r {
		return t.to[lo]
	}
	return r
}

// simplified decodes the generated pairs at first use, which takes about as
// long as folding one page of text.
var simplified = sync.OnceValue(func() *charTable {
	t := new(charTable)
	var from rune
	for i, r := range []rune(tradToSimp) {
		if i%2 == 0 {
			from = r
			continue
		}
		if i := int(from) - firstIdeograph; i >= 0 && i < len(t.direct) && r <= 0xffff {
			t.direct[i] = uint16(r)
			continue
		}
		t.from, t.to = append(t.from, from), append(t.to, r)
	}
	return t
})
