package offline

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"kb/pkg/model"
	"kb/pkg/record"
)

func ptr(x float64) *float64 { return &x }

func order(t *testing.T, q *record.Query, hits []*record.Hit) (ids []string, scores []float64) {
	t.Helper()
	out, err := NewReranker().Rerank(context.Background(), q, hits)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(hits) {
		t.Fatalf("%d scores for %d hits", len(out), len(hits))
	}
	byScore := slices.Clone(out)
	slices.SortStableFunc(byScore, func(a, b model.Score) int { return cmp.Compare(b.Score, a.Score) })
	for _, s := range byScore {
		ids = append(ids, hits[s.Index].ID)
		scores = append(scores, s.Score)
	}
	return ids, scores
}

func TestRerankerScores(t *testing.T) {
	q := &record.Query{Text: "alpha beta", Terms: map[string]float64{"alpha": 1, "beta": 3}}
	ids, scores := order(t, q, []*record.Hit{
		{ID: "a", Text: "alpha", Scores: record.Scores{BM25: ptr(1.9), Vector: ptr(0.5)}},
		{ID: "b", Text: "alpha beta", Scores: record.Scores{BM25: ptr(3.8)}},
		{ID: "n", Text: "nothing", Scores: record.Scores{BM25: ptr(0)}},
	})
	// ideal = (1 + 3) · 1.9 = 7.6
	want := []float64{3.8/7.6 + 0.1, 1.9/7.6 + 0.1*0.25 + 0.1*0.5, 0}
	if !slices.Equal(ids, []string{"b", "a", "n"}) {
		t.Fatalf("order %v", ids)
	}
	for i := range want {
		if d := scores[i] - want[i]; d > 1e-12 || d < -1e-12 {
			t.Errorf("score of %s is %v, want %v", ids[i], scores[i], want[i])
		}
	}
}

// What holds an identifier goes before what holds only the other words.
func TestRerankerIdentifiers(t *testing.T) {
	q := &record.Query{Text: "what error is ERR-5023", Terms: map[string]float64{"error": 5, "err-5023": 3}, Identifiers: []string{"err-5023"}}
	ids, scores := order(t, q, []*record.Hit{
		{ID: "words", Text: "error, error: ERR-5032", Scores: record.Scores{BM25: ptr(9)}},
		{ID: "holds", Text: "ERR-5023", Scores: record.Scores{BM25: ptr(4)}},
	})
	if !slices.Equal(ids, []string{"holds", "words"}) || scores[0] < 0.5 || scores[0] > 1 || scores[1] > 0.5 {
		t.Errorf("order %v, scores %v", ids, scores)
	}
}

// Two passages that BM25 cannot tell apart: the one with the terms together
// wins.
func TestRerankerWindow(t *testing.T) {
	far := strings.Repeat("filler ", 200)
	ids, _ := order(t, &record.Query{Text: "alpha beta"}, []*record.Hit{
		{ID: "apart", Text: "alpha " + far + "beta"},
		{ID: "together", Text: far + "alpha beta"},
	})
	if ids[0] != "together" {
		t.Errorf("order %v", ids)
	}
}

// Hits that were piped in from elsewhere have no scores, and the question no
// terms.
func TestRerankerWithoutScores(t *testing.T) {
	ids, _ := order(t, &record.Query{Text: "怎样审批超标"}, []*record.Hit{
		{ID: "a", Text: "每天建议学习"},
		{ID: "b", Title: "超标", Text: "两级审批"},
		{ID: "c", Text: "审批"},
	})
	if !slices.Equal(ids, []string{"b", "c", "a"}) {
		t.Errorf("order %v", ids)
	}
	if ids, _ := order(t, &record.Query{Text: "*"}, []*record.Hit{{ID: "a", Text: "x"}, {ID: "b", Text: ""}}); !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("a question without a term changes the order: %v", ids)
	}
	if _, err := NewReranker().Rerank(context.Background(), &record.Query{Text: "x", Analyzer: "other-9"}, nil); err == nil {
		t.Error("no error for an unknown analyzer")
	}
}

// The cosines of a semantic embedder count by how they lie to each other.
func TestRerankerSpreadsSemanticCosines(t *testing.T) {
	q := &record.Query{Text: "alpha", Terms: map[string]float64{"alpha": 1}, Legs: []record.Leg{{Name: "vector", Ran: true, Weight: 1}}}
	_, scores := order(t, q, []*record.Hit{
		{ID: "a", Text: "x", Scores: record.Scores{Vector: ptr(0.9)}},
		{ID: "b", Text: "x", Scores: record.Scores{Vector: ptr(0.85)}},
		{ID: "c", Text: "x", Scores: record.Scores{Vector: ptr(0.8)}},
		{ID: "d", Text: "x"},
	})
	for i, want := range []float64{0.2, 0.1, 0, 0} {
		if d := scores[i] - want; d > 1e-9 || d < -1e-9 {
			t.Errorf("scores %v", scores)
		}
	}
}
