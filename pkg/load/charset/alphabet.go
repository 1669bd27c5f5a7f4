package charset

import (
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

// script is an alphabet beside the Latin one, as far as it tells an encoding
// of one byte a character from another.
type script struct {
	first, last rune
	frequent    string  // its most frequent letters, in lower case
	share       float64 // of all letters, in a text
}

// alphabet finds the most plausible of the encodings of Cyrillic, Greek and
// Hebrew, with a confidence that compares with those of chardet.
//
// Each encoding is judged by the text that the bytes would be. What counts are
// the places inside words, where two bytes beyond ASCII meet or one meets a
// Latin letter: two small letters of the alphabet are right, as is a capital
// before one, two capitals half so, and all else is wrong. Other encodings of
// an alphabet give words too, but of other letters: so the share of the
// frequent letters counts as well.
//
// Of strings from gettext catalogues (GNU programs and Django) in Russian,
// Bulgarian, Ukrainian, Greek and Hebrew in these encodings, 98.4 % of 6,000 single
// ones of 20 to 400 characters come out right, and 99.9 % of 3,800 of 5 or 40
// in one; with the letter pairs of chardet 95.5 and 96.7 %.
func alphabet(data []byte) (name string, confidence float64) {
	cyrillic := script{0x0400, 0x045f, "оаеинтсрвлкмі", 0.7}
	greek := script{0x0386, 0x03ce, "αοιετσνηυρπκάίό", 0.8}
	hebrew := script{0x05d0, 0x05ea, "יוהלאמרתבשנ", 0.75}
	for _, c := range []struct {
		name   string
		m      *charmap.Charmap
		script script
	}{
		{"windows-1251", charmap.Windows1251, cyrillic},
		{"KOI8-R", charmap.KOI8R, cyrillic},
		{"ISO-8859-5", charmap.ISO8859_5, cyrillic},
		{"IBM866", charmap.CodePage866, cyrillic},
		{"windows-1253", charmap.Windows1253, greek},
		{"ISO-8859-7", charmap.ISO8859_7, greek},
		{"windows-1255", charmap.Windows1255, hebrew},
	} {
		if f := c.script.fit(data, c.m); f > confidence {
			name, confidence = c.name, f
		}
	}
	return name, min(confidence, 0.99)
}

// Kinds of characters in a text of one alphabet.
const (
	between = iota // ASCII but for letters, and punctuation: ends a word
	latin
	small
	capital
	stray // what does not belong into such a text
)

// fit says how well data reads as text of the alphabet in the encoding: about
// 1 where it does, 0 or less where it does not.
func (s script) fit(data []byte, m *charmap.Charmap) float64 {
	var kinds [256]uint8
	var frequent [256]bool
	for b := range 256 {
		r := m.DecodeByte(byte(b))
		kinds[b] = s.kind(r)
		frequent[b] = strings.ContainsRune(s.frequent, unicode.ToLower(r))
	}
	letters, common, places, right := 0, 0, 0, 0.0
	last := uint8(between)
	for _, b := range data {
		k := kinds[b]
		if k == small || k == capital {
			letters++
			if frequent[b] {
				common++
			}
		}
		if k == stray || k != between && last != between && (k != latin || last != latin) {
			places++
			right += follows(last, k)
		}
		last = k
	}
	if places == 0 || letters == 0 {
		return 0
	}
	return right / float64(places) * float64(common) / float64(letters) / s.share
}

// follows rates one character behind another inside a word: 1 is right.
func follows(last, k uint8) float64 {
	switch {
	case k == small && (last == small || last == capital):
		return 1
	case k == capital && last == capital:
		return 0.5
	}
	return -2
}

func (s script) kind(r rune) uint8 {
	switch {
	case r|0x20 >= 'a' && r|0x20 <= 'z':
		return latin
	case r < 0x80, strings.ContainsRune("\u00a0«»“”„‘’‚–—…№§°©®™", r):
		return between
	case r < s.first || r > s.last:
		return stray
	case unicode.IsUpper(r):
		return capital
	}
	return small
}
