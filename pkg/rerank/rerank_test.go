package rerank

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"kb/pkg/model"
	"kb/pkg/record"
)

// scripted answers with the scores it was given, in their order.
type scripted struct {
	scores []model.Score
	err    error
	asked  []string
	terms  int
}

func (s *scripted) Name() string { return "scripted" }
func (s *scripted) Rerank(_ context.Context, q *record.Query, _ []*record.Hit) ([]model.Score, error) {
	s.asked = append(s.asked, q.Text)
	s.terms = len(q.Terms)
	return s.scores, s.err
}

func at(i int, score float64) model.Score { return model.Score{Index: i, Score: score} }

func fused(ids ...string) (*record.Query, []*record.Hit) {
	q := &record.Query{ID: "q", Text: "question", Terms: map[string]float64{"question": 1},
		Legs: []record.Leg{{Name: "bm25", Ran: true}, {Name: "rerank", Why: "not asked for"}}}
	var hits []*record.Hit
	for i, id := range ids {
		rrf := 1 / float64(61+i)
		hits = append(hits, &record.Hit{Query: "q", Rank: i + 1, Score: rrf, Scores: record.Scores{RRF: &rrf}, ID: id})
	}
	return q, hits
}

func show(hits []*record.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%d %s %.4g", h.Rank, h.ID, h.Score))
	}
	return strings.Join(out, ", ")
}

func TestRerank(t *testing.T) {
	for _, c := range []struct {
		name   string
		scores []model.Score
		o      Options
		want   string
	}{
		{"in the order of relevance, by index", []model.Score{at(2, 0.9), at(0, 0.1), at(1, 0.1), at(3, 0.05)}, Options{}, "1 c 0.9, 2 a 0.1, 3 b 0.1, 4 d 0.05"},
		{"left out", []model.Score{at(3, 0.9), at(1, 0.2)}, Options{}, "1 d 0.9, 2 b 0.2, 3 a 0, 4 c 0"},
		{"left out, logits", []model.Score{at(3, 7.5), at(1, -11)}, Options{}, "1 d 7.5, 2 b -11, 3 a -11, 4 c -11"},
		{"limit is inclusive", []model.Score{at(0, 0.9), at(1, 0.6), at(2, 0.59)}, Options{MinScore: 0.6}, "1 a 0.9, 2 b 0.6"},
		{"left out fails any limit", []model.Score{at(1, -2), at(2, -3)}, Options{MinScore: -2}, "1 b -2"},
		{"limit above all", []model.Score{at(0, 0.1)}, Options{MinScore: 0.5}, ""},
		{"top k", []model.Score{at(3, 4), at(2, 3), at(1, 2), at(0, 1)}, Options{TopK: 2}, "1 d 4, 2 c 3"},
		{"twice and no number", []model.Score{at(1, 0.5), at(1, 0.9), at(0, math.NaN())}, Options{}, "1 b 0.5, 2 a 0, 3 c 0, 4 d 0"},
	} {
		q, hits := fused("a", "b", "c", "d")
		c.o.Reranker = &scripted{scores: c.scores}
		c.o.Warn = func(m string) { t.Errorf("%s: warning %s", c.name, m) }
		out, got, err := Rerank(context.Background(), q, hits, c.o)
		if err != nil || show(got) != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, show(got), c.want)
			continue
		}
		leg := out.Legs[len(out.Legs)-1]
		if len(out.Legs) != 2 || leg.Name != "rerank" || !leg.Ran || leg.By != "scripted" || leg.Hits != 4 {
			t.Errorf("%s: legs %+v", c.name, out.Legs)
		}
		if show(hits) != "1 a 0.01639, 2 b 0.01613, 3 c 0.01587, 4 d 0.01562" || q.Legs[1].Ran {
			t.Errorf("%s: the input was changed: %s", c.name, show(hits))
		}
		for _, h := range got {
			if h.Scores.RRF == nil {
				t.Errorf("%s: hit %s lost the fused score", c.name, h.ID)
			}
		}
	}
}

