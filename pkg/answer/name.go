package answer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"kb/pkg/text"
)

// names returns the Latin names and identifiers of a claim: words with a
// digit, _ or inner dot, in camel case or capitals, and capitalised words that
// do not begin a sentence. With identifiersOnly the last are left out, since
// in a translation a name may have another form.
func names(s string, identifiersOnly bool) []string {
	var out []string
	begins := true // a sentence
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !isNameRune(r) {
			if !unicode.IsSpace(r) {
				begins = strings.ContainsRune(".:!?;。：！？；\"“「(（/|", r)
			}
			i += n
			continue
		}
		word := nameAt(s[i:])
		i += len(word)
		word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
		if isIdentifier(word) || !identifiersOnly && !begins && isCapitalised(word) {
			out = append(out, word)
		}
		begins = false
	}
	return out
}

// nameAt is the word that s begins with; . - _ / and apostrophes join its parts.
func nameAt(s string) string {
	i := 0
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !isNameRune(r) {
			if i == 0 || !strings.ContainsRune(".-/'’", r) {
				break
			}
			if next, _ := utf8.DecodeRuneInString(s[i+n:]); !isNameRune(next) {
				break
			}
		}
		i += n
	}
	return s[:i]
}

// isNameRune says whether a rune is of a word in a script that has words.
func isNameRune(r rune) bool {
	switch {
	case r < 0xe00:
		return isWordRune(r) || unicode.IsMark(r)
	case r >= 0x1e00 && r < 0x2000:
		return unicode.IsLetter(r)
	}
	return r >= 0x200b && r <= 0x200d // invisible, inside words
}

func isIdentifier(word string) bool {
	letters, digits, upper, hump, mark := 0, 0, 0, false, false
	for i := range len(word) {
		c := word[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '_' || c == '.':
			mark = true
		case c >= 'A' && c <= 'Z':
			upper++
			letters++
			hump = hump || i > 0 && word[i-1] >= 'a' && word[i-1] <= 'z'
		case c >= 'a' && c <= 'z':
			letters++
		}
	}
	if letters == 0 {
		return false
	}
	if digits > 0 {
		return !isQuantity(word)
	}
	if isDotted(word) {
		return false
	}
	return mark || hump || upper > 1 && upper == letters
}

// isDotted says whether a word is an abbreviation like e.g or U.S, whose form
// varies.
func isDotted(word string) bool {
	for _, part := range strings.Split(word, ".") {
		if len(part) > 1 {
			return false
		}
	}
	return strings.Contains(word, ".")
}

// isQuantity says whether a word is a number and its unit (45min, 1st), which
// is checked as a number.
func isQuantity(word string) bool {
	unit := strings.TrimLeft(word, "0123456789.,-")
	if len(unit) == len(word) {
		return false
	}
	switch unit {
	case "st", "nd", "rd", "th", "s", "k":
		return true
	}
	name, n := unitOf(strings.ToLower(unit))
	return name != "" && n == len(unit)
}

func isCapitalised(word string) bool {
	return len(word) > 1 && word[0] >= 'A' && word[0] <= 'Z' && !isDotted(word)
}

// hasName says whether the source has a name: each of its tokens, or an
// identifier with other separators (ERR-5023, ERR 5023).
func (s *source) hasName(name string) bool {
	all := true
	for _, t := range analyzer().Tokens(name) {
		all = all && s.tokens[t]
	}
	if all {
		return true
	}
	word := dense(text.Normalize(name))
	if len(word) < 3 || !isIdentifier(name) {
		return false
	}
	for at := 0; ; {
		i := strings.Index(s.dense[at:], word)
		if i < 0 {
			return false
		}
		at += i
		if !splitsNumber(s.dense, at, at+len(word)) {
			return true
		}
		at++
	}
}

// splitsNumber says whether start or end stand between two digits.
func splitsNumber(s string, start, end int) bool {
	digit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	return digit(start-1) && digit(start) || digit(end-1) && digit(end)
}
