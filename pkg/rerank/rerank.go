// Package rerank is the stage that puts the hits of a question into a better
// order, by a model.Reranker.
//
// Only the order of the scores is trusted, for their scale is the reranker's
// own; they become the hits' scores, so that a limit on the score applies to
// what the reranker said and not to what the search said before.
package rerank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kb/pkg/model"
	"kb/pkg/record"
)

// ErrNoQuestion is returned for hits that came without a query record.
var ErrNoQuestion = errors.New("hits without a query record: give the question with --query, or keep the query records in the stream")

// Options say how to rerank.
type Options struct {
	Reranker model.Reranker
	Query    string           // the question to rank by; "": that of the query record
	TopK     int              // hits to keep; 0: all
	MinScore float64          // hits that the reranker scored below, or not at all, are dropped; 0: none
	Warn     func(msg string) // may be nil
}

// Rerank orders the hits of one question. It returns copies, ranked anew, of
// the query, which says in its leg "rerank" what happened, and of the hits.
// Equal scores keep their order. Hits that the reranker left out go last in
// their old order, with a score that is not above the others'.
//
// If the reranker fails, the hits keep their order and scores, MinScore does
// not apply (it is meant for other scores), and Warn and the leg say why.
func Rerank(ctx context.Context, q *record.Query, hits []*record.Hit, o Options) (*record.Query, []*record.Hit, error) {
	out := *q
	leg := record.Leg{Name: "rerank", By: o.Reranker.Name()}
	ordered, err := order(ctx, asked(q, o.Query), hits, o)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case len(hits) == 0:
		leg.Why = "no hits"
	case err != nil:
		leg.Why = err.Error()
		ordered = copies(hits)
		if o.Warn != nil {
			o.Warn(fmt.Sprintf("%s could not rerank, the order is that of the search: %v", leg.By, err))
		}
	default:
		leg.Ran, leg.Hits = true, len(hits)
	}
	out.Legs = withLeg(q.Legs, leg)
	if o.TopK > 0 && len(ordered) > o.TopK {
		ordered = ordered[:o.TopK]
	}
	for i, h := range ordered {
		h.Rank, h.Query = i+1, out.ID
	}
	return &out, ordered, nil
}

// asked is the query to rank by: another question has other terms.
func asked(q *record.Query, question string) *record.Query {
	if question == "" || question == q.Text {
		return q
	}
	return &record.Query{ID: q.ID, Text: question, Analyzer: q.Analyzer}
}

// order returns copies of the hits in the reranker's order, without those
// below the limit.
func order(ctx context.Context, q *record.Query, hits []*record.Hit, o Options) ([]*record.Hit, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	scores, err := o.Reranker.Rerank(ctx, q, hits)
	if err != nil {
		return nil, err
	}
	out := copies(hits)
	lowest, scored := 0.0, false
	for _, s := range scores {
		if s.Index < 0 || s.Index >= len(hits) {
			return nil, fmt.Errorf("it scored hit %d of %d", s.Index, len(hits))
		}
		h := out[s.Index]
		if h.Scores.Rerank != nil || math.IsNaN(s.Score) {
			continue // the first score counts, and one that is no number does not
		}
		h.Score, h.Scores.Rerank = s.Score, &s.Score
		lowest, scored = min(lowest, s.Score), true
	}
	if !scored {
		return nil, errors.New("it scored no hit")
	}
	for _, h := range out {
		if h.Scores.Rerank == nil {
			h.Score = lowest
		}
	}
	slices.SortStableFunc(out, better)
	if o.MinScore != 0 {
		out = slices.DeleteFunc(out, func(h *record.Hit) bool {
			return h.Scores.Rerank == nil || h.Score < o.MinScore
		})
	}
	return out, nil
}

func better(a, b *record.Hit) int {
	if left := a.Scores.Rerank == nil; left != (b.Scores.Rerank == nil) {
		if left {
			return 1
		}
		return -1
	}
	return cmp.Compare(b.Score, a.Score)
}

// copies are the hits without what an earlier reranker said.
func copies(hits []*record.Hit) []*record.Hit {
	out := make([]*record.Hit, len(hits))
	for i, h := range hits {
		c := *h
		c.Scores.Rerank = nil
		out[i] = &c
	}
	return out
}

// withLeg replaces the leg of the same name, or adds it.
func withLeg(legs []record.Leg, leg record.Leg) []record.Leg {
	out := slices.DeleteFunc(slices.Clone(legs), func(l record.Leg) bool { return l.Name == leg.Name })
	return append(out, leg)
}
