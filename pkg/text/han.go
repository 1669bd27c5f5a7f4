package text

import (
	"unicode/utf8"

	"kb/pkg/text/gse"
)

// hanWords cuts the Han characters of a text into words, a run at a time, as
// the tokeniser comes to it.
type hanWords struct {
	cutter gse.Cutter
	run    int   // where the run begins
	start  int   // where the word begins that comes next
	ends   []int // of it and of those behind it, counted from run
}

// covers says whether the character at i is part of a run of Han characters.
// One with a mark on it is not: no dictionary knows it.
func (h *hanWords) covers(s string, i int) bool {
	if len(h.ends) > 0 {
		return true
	}
	n := hanPrefix(s[i:])
	if n == 0 {
		return false
	}
	h.run, h.start = i, i
	h.ends = h.cutter.Cut(s[i : i+n])
	return true
}

// hanPrefix is the length of the leading Han characters without marks.
func hanPrefix(s string) int {
	last := 0
	for i, r := range s {
		if isMark(r) {
			return last
		}
		if !isHan(r) {
			return i
		}
		last = i
	}
	return len(s)
}

// addHan adds the word that ends at a byte, if one does.
func (w *tokenWriter) addHan(s string, end int) {
	h := w.han
	if h.run+h.ends[0] != end {
		return
	}
	word := s[h.start:end]
	w.over(h.start, end)
	h.start, h.ends = end, h.ends[1:]
	if w.query && stopWord(word) {
		w.stopped = append(w.stopped, word)
		return
	}
	w.put(word)
}

// stopWord says whether a word of a question is a stop word, or nothing but
// pairs that are: 为什么.
func stopWord(word string) bool {
	if isStop(word) {
		return true
	}
	before := 0
	for i, r := range word {
		if i > 0 && !isStop(word[before:i+utf8.RuneLen(r)]) {
			return false
		}
		before = i
	}
	return before > 0
}
