package text

import (
	"unicode"
	"unicode/utf8"
)

// class is what a rune is to the tokeniser.
type class uint8

const (
	classOther  class = iota // separates
	classWord                // letters, digits and marks of scripts with words
	classDense               // scripts without spaces: characters and pairs
	classKorean              // characters and pairs too, but a run of its own
)

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		if lower(byte(r)) || digit(byte(r)) {
			return classWord
		}
		return classOther
	case r >= 0x4e00 && r <= 0x9fff:
		return classDense
	case r < 0x0e00:
		return wordClass(r)
	}
	return rareClass(r)
}

func wordClass(r rune) class {
	if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
		return classWord
	}
	return classOther
}

func rareClass(r rune) class {
	switch {
	case r >= 0xac00 && r <= 0xd7a3:
		return classKorean
	case r == 0x30fc, unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return classDense
	case unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan):
		if wordClass(r) == classOther {
			return classOther
		}
		return classDense
	case unicode.Is(unicode.Hangul, r):
		return classKorean
	}
	return wordClass(r)
}

// scan walks over a folded text once and writes its tokens.
func scan(f folded, w *tokenWriter) {
	s, humps := f.text, f.humps
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch c := classOf(r); c {
		case classOther:
			i += n
		case classWord:
			word := scanWord(s, i, humps)
			humps = word.humps
			word.write(s, w)
			i = word.end
		default:
			i = scanDense(s, i, c, w)
		}
	}
}

// scanDense writes each character, with the marks on it, or each word of Han
// characters, and each pair. It returns where the run ends.
func scanDense(s string, i int, c class, w *tokenWriter) int {
	before := -1
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if classOf(r) != c {
			break
		}
		end := i + n
		for end < len(s) {
			r, n := utf8.DecodeRuneInString(s[end:])
			if !isMark(r) {
				break
			}
			end += n
		}
		inWord := w.han != nil && w.han.covers(s, i)
		if !inWord {
			w.part(i, end, before < 0 && !begins(s[end:], c))
			w.add(s[i:end])
		}
		if before >= 0 {
			w.part(before, end, !inWord || before >= w.han.start)
			w.add(s[before:end])
		}
		if inWord {
			w.addHan(s, end)
		}
		before, i = i, end
	}
	return i
}

func begins(s string, c class) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return classOf(r) == c
}

func isMark(r rune) bool {
	if r < 0x300 || r >= 0x3400 && r <= 0xa000 {
		return false
	}
	return unicode.IsMark(r)
}
