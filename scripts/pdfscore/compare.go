package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// What a text has to reach: the share of characters that need no edit, over
// NFKC text without white space, weighted by the length of pages; and for
// English the F1 of its bag of words, which shows missing spaces.
const (
	leastEdit  = 0.95
	leastWords = 0.95
)

// compare says in what way a result is not as wanted; "" if it is.
func compare(got result, want wanted) string {
	switch {
	case got.Kind == "":
		return "neither read nor skipped"
	case want.Expect == "error":
		return refused(got, "not_pdf", "damaged", "password", "too_large")
	case want.Expect == "empty":
		return refused(got, "no_text_layer", "empty")
	case want.Expect == "unreadable":
		return refused(got, "unreadable_text")
	case got.Kind == "skipped":
		return "skipped: " + got.Reason
	}
	texts, pages := []string{got.Text}, []string{strings.Join(want.Pages, "\n")}
	if want.Expect == "text" {
		texts, pages = nil, want.Pages
		for _, p := range got.Pages {
			texts = append(texts, p.Text)
		}
	}
	if len(texts) != len(pages) {
		return fmt.Sprintf("%d pages instead of %d", len(texts), len(pages))
	}
	if s := similarity(texts, pages); s < leastEdit {
		return fmt.Sprintf("edit similarity %.3f", s)
	}
	if f := wordF1(strings.Join(texts, "\n"), strings.Join(pages, "\n")); want.Lang == "en" && f < leastWords {
		return fmt.Sprintf("word F1 %.3f", f)
	}
	return ""
}

func refused(got result, classes ...string) string {
	if got.Kind != "skipped" || !slices.Contains(classes, got.Class) {
		return fmt.Sprintf("%s %s, expected class %s", got.Kind, got.Class, strings.Join(classes, " or "))
	}
	return ""
}

func similarity(got, want []string) float64 {
	edits, all := 0, 0
	for i := range want {
		a, b := characters(got[i]), characters(want[i])
		edits += distance(a, b)
		all += max(len(a), len(b))
	}
	return 1 - float64(edits)/float64(max(all, 1))
}

func characters(s string) []rune {
	return slices.DeleteFunc([]rune(norm.NFKC.String(s)), unicode.IsSpace)
}

// distance is the number of characters to insert, delete or replace
// (Levenshtein).
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, rb := range b {
			cost := diagonal
			if ra != rb {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

func wordF1(got, want string) float64 {
	counts := make(map[string]int)
	for _, w := range words(want) {
		counts[w]++
	}
	found, common := words(got), 0
	for _, w := range found {
		if counts[w] > 0 {
			counts[w]--
			common++
		}
	}
	return 2 * float64(common) / float64(max(len(found)+len(words(want)), 1))
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(norm.NFKC.String(s)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
