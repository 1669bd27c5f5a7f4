// Package text knows what kb needs to know of written language: how to fold
// a text so that equal things compare equal, where its sentences end, where it
// may be cut, and which tokens an index keeps of it.
//
// Nothing here needs a dictionary or does work before it is asked to.
package text

import "unicode"

// IsChinese says whether a question is put in Chinese, so that the answer
// should be too: it has no kana, and at least as many Chinese characters as
// words of other scripts ("rotate_keys 怎么用" is, "what does 道 mean" is not).
func IsChinese(question string) bool {
	han, words, inWord := 0, 0, false
	for _, r := range question {
		switch {
		case isHan(r):
			han++
			inWord = false
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return false
		case unicode.IsLetter(r):
			if !inWord {
				words++
			}
			inWord = true
		case unicode.IsSpace(r):
			inWord = false
		}
	}
	return han > 0 && han >= words
}

// Foreign says whether two texts are in different languages, as far as scripts
// tell: one is mostly Han and the other hardly has any.
func Foreign(a, b string) bool {
	x, y := HanShare(a), HanShare(b)
	return x > 0.5 && y < 0.1 || x < 0.1 && y > 0.5
}

// HanShare is the share of Han characters among these and the words of other
// scripts; 0.3 for a text without either, which is of no language.
func HanShare(s string) float64 {
	han, words, inWord := 0, 0, false
	for _, r := range s {
		switch {
		case isHan(r):
			han++
			inWord = false
		case unicode.IsLetter(r):
			if !inWord {
				words++
			}
			inWord = true
		case !unicode.IsMark(r) && r != '\'' && r != '’':
			inWord = false
		}
	}
	if han+words == 0 {
		return 0.3
	}
	return float64(han) / float64(han+words)
}

func isHan(r rune) bool {
	if r >= 0x4e00 && r <= 0x9fff {
		return true
	}
	return r >= 0x2e80 && unicode.Is(unicode.Han, r)
}
