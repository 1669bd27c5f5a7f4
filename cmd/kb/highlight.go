package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kb/pkg/record"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// mark paints the words of the query in a line of text.
func mark(line string, q *record.Query, s style) string {
	if !s.colour {
		return line
	}
	var b strings.Builder
	at := 0
	for _, span := range matches(line, q) {
		b.WriteString(line[at:span[0]])
		b.WriteString(s.strong(line[span[0]:span[1]]))
		at = span[1]
	}
	b.WriteString(line[at:])
	return b.String()
}

// matches finds the query's words in text, for display only: characters of
// scripts without spaces where a pair of them is a term, and words that begin
// with a term and end soon after it, as inflected forms do. It returns byte
// ranges, in order and without overlap.
func matches(text string, q *record.Query) [][2]int {
	if q == nil || len(q.Terms) == 0 {
		return nil
	}
	var spans [][2]int
	add := func(from, to int) {
		if n := len(spans); n > 0 && spans[n-1][1] >= from {
			spans[n-1][1] = max(spans[n-1][1], to)
			return
		}
		spans = append(spans, [2]int{from, to})
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.Is(unicode.Han, r):
			_, m := utf8.DecodeRuneInString(text[i+n:])
			if _, ok := q.Terms[text[i:i+n+m]]; ok && m > 0 {
				add(i, i+n+m)
			}
			i += n
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			end := i + wordLen(text[i:])
			if matchesWord(strings.ToLower(text[i:end]), q.Terms) {
				add(i, end)
			}
			i = end
		default:
			i += n
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	return spans
}

func wordLen(s string) int {
	for i, r := range s {
		if unicode.Is(unicode.Han, r) || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(s)
}

func matchesWord(word string, terms map[string]float64) bool {
	if _, ok := terms[word]; ok {
		return true
	}
	for cut := 1; cut <= 3 && len(word)-cut >= 3; cut++ {
		if _, ok := terms[word[:len(word)-cut]]; ok {
			return true
		}
	}
	return false
}
