package text

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// baseLetters is a small Latin letter without its marks, as somebody types it who
// does not have it on the keyboard: e for é, ss for ß. The marks alone are
// nothing; other scripts stay as they are, where a mark makes another letter
// (й is not и).
func baseLetters(r rune) string {
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'ø':
		return "o"
	case 'ł':
		return "l"
	case 'đ', 'ð':
		return "d"
	case 'þ':
		return "th"
	case 'ı':
		return "i"
	}
	if r >= 0x300 && r <= 0x36f {
		return ""
	}
	s := string(r)
	if r >= 0xc0 && r <= 0x24f || r >= 0x1e00 && r <= 0x1eff {
		if base := norm.NFD.String(s)[0]; base < utf8.RuneSelf {
			return string(base)
		}
	}
	return s
}
