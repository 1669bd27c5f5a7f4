package search

import (
	"maps"
	"slices"

	"kb/pkg/bm25"
	"kb/pkg/record"
)

// Relevance is how well a hit fits its question, for people: a number that is
// comparable between questions, about 0 to 1. What a reranker said is taken as
// it is; before that it is the greater of the cosine and of the BM25 score as a
// share of the ideal one. The rank
// fusion's own score says only how high up a hit stood.
func Relevance(q *record.Query, h *record.Hit) float64 {
	if q == nil || h.Scores.Rerank != nil || Reranked(q.Legs) {
		return h.Score
	}
	best := 0.0
	if h.Scores.Vector != nil {
		best = *h.Scores.Vector
	}
	if share := bm25Share(q, h); share > best {
		best = share
	}
	return best
}

func bm25Share(q *record.Query, h *record.Hit) float64 {
	if h.Scores.BM25 == nil || len(q.Terms) == 0 {
		return 0
	}
	idf := make([]float64, 0, len(q.Terms))
	for _, term := range slices.Sorted(maps.Keys(q.Terms)) {
		idf = append(idf, q.Terms[term])
	}
	if ideal := bm25.Ideal(idf); ideal > 0 {
		return *h.Scores.BM25 / ideal
	}
	return 0
}

// Unrelated says whether a hit shares no word with its question and does not
// seem to either: it is there to fill the list.
func Unrelated(h *record.Hit) bool {
	return h.Scores.BM25 != nil && *h.Scores.BM25 == 0 && h.Scores.Vector != nil && *h.Scores.Vector < noise
}

// Reranked says whether a reranker made the scores.
func Reranked(legs []record.Leg) bool {
	return slices.ContainsFunc(legs, func(l record.Leg) bool { return l.Name == "rerank" && l.Ran })
}
