package text

import (
	"strings"
	"unicode/utf8"
)

// A question about ERR-5024 is not answered by what the notes say of ERR-5023.
// So it matters whether they have a name at all, in whatever spelling.

// miss notes a word that can only be the name of one thing (ERR-5024, max_size,
// p7: it begins with a letter and has a digit or an underscore) and that the
// index does not know, neither as it is nor without its separators.
func (w *tokenWriter) miss(word string) {
	if w.known == nil || !isCode(word) && !strings.Contains(word, "_") || w.known(word) {
		return
	}
	joined := strings.NewReplacer("-", "", "_", "").Replace(word)
	if w.known(joined) || w.known(w.stems.stem(joined)) || word[0] == 'v' && w.known(word[1:]) {
		return
	}
	w.unknown = append(w.unknown, word)
}

// asWritten is a folded word as s has it; in full width it stays folded.
func asWritten(s, word string) string {
	for i := 0; i+len(word) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(word)], word) {
			return s[i : i+len(word)]
		}
	}
	return word
}

// Spells says whether s has a word, whatever case and width its letters have
// and whatever single separator stands between any two of them: COVID-19 is
// spelled in "Covid 19" and in "COVID19", but not in "COVID-195".
func Spells(s, word string) bool {
	s = Normalize(s)
	letters := dense(Normalize(word))
	if letters == "" {
		return false
	}
	for i := range len(s) {
		if s[i] == letters[0] && (i == 0 || !wordByte(s[i-1]) || s[i-1] >= utf8.RuneSelf) && spelledAt(s[i:], letters) {
			return true
		}
	}
	return false
}

// spelledAt says whether s begins with a word of these letters and digits.
func spelledAt(s, letters string) bool {
	for n := range len(letters) {
		if n > 0 && s != "" && strings.IndexByte(" .-_/", s[0]) >= 0 {
			s = s[1:]
		}
		if s == "" || s[0] != letters[n] {
			return false
		}
		s = s[1:]
	}
	return s == "" || !lower(s[0]) && !digit(s[0])
}

// dense is a folded text without what is between words and their parts.
func dense(s string) string {
	return strings.Map(func(r rune) rune {
		if classOf(r) == classOther {
			return -1
		}
		return r
	}, s)
}
