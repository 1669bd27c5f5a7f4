package search

import (
	"math"

	"kb/pkg/bm25"
)

// Two signals tell answerable questions from others: the best BM25 score as a
// share of the ideal one, and the greatest share of the question's idf that
// one of the best four hits covers. The confidence is their logistic
// regression, an estimate of the probability that the notes hold an answer:
//
//	confidence = 1 / (1 + exp(6.2 - 16.7 · ideal - 5 · coverage))
//
// It was fitted on 3,579 questions in Chinese and English (XQuAD, CMRC 2018),
// 1,438 of which had lost the article that answers them: area under the ROC
// curve 0.971 (ideal alone 0.9715, coverage alone 0.966, the offline
// embedder's cosine 0.948). A free fit leaves coverage nearly no weight; it
// has some here because ideal depends on the length of chunks, and coverage
// does not. No threshold is free of error: refusing below
//
//	floor                             0.10   0.15   0.20   0.30   0.40
//	refuses of the answerable, %       1.0    1.6    2.1    3.9    5.2
//	answers of the unanswerable, %    34.1   26.9   21.9   14.6   10.6
const (
	confidenceBase     = 6.2
	confidenceIdeal    = 16.7
	confidenceCoverage = 5
)

// DefaultFloor is the confidence below which a question is refused where the
// index has no calibration of its own. It is low, as questions to one's own
// notes are shorter and share fewer words with them than those of the fit: of
// the 87 answerable questions in eval/questions.jsonl, a floor of 0.1 refuses
// 15 and one of 0.2 refuses 23; of the 18 others they refuse 12 and 14.
const DefaultFloor = 0.1

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
	evidence := float64(confidenceIdeal*ideal) + float64(confidenceCoverage*coverage) - confidenceBase
	return 1 / (1 + math.Exp(-evidence))
}
