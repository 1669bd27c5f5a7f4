package search

import (
	"math"

	"kb/pkg/bm25"
)

// DefaultFloor is the confidence below which a question is refused where the
// index has no calibration of its own.
const DefaultFloor = 0.2

// judged is how many of the best hits the coverage looks at.
const judged = 4

// judge sets the signals and the confidence. A semantic embedder finds answers
// without a common word (a Chinese question on English notes), so where it
// took part the lexical signals may speak for an answer but not against one.
func (r *run) judge(found []*candidate) {
	if r.semantic && r.query.Mode == ModeVector {
		return
	}
	ideal, cover := r.idealShare(), r.coverage(found)
	r.query.Signals = map[string]float64{"bm25_ideal": ideal, "coverage": cover}
	c := confidence(ideal, cover)
	if c < r.query.Floor && r.semantic && r.vector != nil {
		return
	}
	r.query.Confidence = &c
}

// idealShare is the best BM25 score as a share of what is possible.
func (r *run) idealShare() float64 {
	ideal := bm25.Ideal(r.idf)
	if len(r.lexical.Hits) == 0 || ideal == 0 {
		return 0
	}
	return r.lexical.Hits[0].Score / ideal
}

// coverage is the greatest share of the question's idf that one of the best
// hits holds.
func (r *run) coverage(found []*candidate) float64 {
	best, mass := 0.0, 0.0
	for _, x := range r.idf {
		mass += x
	}
	if mass == 0 {
		return 0
	}
	for _, c := range found[:min(judged, len(found))] {
		sum := 0.0
		for i, tf := range bm25.Frequencies(r.terms, r.tokensOf(c)) {
			if tf > 0 {
				sum += r.idf[i]
			}
		}
		best = max(best, sum)
	}
	return best / mass
}

func confidence(ideal, coverage float64) float64 {
	if coverage == 0 {
		return 0
	}
	return 1 / (1 + math.Exp(-(20*ideal + coverage - 5)))
}
