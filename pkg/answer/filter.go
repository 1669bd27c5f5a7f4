package answer

import "unicode/utf8"

// filter makes kb's text of what a model streams: whole runes, no list of
// references, normalised markers.
type filter struct {
	cut     string // the beginning of a rune
	list    listFilter
	markers *normalizer
	exact   bool // the generator cites as kb does and adds nothing
}

func newFilter(passages int, exact bool) *filter {
	f := &filter{markers: newNormalizer(passages), exact: exact}
	f.markers.exact = exact
	return f
}

// write takes the next piece, which may end inside a rune, and returns the text
// that it completes.
func (f *filter) write(s string) string {
	s = f.cut + s
	n := wholeRunes(s)
	f.cut = s[n:]
	s = validUTF8(s[:n])
	if !f.exact {
		s = f.list.write(s)
	}
	return f.markers.write(s)
}

// close returns the rest of the text.
func (f *filter) close() string {
	s := f.list.write(validUTF8(f.cut)) + f.list.close()
	return f.markers.write(s) + f.markers.close()
}

// wholeRunes is the length of s without a rune that has only begun.
func wholeRunes(s string) int {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if utf8.FullRuneInString(s[i:]) {
				return len(s)
			}
			return i
		}
	}
	return len(s)
}

// validUTF8 replaces each byte that is no UTF-8, so that the result does not
// depend on where a text was cut.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
