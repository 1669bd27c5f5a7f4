package search

import (
	"slices"

	"kb/pkg/text"
)

// A question that names something is about that: chunks that hold the name go
// before those that hold the other words (see [run.fused] and the reranker),
// the confidence looks at them alone, and a name that the notes do not have
// speaks against an answer.

// fewHolders is how many chunks may hold a name that goes before other words:
// in notes about k8s, k8s says no more than another word. Of a small index, a
// fifth of the chunks is many, too.
const fewHolders = 20

// name sets what the question names: the identifiers, all of which the index
// knows, and in a Chinese question the words of the Latin alphabet that few
// chunks have, which are names of people and products.
func (r *run) name(identifiers []string) {
	r.names = identifiers
	chinese, few := text.IsChinese(r.query.Text), max(3, min(fewHolders, r.lexical.N/5))
	for _, name := range text.Names(r.text) {
		terms := r.analyzer.QueryTerms(name) // the first is the whole of it
		if len(terms) == 0 || slices.Contains(r.unknown, name) {
			continue
		}
		switch df := r.lexical.DF[terms[0]]; {
		case r.lacks(terms[0]):
			r.strange = append(r.strange, name)
		case chinese && len(terms) == 1 && 0 < df && df <= few && !slices.Contains(r.names, terms[0]):
			r.names = append(r.names, terms[0])
		}
	}
}

// miss sets what of the question's names is nowhere in the notes: neither does
// the index know it, nor does a hit spell it otherwise.
func (r *run) miss(found []*candidate) {
	codes := r.unspelled(found, append(r.unknown, r.counted(found)...))
	r.strange = r.unspelled(found, r.strange)
	r.nameless = len(codes) > 0 && r.known == 0
	r.query.Missing = append(codes, r.strange...)
}

func (r *run) unspelled(found []*candidate, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(found, func(c *candidate) bool {
			return text.Spells(c.chunk.FullText(), name) || text.Spells(c.chunk.Path, name)
		})
	})
}

// counted are words with a number behind them that the index does not know,
// where a hit has the word with another number: "inc 91" beside INC-88, "week
// 53" beside week 42.
func (r *run) counted(found []*candidate) []string {
	var out []string
	for _, j := range text.Joints(r.query.Text) {
		if r.lacks(j.Number) && r.lacks(j.Term) &&
			slices.ContainsFunc(found, func(c *candidate) bool { return j.Counts(c.chunk.FullText()) }) {
			out = append(out, j.Name)
		}
	}
	return out
}

// unknownNames is 0 where the notes have all that the question names, and all
// its numbers; 1 where they do not; foreignNames where they have none of the
// Latin names in a Chinese question, which is then about something else.
func (r *run) unknownNames() float64 {
	if len(r.strange) == 0 {
		if r.nameless || slices.ContainsFunc(text.Numbers(r.text), r.lacks) {
			return 1
		}
		return 0
	}
	if text.IsChinese(r.query.Text) && len(r.names) == 0 {
		return foreignNames
	}
	return 1
}

// lacks says whether a term of the question is in no chunk.
func (r *run) lacks(term string) bool {
	df, asked := r.lexical.DF[term]
	return asked && df == 0
}
