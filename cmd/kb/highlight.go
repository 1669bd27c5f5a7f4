package main

import (
	"maps"
	"slices"
	"strings"

	"kb/pkg/record"
	"kb/pkg/text"
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

// matches finds the query's words in a passage, as byte ranges, in order and
// without overlap.
func matches(passage string, q *record.Query) [][2]int {
	if q == nil || len(q.Terms) == 0 {
		return nil
	}
	a, err := text.NewAnalyzer(q.Analyzer)
	if err != nil {
		return nil // the terms of another program: nothing is marked
	}
	return a.Marks(passage, q.Text, q.Terms)
}
