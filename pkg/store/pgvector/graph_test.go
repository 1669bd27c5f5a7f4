package pgvector

import (
	"slices"
	"testing"

	"kb/pkg/store"
	"kb/pkg/store/pgvector/pgtest"
	"kb/pkg/store/storetest"
)

// TestGraph: the graph finds nearly what comparing all finds, with exact
// scores; behind a filter as many hits as were asked for, and all where few
// pass; also of documents that came later, and not of those that are gone.
func TestGraph(t *testing.T) {
	s, err := New(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.opt.exactBelow = 100
	g := storetest.NewGenerator(36, 24)
	docs := g.Docs(400)
	storetest.Write(t, s, g.Settings(), docs...)
	for i := range 40 {
		docs[i] = g.Doc(docs[i].Path)
	}
	storetest.Write(t, s, g.Settings(), docs[:40]...)
	ref := storetest.NewReference(docs...)
	r := storetest.Open(t, s).(*reader)
	if !r.v.approximatable {
		t.Fatal("no graph was built")
	}
	for _, c := range []struct {
		name   string
		filter store.Filter
		pass   func(*storetest.Doc) bool
		least  float64
	}{
		{"no filter", store.Filter{}, nil, 0.9},
		{"half of the documents", store.Filter{Paths: []string{"notes/a/**", "notes/b/**"}}, func(d *storetest.Doc) bool { return d.Path < "notes/c" }, 0.9},
		{"few documents", store.Filter{Paths: []string{"notes/a/00000?.md"}}, func(d *storetest.Doc) bool { return d.Path < "notes/a/00001" }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, all := 0, 0
			for range 20 {
				q := g.Query()
				want := ref.Nearest(q, 10, c.pass)
				got, err := r.Nearest(t.Context(), q, 10, c.filter)
				if err != nil || len(got) != len(want) {
					t.Fatalf("%d hits, want %d; %v", len(got), len(want), err)
				}
				for _, h := range want {
					all++
					if slices.ContainsFunc(got, func(o store.Scored) bool { return o.Ref == h.Ref && o.Score-h.Score < 1e-9 }) {
						found++
					}
				}
			}
			if recall := float64(found) / float64(all); recall < c.least {
				t.Errorf("recall %.3f", recall)
			}
		})
	}
}
