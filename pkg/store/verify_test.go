package store_test

import (
	"context"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/pkg/store/storetest"
)

// tampered is a reader of an index of which something was changed.
type tampered struct {
	store.Reader
	chunk func(*record.Chunk) *record.Chunk // nil: gone
	df    int                               // too many of each word
	found []store.Scored                    // by vector search, in place of what there is
}

func (r *tampered) Chunks(ctx context.Context, path string, vectors bool) iter.Seq2[*record.Chunk, error] {
	return func(yield func(*record.Chunk, error) bool) {
		for c, err := range r.Reader.Chunks(ctx, path, vectors) {
			if c != nil && r.chunk != nil {
				c = r.chunk(c)
			}
			if (c != nil || err != nil) && !yield(c, err) {
				return
			}
		}
	}
}

func (r *tampered) Lexical(ctx context.Context, terms []string, k int, f store.Filter) (store.Lexical, error) {
	found, err := r.Reader.Lexical(ctx, terms, k, f)
	for _, t := range terms {
		found.DF[t] += r.df
	}
	return found, err
}

func (r *tampered) Nearest(ctx context.Context, q record.Vector, k int, f store.Filter) ([]store.Scored, error) {
	if r.found != nil {
		return r.found, nil
	}
	return r.Reader.Nearest(ctx, q, k, f)
}

func TestVerify(t *testing.T) {
	g := storetest.NewGenerator(1, 8)
	s := flat.New(filepath.Join(t.TempDir(), "index.jsonl.zst"))
	storetest.Write(t, s, g.Settings(), g.Docs(10)...)
	first := func(f func(*record.Chunk) *record.Chunk) func(*record.Chunk) *record.Chunk {
		done := false
		return func(c *record.Chunk) *record.Chunk {
			if done {
				return c
			}
			done = true
			return f(c)
		}
	}
	for _, c := range []struct {
		name string
		with tampered
		want string
	}{
		{"nothing", tampered{}, ""},
		{"a chunk is gone", tampered{chunk: first(func(*record.Chunk) *record.Chunk { return nil })}, " chunks of "},
		{"a text is another", tampered{chunk: first(func(c *record.Chunk) *record.Chunk { c.Text += "!"; return c })}, "not those that were indexed"},
		{"a vector is gone", tampered{chunk: first(func(c *record.Chunk) *record.Chunk { c.Vector = nil; return c })}, " vectors of "},
		{"a vector is shorter", tampered{chunk: first(func(c *record.Chunk) *record.Chunk { c.Vector = c.Vector[:4]; return c })}, "4 dimensions of 8"},
		{"a chunk of no document", tampered{chunk: first(func(c *record.Chunk) *record.Chunk { c.Path = "a"; return c })}, "of no document"},
		{"words", tampered{df: 1}, "by the index"},
		{"vector search", tampered{found: []store.Scored{{Ref: 1, Score: 0.5}}}, "vector search finds 0 of "},
	} {
		c.with.Reader = storetest.Open(t, s)
		report, err := store.Verify(t.Context(), &c.with)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		switch {
		case c.want == "" && (len(report.Faults) > 0 || report.Found != report.Probes || report.Words == 0):
			t.Errorf("%s: %+v", c.name, report)
		case c.want != "" && (len(report.Faults) == 0 || !strings.Contains(report.Faults[0].Error(), c.want)):
			t.Errorf("%s: %v", c.name, report.Faults)
		}
	}
}
