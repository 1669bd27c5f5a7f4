package rerank

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"

	"kb/pkg/model"
	"kb/pkg/record"
)

// scripted gives the scores that a test wants, by index.
type scripted struct {
	scores []model.Score
	err    error
	asked  string
}

func (s *scripted) Name() string { return "scripted" }
func (s *scripted) Rerank(_ context.Context, q *record.Query, _ []*record.Hit) ([]model.Score, error) {
	s.asked = q.Text
	return s.scores, s.err
}

func hits(ids ...string) []*record.Hit {
	var out []*record.Hit
	for i, id := range ids {
		out = append(out, &record.Hit{Query: "q", ID: id, Rank: i + 1, Score: 0.03})
	}
	return out
}

func show(hs []*record.Hit) string {
	var parts []string
	for _, h := range hs {
		parts = append(parts, fmt.Sprintf("%d%s%g", h.Rank, h.ID, h.Score))
	}
	return strings.Join(parts, " ")
}

func TestOrder(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		name   string
		scores []model.Score
		err    error
		opt    Options
		want   string
		ran    bool
	}{
		{"by score, ties as they were", []model.Score{{Index: 2, Score: 0.9}, {Index: 0, Score: 0.1}, {Index: 1, Score: 0.1}}, nil, Options{}, "1c0.9 2a0.1 3b0.1", true},
		{"logits", []model.Score{{Index: 0, Score: -11}, {Index: 1, Score: 7.5}, {Index: 2, Score: -2}}, nil, Options{TopK: 2}, "1b7.5 2c-2", true},
		{"left out goes last", []model.Score{{Index: 1, Score: -3}, {Index: 2, Score: -5}}, nil, Options{}, "1b-3 2c-5 3a-5", true},
		{"the limit is inclusive and for the new scores", []model.Score{{Index: 1, Score: 0.6}, {Index: 2, Score: 0.59}}, nil, Options{MinScore: 0.6}, "1b0.6", true},
		{"a failure keeps order and scores", nil, errors.New("503"), Options{MinScore: 0.6}, "1a0.03 2b0.03 3c0.03", false},
		{"an index of no hit is a failure", []model.Score{{Index: 3, Score: 1}}, nil, Options{}, "1a0.03 2b0.03 3c0.03", false},
		{"no number is a failure", []model.Score{{Index: 0, Score: nan}}, nil, Options{}, "1a0.03 2b0.03 3c0.03", false},
		{"nothing is a failure", nil, nil, Options{}, "1a0.03 2b0.03 3c0.03", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var warnings []string
			tc.opt.Reranker = &scripted{scores: tc.scores, err: tc.err}
			tc.opt.Warn = func(m string) { warnings = append(warnings, m) }
			in := hits("a", "b", "c")
			q, out, err := Rerank(t.Context(), &record.Query{ID: "q", Text: "x", Legs: []record.Leg{{Name: "rerank", Why: "not asked for"}}}, in, tc.opt)
			if err != nil || show(out) != tc.want {
				t.Errorf("%s, %v, want %s", show(out), err, tc.want)
			}
			leg := q.Legs[len(q.Legs)-1]
			if len(q.Legs) != 1 || leg.Ran != tc.ran || (leg.Why == "") != tc.ran || (len(warnings) == 0) != tc.ran {
				t.Errorf("legs %+v, warnings %q", q.Legs, warnings)
			}
			if in[0].Scores.Rerank != nil || in[0].Score != 0.03 {
				t.Error("the hits were changed in place")
			}
		})
	}
}

func TestRunGroupsByQuery(t *testing.T) {
	stream := func(rs ...record.Record) iter.Seq2[record.Record, error] {
		return func(yield func(record.Record, error) bool) {
			for _, r := range rs {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
	s := &scripted{scores: []model.Score{{Index: 1, Score: 2}, {Index: 0, Score: 1}}}
	two := hits("a", "b")
	var got []string
	for r, err := range Run(t.Context(), stream(&record.Query{ID: "p", Text: "none"}, &record.Query{ID: "q", Text: "x"}, two[0], &record.Raw{RecordKind: "memo"}, two[1]), Options{Reranker: s}) {
		if err != nil {
			t.Fatal(err)
		}
		name := r.Kind()
		if h, ok := r.(*record.Hit); ok {
			name = h.ID
		}
		got = append(got, name)
	}
	if strings.Join(got, " ") != "query memo query b a" {
		t.Errorf("got %v", got)
	}
	var failure error
	for _, err := range Run(t.Context(), stream(two[0]), Options{Reranker: s}) {
		failure = err
	}
	if !errors.Is(failure, ErrNoQuestion) {
		t.Errorf("hits without a question: %v", failure)
	}
	for r, err := range Run(t.Context(), stream(two[0], two[1]), Options{Reranker: s, Query: "why?"}) {
		if err != nil || r == nil {
			t.Error(err)
		}
	}
	if s.asked != "why?" {
		t.Errorf("asked %q", s.asked)
	}
}
