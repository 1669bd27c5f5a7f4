package offline

import (
	"maps"
	"slices"
	"strings"

	"kb/pkg/record"
)

// placedSentence is a sentence with the tokens of it, of what it stands below
// (the title, the headings, the note's own question, the head of its table), and of the nearest of
// these.
type placedSentence struct {
	passageSentence
	tokens, above, near map[string]bool
}

// place returns the sentences of a passage, each below its headings, which in
// a PDF are lines like others, and below the question that it answers.
func place(p record.Passage) []placedSentence {
	title := strings.Join(append([]string{p.Title}, p.Headings...), "\n")
	above := tokenSet(title)
	near := map[string]bool{}
	if n := len(p.Headings); n > 0 {
		near = tokenSet(p.Headings[n-1])
	}
	var headings []string
	for _, h := range p.Headings {
		for part := range strings.SplitSeq(h, " – ") { // sections that were joined
			headings = append(headings, key(part))
		}
	}
	var out []placedSentence
	var asked asked
	led := map[int]map[string]bool{} // what leads in a list
	for _, r := range readable(p) {
		switch {
		case r.heading || slices.Contains(headings, key(r.text)):
			above, near = tokenSet(title+"\n"+r.text), tokenSet(r.text)
			asked.left = 0
		case r.question:
			asked.ask(r)
		default:
			s := placedSentence{r, tokenSet(r.text), above, near}
			if asked.answers(r) {
				s.text = cutAnswerLabel(r.text)
				s.above, s.near = union(above, asked.tokens), union(near, asked.tokens)
			}
			if r.lead {
				led[r.list] = union(s.tokens, led[r.list])
			} else if r.list > 0 {
				s.above, s.near = union(s.above, led[r.list]), union(s.near, led[r.list])
			}
			if r.columns != "" {
				s.above = union(s.above, tokenSet(r.columns))
			}
			out = append(out, s)
		}
	}
	return out
}

func union(a, b map[string]bool) map[string]bool {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
