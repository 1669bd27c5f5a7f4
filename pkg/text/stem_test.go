package text

import (
	"testing"

	"github.com/kljensen/snowball/english"
)

// TestKeepsEnding: a word that is not looked up is one that the stemmer leaves as
// it is, with all endings of three letters behind beginnings of all kinds.
func TestKeepsEnding(t *testing.T) {
	kept, all := 0, 0
	for _, begin := range []string{"", "a", "x", "y", "sk", "str", "ee", "rel", "hopp", "gener", "commun", "arsen", "relat", "visibil", "yoyo"} {
		for i := range 26 * 26 * 26 {
			word := begin + string([]byte{'a' + byte(i/676), 'a' + byte(i/26%26), 'a' + byte(i%26)})
			all++
			if !keepsEnding(word) {
				continue
			}
			kept++
			if stem := english.Stem(word, true); stem != word {
				t.Fatalf("%s has the stem %s", word, stem)
			}
		}
	}
	if kept < all/2 {
		t.Errorf("%d of %d words keep their ending", kept, all)
	}
}
