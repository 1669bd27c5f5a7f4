package modeltest

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"kb/pkg/model"
	"kb/pkg/record"
)

// Embedder checks what [model.Embedder] promises.
func Embedder(t *testing.T, e model.Embedder) {
	t.Helper()
	ctx := t.Context()
	texts := []string{"每天学习 45 分钟", "rotate the keys", "住宿费超标须经审批", "rotate the keys"}
	vectors, err := e.Embed(ctx, model.Document, texts)
	if err != nil {
		t.Fatalf("Embed: %v", err)
	}
	checkVectors(t, vectors, len(texts))
	if e.Batch() < 1 || e.Weight() <= 0 || e.Info().Model == "" {
		t.Errorf("Batch %d, Weight %v, Info %+v", e.Batch(), e.Weight(), e.Info())
	}
	alone, err := e.Embed(ctx, model.Document, texts[2:3])
	if err != nil || dot(alone[0], vectors[2]) < 0.9999 || dot(vectors[1], vectors[3]) < 0.9999 {
		t.Errorf("a text has another vector alone, or twice in a batch (%v)", err)
	}
	partial, err := e.Embed(ctx, model.Query, []string{"超标", " \n　", ""})
	var refused *model.PartialError
	if !errors.As(err, &refused) || len(refused.Reasons) != 2 || len(partial) != 3 || partial[0] == nil || partial[1] != nil || partial[2] != nil {
		t.Errorf("white space: %v, %v", partial, err)
	}
	if none, err := e.Embed(ctx, model.Document, nil); err != nil || len(none) != 0 {
		t.Errorf("no texts: %v, %v", none, err)
	}
	if _, err := e.Embed(cancelled(ctx), model.Document, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func checkVectors(t *testing.T, vectors []record.Vector, n int) {
	t.Helper()
	if len(vectors) != n {
		t.Fatalf("%d vectors for %d texts", len(vectors), n)
	}
	for i, v := range vectors {
		if err := v.Check(); err != nil || len(v) != len(vectors[0]) || math.Abs(dot(v, v)-1) > 1e-5 {
			t.Fatalf("vector %d: %v, dimension %d, squared length %v", i, err, len(v), dot(v, v))
		}
	}
}

func dot(a, b record.Vector) float64 {
	sum := 0.0
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func cancelled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// Generator checks what [model.Generator] promises, on a request that it can
// answer.
func Generator(t *testing.T, g model.Generator, req model.Request) {
	t.Helper()
	text, finish := "", ""
	for e, err := range g.Generate(t.Context(), req) {
		if err != nil {
			t.Fatalf("Generate: %v", err)
		}
		if finish != "" {
			t.Errorf("an event after Finish: %+v", e)
		}
		text += e.Text
		finish = e.Finish
	}
	if strings.TrimSpace(text) == "" || finish == "" || g.Name() == "" {
		t.Errorf("text %q, finish %q, name %q", text, finish, g.Name())
	}
	for range g.Generate(t.Context(), req) {
		break
	}
	for _, err := range g.Generate(cancelled(t.Context()), req) {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		if err == nil && !g.Offline() {
			t.Error("an answer came though the context was cancelled")
		}
	}
}

// Reranker checks what [model.Reranker] promises. The last of the hits must be
// the one that suits the question best.
func Reranker(t *testing.T, r model.Reranker, q *record.Query, hits []*record.Hit) {
	t.Helper()
	scores, err := r.Rerank(t.Context(), q, hits)
	if err != nil {
		t.Fatalf("Rerank: %v", err)
	}
	seen := map[int]float64{}
	for _, s := range scores {
		if _, twice := seen[s.Index]; twice || s.Index < 0 || s.Index >= len(hits) || math.IsNaN(s.Score) || math.IsInf(s.Score, 0) {
			t.Fatalf("score %+v of %d hits", s, len(hits))
		}
		seen[s.Index] = s.Score
	}
	for i := range len(hits) - 1 {
		if s, ok := seen[i]; ok && s >= seen[len(hits)-1] {
			t.Errorf("hit %d has %v, the best one %v", i, s, seen[len(hits)-1])
		}
	}
	if none, err := r.Rerank(t.Context(), q, nil); err != nil || len(none) != 0 {
		t.Errorf("no hits: %v, %v", none, err)
	}
	if r.Name() == "" {
		t.Error("no name")
	}
}
