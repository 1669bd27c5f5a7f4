package text

import (
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"
)

// stemmer keeps the stems of the words it met: stemming takes about a
// microsecond, and most words of a text were there before. The zero value is
// ready; it is safe for many goroutines at once.
type stemmer struct {
	mu    sync.RWMutex
	stems map[string]string
}

// manyStems bounds the memory of a stemmer to a few megabytes.
const manyStems = 1 << 15

// stem returns the English stem of a folded word; words that are not of
// letters a to z (and apostrophes) only are returned as they are.
func (st *stemmer) stem(word string) string {
	if !stemmable(word) || keepsEnding(word) {
		return word
	}
	st.mu.RLock()
	stem, ok := st.stems[word]
	st.mu.RUnlock()
	if ok {
		return stem
	}
	stem = english.Stem(word, true)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.stems == nil || len(st.stems) >= manyStems {
		st.stems = make(map[string]string)
	}
	st.stems[strings.Clone(word)] = stem
	return stem
}

func stemmable(word string) bool {
	if len(word) < 3 || len(word) > 40 {
		return false
	}
	for i := range len(word) {
		if !lower(word[i]) && word[i] != '\'' {
			return false
		}
	}
	return true
}

// keepsEnding says of a word of at least three bytes, by its end alone, that the
// stemmer leaves it as it is: it has none of the endings that the steps of Snowball's
// English stemmer begin with (snowballstem.org/algorithms/english). That is so for
// half of all words, which then need no look-up.
func keepsEnding(word string) bool {
	n := len(word)
	before := word[n-2]
	ends := func(suffix string) bool { return strings.HasSuffix(word, suffix) }
	switch word[n-1] {
	case 'e', 'i', '\'':
		return false
	case 's':
		return before == 's' && !ends("ess") || before == 'u' && !ends("ous")
	case 'y':
		return vowel(before)
	case 'd':
		return before != 'e'
	case 'g':
		return !ends("ing")
	case 'l':
		return before != 'l' && !ends("al") && !ends("ful")
	case 'c':
		return before != 'i'
	case 'm':
		return !ends("ism")
	case 'n':
		return !ends("ion")
	case 'r':
		return before != 'e' && !ends("ator")
	case 't':
		return !ends("ant") && !ends("ent")
	}
	return true
}

func vowel(c byte) bool { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' }
