package text

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Marks implements [Analyzer]. Of a question in a script without spaces the
// pairs are looked for, and characters that stand alone: 公 of 公司 is not to be
// marked in 公元. With dictionary words it is the words, and the pairs inside of
// one: not 司的 of 公司的.
func (a *analyzer) Marks(s, question string, terms map[string]float64) [][2]int {
	shown := map[string]bool{}
	w := a.writer()
	w.query = true
	w.marks = &marker{see: func(token string, _ [2]int) {
		if _, ok := terms[token]; ok {
			shown[token] = true
		}
	}}
	scan(a.fold(question), &w)

	f, source := a.foldedFrom(s)
	var found [][2]int
	w = a.writer()
	w.marks = &marker{see: func(token string, at [2]int) {
		if shown[token] {
			found = append(found, at)
		}
	}}
	scan(f, &w)
	return source.ranges(found)
}

// marker gets the tokens with their places.
type marker struct {
	see  func(token string, at [2]int)
	at   [2]int // of the tokens that come next; empty where they are not to be seen
	held bool   // at stays
}

func (m *marker) put(token string) {
	if m.at[0] < m.at[1] {
		m.see(token, m.at)
	}
}

// over says that the next tokens stand at these bytes of the text.
func (w *tokenWriter) over(start, end int) {
	if w.marks != nil && !w.marks.held {
		w.marks.at = [2]int{start, end}
	}
}

// part is over for a character or a pair of a script without spaces, of which
// a question shows only those that mean something by themselves.
func (w *tokenWriter) part(start, end int, meant bool) {
	if w.query && !meant {
		start, end = 0, 0
	}
	w.over(start, end)
}

// hold keeps the place that over said last.
func (w *tokenWriter) hold(on bool) {
	if w.marks != nil {
		w.marks.held = on
	}
}

// sourceMap says for each byte of a folded text which bytes of the original it
// came from.
type sourceMap struct{ start, end []int }

// foldedFrom folds piece by piece: what NFKC does to a text, it does to each
// part between two of its boundaries. Where folding acts across one (an
// invisible character stood between a letter and its mark) nothing is returned,
// as no place in the original is certain then.
func (a *analyzer) foldedFrom(s string) (folded, sourceMap) {
	var out strings.Builder
	var m sourceMap
	for at := 0; at < len(s); {
		n := norm.NFKC.NextBoundaryInString(s[at:], true)
		if n <= 0 {
			n = len(s) - at
		}
		piece := a.fold(s[at : at+n]).text
		out.WriteString(piece)
		for range len(piece) {
			m.start, m.end = append(m.start, at), append(m.end, at+n)
		}
		at += n
	}
	f := a.fold(s)
	if f.text != out.String() {
		return folded{}, sourceMap{}
	}
	return f, m
}

// ranges turns ranges of the folded text into those of the original, in order
// and joined where they touch.
func (m sourceMap) ranges(found [][2]int) [][2]int {
	slices.SortFunc(found, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	var out [][2]int
	for _, r := range found {
		start, end := m.start[r[0]], m.end[r[1]-1]
		if n := len(out); n > 0 && out[n-1][1] >= start {
			out[n-1][1] = max(out[n-1][1], end)
			continue
		}
		out = append(out, [2]int{start, end})
	}
	return out
}