func TestRerankerFails(t *testing.T) {
	for _, r := range []*scripted{
		{err: errors.New("status 503")},
		{scores: []model.Score{at(7, 1)}},
		{scores: nil},
		{scores: []model.Score{at(0, math.NaN())}},
	} {
		var warnings []string
		q, hits := fused("a", "b", "c")
		out, got, err := Rerank(context.Background(), q, hits,
			Options{Reranker: r, MinScore: 0.5, TopK: 2, Warn: func(m string) { warnings = append(warnings, m) }})
		leg := out.Legs[len(out.Legs)-1]
		if err != nil || show(got) != "1 a 0.01639, 2 b 0.01613" || leg.Ran || leg.Why == "" || len(warnings) != 1 {
			t.Errorf("%+v: %v, %s, leg %+v, warnings %q", r, err, show(got), leg, warnings)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q, hits := fused("a")
	if _, _, err := Rerank(ctx, q, hits, Options{Reranker: &scripted{err: context.Canceled}}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func stream(in ...record.Record) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for _, r := range in {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func TestRun(t *testing.T) {
	run := func(o Options, in ...record.Record) (out []string, err error) {
		for r, e := range Run(context.Background(), stream(in...), o) {
			if e != nil {
				return out, e
			}
			switch r := r.(type) {
			case *record.Query:
				out = append(out, "query "+r.ID+" "+r.Text)
			case *record.Hit:
				out = append(out, fmt.Sprintf("hit %s %d %s", r.Query, r.Rank, r.ID))
			default:
				out = append(out, r.Kind())
			}
		}
		return out, nil
	}
	q1, q2, bare := &record.Query{ID: "1", Text: "one"}, &record.Query{ID: "2", Text: "two"}, record.QueryID("mine")
	hit := func(query, id string) record.Record { return &record.Hit{Query: query, ID: id} }
	for _, c := range []struct {
		name, query string
		in          []record.Record
		want        []string
		asked       []string
	}{
		{"questions", "", []record.Record{q1, hit("1", "a"), &record.Raw{RecordKind: "note"}, hit("1", "b"), q2, hit("2", "c"), hit("2", "d")},
			[]string{"query 1 one", "hit 1 1 b", "hit 1 2 a", "note", "query 2 two", "hit 2 1 d", "hit 2 2 c"}, []string{"one", "two"}},
		{"no hits", "", []record.Record{q1}, []string{"query 1 one"}, nil},
		{"another question wins", "mine", []record.Record{q1, hit("1", "a"), hit("1", "b")},
			[]string{"query 1 one", "hit 1 1 b", "hit 1 2 a"}, []string{"mine"}},
		{"hits alone", "mine", []record.Record{hit("7", "a"), hit("7", "b")},
			[]string{"query 7 mine", "hit 7 1 b", "hit 7 2 a"}, []string{"mine"}},
		{"hits of no question", "mine", []record.Record{hit("", "a"), hit("", "b")},
			[]string{"query " + bare + " mine", "hit " + bare + " 1 b", "hit " + bare + " 2 a"}, []string{"mine"}},
		{"nothing", "", nil, nil, nil},
	} {
		r := &scripted{scores: []model.Score{at(1, 2), at(0, 1)}}
		got, err := run(Options{Reranker: r, Query: c.query}, c.in...)
		if err != nil || !slices.Equal(got, c.want) || !slices.Equal(r.asked, c.asked) {
			t.Errorf("%s: %v, asked %q\n got %q\nwant %q", c.name, err, r.asked, got, c.want)
		}
	}
	if _, err := run(Options{Reranker: &scripted{}}, hit("7", "a")); !errors.Is(err, ErrNoQuestion) {
		t.Errorf("hits alone, no question: %v", err)
	}
}

// The terms of a question's idf belong to that question only.
func TestTermsBelongToTheQuestion(t *testing.T) {
	for question, want := range map[string]int{"": 1, "question": 1, "other": 0} {
		q, hits := fused("a")
		r := &scripted{scores: []model.Score{at(0, 1)}}
		if _, _, err := Rerank(context.Background(), q, hits, Options{Reranker: r, Query: question}); err != nil || r.terms != want {
			t.Errorf("question %q: %d terms, %v", question, r.terms, err)
		}
	}
}
