package text

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// farthest bounds how far back the context of a boundary is looked for, in
// bytes: only endless rows of flags, emoji or marks reach it.
const farthest = 1 << 12

// GraphemeBoundary says whether s may be cut at byte i without tearing apart
// what a reader sees as one character (Unicode Standard Annex 29): a letter
// from its marks, the runes of an emoji, \r from \n, or the bytes of a rune.
func GraphemeBoundary(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return true
	}
	if insideRune(s, i) {
		return false
	}
	if certain(s, i) {
		return true
	}
	from := i
	for from > 0 && i-from < farthest {
		_, n := utf8.DecodeLastRuneInString(s[:from])
		from -= n
		if certain(s, from) {
			break
		}
	}
	for state := -1; from < i; {
		var cluster string
		cluster, _, _, state = uniseg.FirstGraphemeClusterInString(s[from:], state)
		from += len(cluster)
	}
	return from == i
}

// LastBoundary returns the greatest grapheme boundary of s that is at most i.
func LastBoundary(s string, i int) int {
	i = min(max(i, 0), len(s))
	for !GraphemeBoundary(s, i) {
		i--
	}
	return i
}

func insideRune(s string, i int) bool {
	if utf8.RuneStart(s[i]) {
		return false
	}
	for back := 1; back <= 3 && back <= i; back++ {
		if utf8.RuneStart(s[i-back]) {
			_, n := utf8.DecodeRuneInString(s[i-back:])
			return n > back
		}
	}
	return false
}

// certain says whether there is a boundary at i whatever stands around the
// two runes there.
func certain(s string, i int) bool {
	if i == 0 {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	return apart(before) && apart(after) && !(before == '\r' && after == '\n')
}

// apart says whether r combines with no rune beside it, \r and \n excepted.
func apart(r rune) bool {
	switch {
	case r < 0x300:
		return r != 0xa9 && r != 0xae && r != 0xad // ©, ® may be emoji
	case r >= 0x4e00 && r <= 0x9fff, r >= 0x3400 && r <= 0x4dbf:
		return true
	case r >= 0x3001 && r <= 0x3029, r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa:
		return true
	case r >= 0x2010 && r <= 0x2027, r >= 0xff01 && r <= 0xff9d:
		return true
	}
	return false
}
