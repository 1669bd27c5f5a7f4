// Package storetest holds the conformance suite that every store passes, the
// plain reference that it compares with, and a generator of documents.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"kb/pkg/record"
	"kb/pkg/store"
)

// tolerance is how far a score may be from the reference: a store may compute
// in float32.
const tolerance = 1e-5

// Run runs the suite. Each call of open returns a new empty store.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"nothing there", testNothing},
		{"everything comes back", testRoundTrip},
		{"nearest", testNearest},
		{"nearest ties", testTies},
		{"lexical", testLexical},
		{"filters", testFilters},
		{"chunks without vectors", testWithoutVectors},
		{"replace and remove", testUpdate},
		{"a reader keeps its version", testSnapshot},
		{"rollback", testRollback},
		{"reset", testReset},
		{"settings are guarded", testSettings},
		{"one writer", testLock},
		{"vectors are checked", testVectors},
		{"version", testVersion},
		{"skipped and roots", testLists},
		{"cancelled", testCancelled},
		{"many goroutines", testConcurrent},
		{"hard texts", testHardTexts},
		{"two writers at once", testTwoWriters},
		{"many changes", testManyChanges},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// Write commits documents, on top of what is there.
func Write(t testing.TB, s store.Store, settings store.Settings, docs ...*Doc) store.Info {
	t.Helper()
	return change(t, s, settings, func(tx store.Tx) {
		for _, d := range docs {
			if err := tx.Put(t.Context(), d.Document, d.Chunks); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func change(t testing.TB, s store.Store, settings store.Settings, f func(store.Tx)) store.Info {
	t.Helper()
	tx := begin(t, s)
	defer tx.Rollback()
	f(tx)
	info, err := tx.Commit(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func begin(t testing.TB, s store.Store) store.Tx {
	t.Helper()
	tx, err := s.Begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// Open opens a store until the end of the test.
func Open(t testing.TB, s store.Store) store.Reader {
	t.Helper()
	r, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func collect[T any](t testing.TB, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func testNothing(t *testing.T, s store.Store) {
	if _, err := s.Open(t.Context()); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("open: %v", err)
	}
	if s.Name() == "" {
		t.Error("no name")
	}
	info := change(t, s, store.Settings{Analyzer: "ngram-2"}, func(tx store.Tx) {
		if tx.Reader() != nil {
			t.Error("a reader of nothing")
		}
		if err := tx.Remove(t.Context(), "no.md"); err != nil {
			t.Error(err)
		}
	})
	if info.Documents != 0 || info.Chunks != 0 || info.Vectors != 0 {
		t.Errorf("%+v", info)
	}
	r := Open(t, s)
	if n := len(collect(t, r.Documents(t.Context()))); n != 0 {
		t.Errorf("%d documents", n)
	}
	if hits, err := r.Nearest(t.Context(), record.Vector{1}, 3, store.Filter{}); err != nil || len(hits) != 0 {
		t.Errorf("nearest: %v, %v", hits, err)
	}
	lex, err := r.Lexical(t.Context(), []string{"x"}, 3, store.Filter{})
	if err != nil || len(lex.Hits) != 0 || lex.N != 0 || lex.DF["x"] != 0 {
		t.Errorf("lexical: %+v, %v", lex, err)
	}
}

func testRoundTrip(t *testing.T, s store.Store) {
	g := NewGenerator(1, 24)
	docs := g.Docs(40)
	docs[3].Chunks[0].Extra = record.Extra{{Key: "unknown", Value: json.RawMessage(`{"a":[1,null]}`)}}
	docs[4].Chunks[0].Text = "quote \" backslash \\ <b>&</b> \u2028 tab \t 🙂 línea\nnext"
	docs[5].Chunks[0].Headings, docs[5].Chunks[0].Page = nil, 7
	docs[6].Meta, docs[6].MediaType = nil, ""
	for _, c := range docs[6].Chunks {
		c.Meta = nil
	}
	docs[7].Chunks, docs[7].Document.Path, docs[7].ID = nil, "notes/empty.md", record.DocumentID("notes/empty.md")
	for _, d := range docs {
		d.Finish()
	}
	ref := NewReference(docs...)
	info := Write(t, s, g.Settings(), docs...)
	r := Open(t, s)
	if got := r.Info(); got.Version != info.Version || got.Documents != 40 || got.Chunks != len(ref.Chunks) || got.Vectors != len(ref.Chunks) || got.Settings != g.Settings() {
		t.Errorf("info: %+v, want %+v", got, info)
	}
	got := collect(t, r.Documents(t.Context()))
	if len(got) != len(ref.Docs) {
		t.Fatalf("%d documents, want %d", len(got), len(ref.Docs))
	}
	for i, d := range ref.Docs {
		if a, b := document(t, got[i]), document(t, d.Document); a != b {
			t.Errorf("document %d:\n%s\n%s", i, a, b)
		}
		sameChunks(t, collect(t, r.Chunks(t.Context(), d.Path, true)), d.Chunks)
	}
	sameChunks(t, collect(t, r.Chunks(t.Context(), "", true)), ref.Chunks)
	if n := len(collect(t, r.Chunks(t.Context(), "notes/none.md", true))); n != 0 {
		t.Errorf("%d chunks of no document", n)
	}
	bare := collect(t, r.Chunks(t.Context(), ref.Docs[0].Path, false))
	if bare[0].Vector != nil || bare[0].Text != ref.Chunks[0].Text {
		t.Error("a vector that was not asked for")
	}
	last := store.Ref(len(ref.Chunks) - 1)
	fetched, err := r.Fetch(t.Context(), []store.Ref{last, 0, 5, last}, true)
	if err != nil {
		t.Fatal(err)
	}
	sameChunks(t, fetched, []*record.Chunk{ref.Chunks[last], ref.Chunks[0], ref.Chunks[5], ref.Chunks[last]})
	if _, err := r.Fetch(t.Context(), []store.Ref{last + 1}, false); err == nil {
		t.Error("fetched a chunk that does not exist")
	}
	verify(t, r)
}

func sameChunks(t testing.TB, got, want []*record.Chunk) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d chunks, want %d", len(got), len(want))
	}
	for i := range want {
		if a, b := chunk(t, got[i]), chunk(t, want[i]); a != b {
			t.Fatalf("chunk %d:\n%s\n%s", i, a, b)
		}
	}
}

// sameHits accepts another order of hits only where the scores are too near to
// tell apart.
func sameHits(t testing.TB, got, want []store.Scored) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d hits, want %d", len(got), len(want))
	}
	for i := range want {
		if math.Abs(got[i].Score-want[i].Score) > tolerance {
			t.Fatalf("hit %d: score %v, want %v", i, got[i].Score, want[i].Score)
		}
		j := slices.IndexFunc(want, func(s store.Scored) bool { return s.Ref == got[i].Ref })
		if j != i && (j >= 0 && math.Abs(want[j].Score-want[i].Score) > 2*tolerance ||
			j < 0 && math.Abs(want[len(want)-1].Score-want[i].Score) > 2*tolerance) {
			t.Fatalf("hit %d: chunk %d, want %d", i, got[i].Ref, want[i].Ref)
		}
	}
}

// testMinCosine sets the limit to what a hit has, just above it, and beyond all.
func testMinCosine(t *testing.T, r store.Reader, ref *Reference, q record.Vector) {
	all := ref.Nearest(q, 15, nil)
	fifth := all[4].Score
	for _, least := range []float64{fifth, math.Nextafter(fifth, 2), 2, -1, 0} {
		want := all
		if least > 0 {
			want = slices.DeleteFunc(slices.Clone(all), func(h store.Scored) bool { return h.Score < least })
		}
		got, err := r.Nearest(t.Context(), q, 15, store.Filter{MinCosine: least})
		if err != nil {
			t.Fatal(err)
		}
		sameHits(t, got, want)
	}
}

func testNearest(t *testing.T, s store.Store) {
	g := NewGenerator(2, 48)
	docs := g.Docs(300)
	ref := NewReference(docs...)
	Write(t, s, g.Settings(), docs...)
	r := Open(t, s)
	for _, k := range []int{1, 4, 20, 100} {
		q := g.Query()
		got, err := r.Nearest(t.Context(), q, k, store.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		sameHits(t, got, ref.Nearest(q, k, nil))
	}
	if got, err := r.Nearest(t.Context(), g.Query(), 0, store.Filter{}); err != nil || len(got) != 0 {
		t.Errorf("k = 0: %v, %v", got, err)
	}
	if _, err := r.Nearest(t.Context(), record.Vector{1, 0}, 3, store.Filter{}); err == nil {
		t.Error("a query of another dimension was accepted")
	}
}

func testTies(t *testing.T, s store.Store) {
	g := NewGenerator(3, 16)
	docs := g.Docs(30)
	v := docs[0].Chunks[0].Vector
	for _, d := range docs {
		for _, c := range d.Chunks {
			c.Vector, c.Text = slices.Clone(v), "same words 相同"
		}
	}
	Write(t, s, g.Settings(), docs...)
	r := Open(t, s)
	got, err := r.Nearest(t.Context(), v, 12, store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range got {
		if h.Ref != store.Ref(i) {
			t.Fatalf("hit %d of equal vectors is chunk %d", i, h.Ref)
		}
	}
}

func testLexical(t *testing.T, s store.Store) {
	g := NewGenerator(4, 0)
	docs := g.Docs(200)
	docs[8].Chunks[0].Text = "ERR-5023 rotate_keys"
	ref := NewReference(docs...)
	Write(t, s, g.Settings(), docs...)
	r := Open(t, s)
	for _, terms := range [][]string{{"w3"}, {"w1", "w7", "w99", "h"}, {"标题", "题", "absent"}, {"err-5023"}, {"absent"}, {}} {
		for _, k := range []int{0, 1, 10, 5000} {
			got, err := r.Lexical(t.Context(), terms, k, store.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			want := ref.Lexical(t, terms, k, nil)
			sameHits(t, got.Hits, want.Hits)
			if got.N != want.N || math.Abs(got.AvgLen-want.AvgLen) > 1e-9 {
				t.Errorf("%q: n %d, average %v; want %d, %v", terms, got.N, got.AvgLen, want.N, want.AvgLen)
			}
			for _, term := range terms {
				if got.DF[term] != want.DF[term] {
					t.Errorf("df of %q: %d, want %d", term, got.DF[term], want.DF[term])
				}
			}
		}
	}
}

func testFilters(t *testing.T, s store.Store) {
	g := NewGenerator(5, 16)
	docs := g.Docs(120)
	ref := NewReference(docs...)
	Write(t, s, g.Settings(), docs...)
	r := Open(t, s)
	tag := store.Tags(docs[50].Meta)[0]
	for _, c := range []struct {
		f    store.Filter
		pass func(*Doc) bool
	}{
		{store.Filter{Paths: []string{"notes/b/*.md", "notes/a/00000?.md"}}, func(d *Doc) bool {
			return strings.HasPrefix(d.Path, "notes/b/") || strings.HasPrefix(d.Path, "notes/a/00000")
		}},
		{store.Filter{Tags: []string{"#ALL", tag}}, func(d *Doc) bool { return slices.Contains(store.Tags(d.Meta), tag) }},
		{store.Filter{Paths: []string{"**/c/**"}, Tags: []string{tag}}, func(d *Doc) bool {
			return strings.HasPrefix(d.Path, "notes/c/") && slices.Contains(store.Tags(d.Meta), tag)
		}},
		{store.Filter{Since: "2040", Until: "2060-03", Tags: []string{"all"}}, func(d *Doc) bool {
			return store.Date(d.Meta) >= "2040" && store.Date(d.Meta) < "2061"
		}},
		{store.Filter{Paths: []string{"elsewhere/*"}}, func(*Doc) bool { return false }},
	} {
		q := g.Query()
		got, err := r.Nearest(t.Context(), q, 15, c.f)
		if err != nil {
			t.Fatal(err)
		}
		sameHits(t, got, ref.Nearest(q, 15, c.pass))
		lex, err := r.Lexical(t.Context(), []string{"w2", "w3"}, 15, c.f)
		if err != nil {
			t.Fatal(err)
		}
		want := ref.Lexical(t, []string{"w2", "w3"}, 15, c.pass)
		sameHits(t, lex.Hits, want.Hits)
		if lex.N != want.N || lex.DF["w3"] != want.DF["w3"] {
			t.Errorf("%+v: n and df must be those of the whole index", c.f)
		}
	}
	testMinCosine(t, r, ref, g.Query())
	if _, err := r.Nearest(t.Context(), g.Query(), 3, store.Filter{Paths: []string{"[a"}}); err == nil {
		t.Error("a broken glob was accepted")
	}
}

func testWithoutVectors(t *testing.T, s store.Store) {
	g := NewGenerator(6, 16)
	docs := g.Docs(20)
	for i, d := range docs {
		for j, c := range d.Chunks {
			if (i+j)%3 == 0 {
				c.Vector, c.Model, c.BaseURL, c.Dim, c.Error = nil, "", "", 0, "refused"
			}
		}
		d.Finish()
	}
	ref := NewReference(docs...)
	info := Write(t, s, g.Settings(), docs...)
	want := ref.Nearest(g.Query(), 1000, nil)
	if info.Vectors != len(want) || info.Chunks != len(ref.Chunks) {
		t.Errorf("%+v", info)
	}
	r := Open(t, s)
	q := g.Query()
	got, err := r.Nearest(t.Context(), q, 1000, store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	sameHits(t, got, ref.Nearest(q, 1000, nil))
	sameChunks(t, collect(t, r.Chunks(t.Context(), "", true)), ref.Chunks)
}

func testUpdate(t *testing.T, s store.Store) {
	g := NewGenerator(7, 16)
	docs := g.Docs(60)
	Write(t, s, g.Settings(), docs...)
	docs[10] = g.Doc(docs[10].Path)
	docs[59] = g.Doc(docs[59].Path)
	first := g.Doc("a/first.md")
	change(t, s, g.Settings(), func(tx store.Tx) {
		for _, d := range []*Doc{docs[10], first, docs[59]} {
			if err := tx.Put(t.Context(), d.Document, d.Chunks); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{docs[20].Path, docs[0].Path, "absent.md"} {
			if err := tx.Remove(t.Context(), path); err != nil {
				t.Fatal(err)
			}
		}
	})
	docs = append(slices.Delete(slices.Delete(docs, 20, 21), 0, 1), first)
	check(t, s, g, NewReference(docs...))

	// The last word on a path counts.
	again := g.Doc(docs[5].Path)
	change(t, s, g.Settings(), func(tx store.Tx) {
		tx.Remove(t.Context(), again.Path)
		tx.Put(t.Context(), docs[5].Document, docs[5].Chunks)
		tx.Put(t.Context(), again.Document, again.Chunks)
		tx.Put(t.Context(), docs[6].Document, docs[6].Chunks)
		tx.Remove(t.Context(), docs[6].Path)
	})
	docs[5] = again
	docs = slices.Delete(docs, 6, 7)
	check(t, s, g, NewReference(docs...))
}

// check compares everything that a store answers with the reference.
func check(t testing.TB, s store.Store, g *Generator, ref *Reference) {
	t.Helper()
	checkReader(t, Open(t, s), g, ref)
}

// verify reads all of an index that is whole.
func verify(t testing.TB, r store.Reader) {
	t.Helper()
	report, err := store.Verify(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Faults) > 0 || report.Found < report.Probes {
		t.Errorf("verified: %+v", report)
	}
}

func checkReader(t testing.TB, r store.Reader, g *Generator, ref *Reference) {
	t.Helper()
	sameChunks(t, collect(t, r.Chunks(t.Context(), "", true)), ref.Chunks)
	if n := len(collect(t, r.Documents(t.Context()))); n != len(ref.Docs) || r.Info().Documents != n || r.Info().Chunks != len(ref.Chunks) {
		t.Fatalf("%d documents, want %d; %+v", n, len(ref.Docs), r.Info())
	}
	if g.Dim > 0 {
		q := g.Query()
		got, err := r.Nearest(t.Context(), q, 10, store.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		sameHits(t, got, ref.Nearest(q, 10, nil))
	}
	terms := []string{"w1", "w5", "w31", "标题"}
	got, err := r.Lexical(t.Context(), terms, 10, store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	want := ref.Lexical(t, terms, 10, nil)
	sameHits(t, got.Hits, want.Hits)
	if got.AvgLen != want.AvgLen || got.DF["w5"] != want.DF["w5"] {
		t.Fatalf("average %v, df %v; want %v, %v", got.AvgLen, got.DF, want.AvgLen, want.DF)
	}
}

func testSnapshot(t *testing.T, s store.Store) {
	g := NewGenerator(8, 16)
	docs := g.Docs(20)
	ref := NewReference(docs...)
	Write(t, s, g.Settings(), docs...)
	r := Open(t, s)
	tx := begin(t, s)
	defer tx.Rollback()
	if err := tx.Remove(t.Context(), docs[0].Path); err != nil {
		t.Fatal(err)
	}
	check(t, s, g, ref) // not visible before the commit
	if _, err := tx.Commit(t.Context(), g.Settings()); err != nil {
		t.Fatal(err)
	}
	check(t, s, g, NewReference(docs[1:]...))
	checkReader(t, r, g, ref)
	change(t, s, g.Settings(), func(tx store.Tx) { tx.Reset() })
	checkReader(t, r, g, ref)
}

func testRollback(t *testing.T, s store.Store) {
	g := NewGenerator(9, 8)
	docs := g.Docs(6)
	Write(t, s, g.Settings(), docs[:5]...)
	tx := begin(t, s)
	if err := tx.Put(t.Context(), docs[5].Document, docs[5].Chunks); err != nil {
		t.Fatal(err)
	}
	tx.Rollback()
	tx.Rollback()
	if _, err := tx.Commit(t.Context(), g.Settings()); err == nil {
		t.Error("a commit after a rollback")
	}
	check(t, s, g, NewReference(docs[:5]...))
	tx = begin(t, s)
	if _, err := tx.Commit(t.Context(), g.Settings()); err != nil {
		t.Fatal(err)
	}
	tx.Rollback()
	check(t, s, g, NewReference(docs[:5]...))
}

func testReset(t *testing.T, s store.Store) {
	g := NewGenerator(10, 8)
	docs := g.Docs(10)
	Write(t, s, g.Settings(), docs...)
	h := NewGenerator(11, 32)
	fresh := h.Docs(7)
	settings := h.Settings()
	settings.Model = "another"
	for _, d := range fresh {
		for _, c := range d.Chunks {
			c.Model = "another"
		}
	}
	change(t, s, settings, func(tx store.Tx) {
		tx.Put(t.Context(), docs[0].Document, docs[0].Chunks)
		tx.Reset()
		if n := len(collect(t, tx.Reader().Documents(t.Context()))); n != 10 {
			t.Errorf("%d documents in the version before", n)
		}
		for _, d := range fresh {
			if err := tx.Put(t.Context(), d.Document, d.Chunks); err != nil {
				t.Fatal(err)
			}
		}
	})
	check(t, s, h, NewReference(fresh...))
	if got := Open(t, s).Info().Settings; got != settings {
		t.Errorf("settings %+v", got)
	}
}

func testSettings(t *testing.T, s store.Store) {
	g := NewGenerator(12, 8)
	docs := g.Docs(5)
	Write(t, s, g.Settings(), docs...)
	for _, f := range []func(*store.Settings){
		func(s *store.Settings) { s.Model = "another" },
		func(s *store.Settings) { s.BaseURL = "https://else.example" },
		func(s *store.Settings) { s.DocumentPrefix = "passage: " },
		func(s *store.Settings) { s.Dim = 9 },
	} {
		settings := g.Settings()
		f(&settings)
		tx := begin(t, s)
		if _, err := tx.Commit(t.Context(), settings); err == nil {
			t.Errorf("%+v was accepted", settings)
		}
		tx.Rollback()
	}
	settings := g.Settings()
	settings.Calibration = &store.Calibration{Confidence: "c-1", Floor: 0.31, Questions: 40, Precision: 0.9, Recall: 0.8, FalseRatio: 0.02, Slope: 50, Middle: 0.04}
	before := Open(t, s).Info().Version
	change(t, s, settings, func(store.Tx) {})
	got := Open(t, s).Info()
	if got.Calibration == nil || *got.Calibration != *settings.Calibration || got.Version == before {
		t.Errorf("%+v", got)
	}
	check(t, s, g, NewReference(docs...))
}

func testLock(t *testing.T, s store.Store) {
	tx := begin(t, s)
	if _, err := s.Begin(t.Context(), false); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("a second writer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Begin(ctx, true); err == nil || errors.Is(err, store.ErrLocked) {
		t.Fatalf("a cancelled writer: %v", err)
	}
	second := make(chan error)
	go func() {
		tx, err := s.Begin(context.Background(), true)
		if err == nil {
			tx.Rollback()
		}
		second <- err
	}()
	tx.Rollback()
	if err := <-second; err != nil {
		t.Fatal(err)
	}
}

func testVectors(t *testing.T, s store.Store) {
	g := NewGenerator(13, 4)
	docs := g.Docs(3)
	tx := begin(t, s)
	defer tx.Rollback()
	if err := tx.Put(t.Context(), docs[0].Document, docs[0].Chunks); err != nil {
		t.Fatal(err)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range []record.Vector{{0, 0, 0, 0}, {1, nan, 0, 0}, {inf, 0, 0, 0}, {1, 0, 0}} {
		bad := g.Doc("notes/bad.md")
		bad.Chunks[0].Vector = v
		bad.Finish()
		err := tx.Put(t.Context(), bad.Document, bad.Chunks)
		if err == nil || !strings.Contains(err.Error(), "notes/bad.md") || !strings.Contains(err.Error(), "chunk 1") {
			t.Errorf("%v: %v", v, err)
		}
	}
	long := g.Doc("notes/long.md")
	long.Chunks = long.Chunks[:1]
	long.Chunks[0].Vector = record.Vector{3, 0, 4, 0}
	long.Finish()
	if err := tx.Put(t.Context(), long.Document, long.Chunks); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context(), g.Settings()); err != nil {
		t.Fatal(err)
	}
	tx = begin(t, s)
	defer tx.Rollback()
	other := NewGenerator(13, 5).Doc("notes/other.md")
	if err := tx.Put(t.Context(), other.Document, other.Chunks); err == nil || !strings.Contains(err.Error(), "notes/other.md") {
		t.Errorf("a vector of another dimension than those of the index: %v", err)
	}
	r := Open(t, s)
	for _, c := range collect(t, r.Chunks(t.Context(), "notes/long.md", true)) {
		if want := (record.Vector{0.6, 0, 0.8, 0}); !slices.Equal(c.Vector, want) {
			t.Errorf("%v, want %v", c.Vector, want)
		}
	}
	if r.Info().Documents != 2 {
		t.Errorf("%+v", r.Info())
	}
}

func testVersion(t *testing.T, s store.Store) {
	g := NewGenerator(14, 8)
	docs := g.Docs(12)
	whole := Write(t, s, g.Settings(), docs...).Version
	without := change(t, s, g.Settings(), func(tx store.Tx) { tx.Remove(t.Context(), docs[4].Path) }).Version
	if whole == "" || whole == without {
		t.Fatalf("versions %q and %q", whole, without)
	}
	if again := Write(t, s, g.Settings(), docs[4]).Version; again != whole {
		t.Errorf("the same content has the versions %q and %q", whole, again)
	}
	d := *docs[4]
	d.Hash = strings.Repeat("0", 64)
	if v := Write(t, s, g.Settings(), &d).Version; v == whole {
		t.Error("another hash, the same version")
	}
}

func testLists(t *testing.T, s store.Store) {
	g := NewGenerator(15, 0)
	skipped := []record.Skipped{
		{Path: "notes/z.pdf", Root: "notes", Reason: "password", Class: record.ClassPassword, Hash: "ab"},
		{Path: "notes/b.bin", Root: "notes", Reason: "not text", Class: record.ClassBinary},
	}
	roots := []record.Root{{Path: "notes", Documents: 3, Skipped: 2}, {Path: "docs", Documents: 1}}
	change(t, s, g.Settings(), func(tx store.Tx) {
		tx.SetSkipped(skipped)
		tx.SetRoots(roots)
	})
	for range 2 {
		r := Open(t, s)
		gotS, gotR := collect(t, r.Skipped(t.Context())), collect(t, r.Roots(t.Context()))
		if len(gotS) != 2 || line(t, &gotS[0]) != line(t, &skipped[1]) || line(t, &gotS[1]) != line(t, &skipped[0]) {
			t.Fatalf("%+v", gotS)
		}
		if len(gotR) != 2 || line(t, &gotR[0]) != line(t, &roots[1]) || line(t, &gotR[1]) != line(t, &roots[0]) {
			t.Fatalf("%+v", gotR)
		}
		Write(t, s, g.Settings(), g.Doc("notes/a.md")) // leaves the lists alone
	}
	change(t, s, g.Settings(), func(tx store.Tx) { tx.SetSkipped(nil) })
	r := Open(t, s)
	if n, m := len(collect(t, r.Skipped(t.Context()))), len(collect(t, r.Roots(t.Context()))); n != 0 || m != 2 {
		t.Errorf("%d skipped, %d roots", n, m)
	}
}

func testCancelled(t *testing.T, s store.Store) {
	g := NewGenerator(16, 8)
	docs := g.Docs(10)
	Write(t, s, g.Settings(), docs...)
	r := Open(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Nearest(ctx, g.Query(), 3, store.Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("nearest: %v", err)
	}
	if _, err := r.Lexical(ctx, []string{"w1"}, 3, store.Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("lexical: %v", err)
	}
	if _, err := r.Fetch(ctx, []store.Ref{0}, false); !errors.Is(err, context.Canceled) {
		t.Errorf("fetch: %v", err)
	}
	tx := begin(t, s)
	tx.Remove(t.Context(), docs[0].Path)
	if _, err := tx.Commit(ctx, g.Settings()); !errors.Is(err, context.Canceled) {
		t.Errorf("commit: %v", err)
	}
	tx.Rollback()
	check(t, s, g, NewReference(docs...))
}

func testConcurrent(t *testing.T, s store.Store) {
	g := NewGenerator(17, 16)
	docs := g.Docs(50)
	ref := NewReference(docs...)
	Write(t, s, g.Settings(), docs...)
	r := Open(t, s)
	q := g.Query()
	want := ref.Nearest(q, 5, nil)
	terms := []string{"w1", "w2"}
	wantLex := ref.Lexical(t, terms, 5, nil)
	errs := make(chan error, 64)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				hits, err := r.Nearest(t.Context(), q, 5, store.Filter{Tags: []string{"all"}})
				if err != nil || len(hits) != 5 || hits[0].Ref != want[0].Ref {
					errs <- fmt.Errorf("nearest: %v, %v", hits, err)
					return
				}
				lex, err := r.Lexical(t.Context(), terms, 5, store.Filter{})
				if err != nil || len(lex.Hits) != 5 || lex.Hits[0].Ref != wantLex.Hits[0].Ref {
					errs <- fmt.Errorf("lexical: %v, %v", lex, err)
					return
				}
				if chunks, err := r.Fetch(t.Context(), []store.Ref{hits[0].Ref}, true); err != nil || chunks[0].ID != ref.Chunks[hits[0].Ref].ID {
					errs <- fmt.Errorf("fetch: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

// Check compares everything that a store answers with the reference.
func Check(t testing.TB, s store.Store, g *Generator, ref *Reference) {
	t.Helper()
	check(t, s, g, ref)
}

// testHardTexts: what some engines cannot store, or not index, as it is.
func testHardTexts(t *testing.T, s store.Store) {
	g := NewGenerator(18, 8)
	docs := g.Docs(6)
	word := strings.Repeat("verylong", 700)
	for i, text := range []string{"zero \x00 byte w1", word + " w1", strings.Repeat("w1 长文 ", 30_000), "", "' \" \\ $1 %s {} \\N \\x00\tw1", "\ufffd\U0001F642\u202e\ufeff w1"} {
		d := docs[i]
		d.Title, d.Meta = "title \x00 "+d.Title, json.RawMessage(`{"tags":["t\u0000","All"],"a \"b\"":"\\ \u0000"}`)
		for _, c := range d.Chunks {
			c.Text, c.Title, c.Meta, c.Headings = text, d.Title, d.Meta, []string{"h \x00", "'"}
			c.Extra = record.Extra{{Key: "odd \x00 \" key", Value: json.RawMessage(`"\u0000"`)}}
		}
		d.Finish()
	}
	Write(t, s, g.Settings(), docs...)
	ref := NewReference(docs...)
	check(t, s, g, ref)
	r := Open(t, s)
	for _, terms := range [][]string{{word, "w1"}, {"\x00", "w1", "'", "\xff"}} {
		got, err := r.Lexical(t.Context(), terms, 10, store.Filter{Tags: []string{"t\x00"}})
		if err != nil {
			t.Fatal(err)
		}
		want := ref.Lexical(t, terms, 10, nil)
		sameHits(t, got.Hits, want.Hits)
		if got.DF[terms[0]] != want.DF[terms[0]] {
			t.Errorf("df %v, want %v", got.DF, want.DF)
		}
	}
	verify(t, r)
}

func testTwoWriters(t *testing.T, s store.Store) {
	g := NewGenerator(19, 8)
	docs := g.Docs(12)
	errs := make(chan error, 2)
	var looked sync.WaitGroup
	looked.Add(2)
	for writer := range 2 {
		go func() {
			errs <- func() error {
				_, err := s.Open(context.Background()) // both have seen that there is nothing
				looked.Done()
				looked.Wait()
				if !errors.Is(err, store.ErrNotFound) {
					return err
				}
				if err := store.CheckWritable(s); err != nil {
					return err
				}
				for i := writer; i < len(docs); i += 2 {
					tx, err := s.Begin(context.Background(), false)
					if errors.Is(err, store.ErrLocked) {
						tx, err = s.Begin(context.Background(), true)
					}
					if err != nil {
						return err
					}
					defer tx.Rollback()
					if err := tx.Put(context.Background(), docs[i].Document, docs[i].Chunks); err != nil {
						return err
					}
					if _, err := tx.Commit(context.Background(), g.Settings()); err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	check(t, s, g, NewReference(docs...))
}

// testManyChanges: after any sequence of changes a store answers as if it had
// been written at once, and so do readers of earlier versions.
func testManyChanges(t *testing.T, s store.Store) {
	g := NewGenerator(20, 8)
	g.Words = 8
	now := map[string]*Doc{}
	var (
		reader store.Reader
		then   *Reference
	)
	for step := range 14 {
		change(t, s, g.Settings(), func(tx store.Tx) {
			if step == 9 {
				tx.Reset()
				clear(now)
			}
			for range 12 {
				path := fmt.Sprintf("notes/%02d.md", g.rng.IntN(40))
				if g.rng.IntN(3) == 0 {
					delete(now, path)
					if err := tx.Remove(t.Context(), path); err != nil {
						t.Fatal(err)
					}
					continue
				}
				now[path] = g.Doc(path)
				if err := tx.Put(t.Context(), now[path].Document, now[path].Chunks); err != nil {
					t.Fatal(err)
				}
			}
		})
		ref := NewReference(slices.Collect(maps.Values(now))...)
		check(t, s, g, ref)
		if reader != nil {
			checkReader(t, reader, g, then)
		}
		if step%4 == 1 {
			reader, then = Open(t, s), ref
		}
	}
	verify(t, Open(t, s))
}
