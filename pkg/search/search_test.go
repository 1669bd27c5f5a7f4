package search

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"kb/pkg/model"
	"kb/pkg/model/offline"
	"kb/pkg/record"
	"kb/pkg/store"
)

// notes is a small index with the offline embedder's vectors.
func notes(t *testing.T, e model.Embedder) *memory {
	t.Helper()
	chunks := []*record.Chunk{
		{Path: "n/a.md", Title: "Birds", Text: "The heron stands in the reeds.", Meta: []byte(`{"tags":["Pond"]}`)},
		{Path: "n/b.md", Title: "Kitchen", Text: "The kettle is on the stove."},
		{Path: "n/c.md", Title: "Codes", Text: "ERR-5023 is a clock that drifted."},
		{Path: "n/d.md", Title: "Codes", Text: "ERR-5032 is a full disk, not ERR-502."},
		{Path: "n/e.md", Title: "Birds", Text: "The heron stands in the reeds."},
		{Path: "n/f.md", Title: "差旅", Text: "超标住宿须经两级审批。"},
	}
	var texts []string
	for i, c := range chunks {
		c.ID = fmt.Sprintf("c%d", i)
		texts = append(texts, c.FullText())
	}
	s := store.Settings{Analyzer: "ngram-1"}
	if e != nil {
		vectors, err := e.Embed(t.Context(), model.Document, texts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range chunks {
			chunks[i].Vector = vectors[i]
		}
		info := e.Info()
		s.Model, s.BaseURL, s.QueryPrefix, s.DocumentPrefix = info.Model, info.BaseURL, info.QueryPrefix, info.DocumentPrefix
	}
	return newMemory(s, chunks...)
}

func find(t *testing.T, m *memory, e model.Embedder, question string, p Params) (*record.Query, []*record.Hit, error) {
	t.Helper()
	s, err := New(Options{Reader: m, Embedder: e})
	if err != nil {
		t.Fatal(err)
	}
	return s.Search(t.Context(), &record.Query{ID: "q", Text: question}, p)
}

func TestEveryModeFindsAndSaysHow(t *testing.T) {
	e := offline.NewEmbedder()
	for _, mode := range []string{ModeAuto, ModeVector, ModeBM25, ModeHybrid} {
		for question, want := range map[string]string{"heron": "n/a.md", "ERR-5023": "n/c.md", "ERR-5032": "n/d.md", "超标审批": "n/f.md"} {
			q, hits, err := find(t, notes(t, e), e, question, Params{Mode: mode})
			if err != nil || len(hits) == 0 || hits[0].Path != want || hits[0].Rank != 1 {
				t.Fatalf("%s %s: %v, %v", mode, question, hits, err)
			}
			h := hits[0]
			if (q.Mode == ModeHybrid) != (h.Scores.RRF != nil && h.Scores.Vector != nil && h.Scores.BM25 != nil) {
				t.Errorf("%s: scores %+v", mode, h.Scores)
			}
			for _, l := range q.Legs {
				if !l.Ran && l.Why == "" {
					t.Errorf("%s: leg %s did not run and does not say why", mode, l.Name)
				}
			}
			if len(q.Legs) != 3 || q.Chunks != 6 || q.Documents != 6 || q.Index != "v1" {
				t.Errorf("%s: query %+v", mode, q)
			}
		}
	}
}

func TestEqualTextsAreShownOnce(t *testing.T) {
	e := offline.NewEmbedder()
	_, hits, err := find(t, notes(t, e), e, "heron", Params{TopK: 10})
	n := 0
	for _, h := range hits {
		if strings.Contains(h.Text, "heron") {
			n++
		}
	}
	if err != nil || n != 1 || hits[0].Path != "n/a.md" {
		t.Errorf("%d hits of one text: %v, %v", n, hits, err)
	}
}

func TestFiltersComeBeforeRanks(t *testing.T) {
	e := offline.NewEmbedder()
	for _, f := range []store.Filter{{Paths: []string{"n/e.*"}}, {Paths: []string{"**/e.md", "x"}}} {
		_, hits, err := find(t, notes(t, e), e, "heron", Params{TopK: 1, Candidates: 1, Filter: f})
		if err != nil || len(hits) != 1 || hits[0].Path != "n/e.md" {
			t.Errorf("%v: %v, %v", f, hits, err)
		}
	}
	_, hits, err := find(t, notes(t, e), e, "heron kettle", Params{Filter: store.Filter{Tags: []string{"#pond"}}})
	if err != nil || len(hits) != 1 || hits[0].Path != "n/a.md" {
		t.Errorf("tag: %v, %v", hits, err)
	}
}

func TestAnotherModelIsRefused(t *testing.T) {
	m := notes(t, offline.NewEmbedder())
	other := &fake{info: model.Info{Model: "other", BaseURL: "http://h/v1"}}
	for _, mode := range []string{ModeAuto, ModeVector, ModeHybrid} {
		_, _, err := find(t, m, other, "heron", Params{Mode: mode})
		var mismatch *MismatchError
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "other at http://h/v1") || !strings.Contains(err.Error(), "kb-hash") {
			t.Errorf("%s: %v", mode, err)
		}
	}
	if _, hits, err := find(t, m, other, "heron", Params{Mode: ModeBM25}); err != nil || len(hits) == 0 {
		t.Errorf("bm25: %v, %v", hits, err)
	}
	if other.calls > 0 {
		t.Error("a request was made all the same")
	}
}

func TestAnEmbedderThatFailsIsNotHidden(t *testing.T) {
	e := &fake{info: model.Info{Model: "m"}}
	m := notes(t, e)
	e.err = errors.New("connection refused")
	var warnings []string
	s, err := New(Options{Reader: m, Embedder: e, Warn: func(w string) { warnings = append(warnings, w) }})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		q, hits, err := s.Search(t.Context(), &record.Query{Text: "heron"}, Params{})
		if err != nil || len(hits) == 0 || q.Mode != ModeBM25 || !strings.Contains(q.Legs[1].Why, "connection refused") {
			t.Fatalf("%+v %v %v", q, hits, err)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "connection refused") {
		t.Errorf("warnings %q", warnings)
	}
	if _, _, err := s.Search(t.Context(), &record.Query{Text: "heron"}, Params{Mode: ModeHybrid}); err == nil {
		t.Error("hybrid, asked for by name, was replaced in silence")
	}
}

func TestAQuestionMayBringItsVector(t *testing.T) {
	e := &fake{info: model.Info{Model: "m", BaseURL: "u"}}
	m := notes(t, e)
	v := record.Vector{3, 4}
	e.calls = 0
	s, _ := New(Options{Reader: m, Embedder: e})
	_, hits, err := s.Search(t.Context(), &record.Query{Text: "x", Vector: v, Model: "m", BaseURL: "u"}, Params{Mode: ModeVector})
	if err != nil || len(hits) == 0 || e.calls != 0 {
		t.Errorf("%v, %v, %d requests", hits, err, e.calls)
	}
	for _, q := range []record.Query{{Text: "x", Vector: v}, {Text: "x", Vector: v, Model: "z"}, {Text: "x", Vector: record.Vector{1}, Model: "m", BaseURL: "u"}, {Text: "x", Vector: record.Vector{0, 0}, Model: "m", BaseURL: "u"}} {
		if _, _, err := s.Search(t.Context(), &q, Params{Mode: ModeVector}); err == nil {
			t.Errorf("%+v was searched", q)
		}
	}
}

func TestConfidenceTellsKnownFromUnknown(t *testing.T) {
	e := offline.NewEmbedder()
	m := notes(t, e)
	known, _, _ := find(t, m, e, "where does the heron stand?", Params{})
	unknown, hits, err := find(t, m, e, "quantum chromodynamics of quarks", Params{})
	if err != nil || *known.Confidence < known.Floor || *unknown.Confidence >= unknown.Floor || len(hits) != 0 {
		t.Errorf("known %v, unknown %v, floor %v, hits %v, %v", *known.Confidence, *unknown.Confidence, known.Floor, hits, err)
	}
	// A semantic embedder may know better than the words do.
	semantic := &fake{info: model.Info{Model: "m"}}
	q, _, err := find(t, notes(t, semantic), semantic, "鹭站在哪里", Params{})
	if err != nil || q.Confidence != nil {
		t.Errorf("a question in another language has confidence %v, %v", q.Confidence, err)
	}
}

func TestOddQuestions(t *testing.T) {
	e := offline.NewEmbedder()
	for _, question := range []string{"*", `"`, "'", `\`, "-x", "NEAR(", "a AND", "什么是", strings.Repeat("heron ", 5000)} {
		if _, _, err := find(t, notes(t, e), e, question, Params{}); err != nil {
			t.Errorf("%.20q: %v", question, err)
		}
	}
	for _, question := range []string{"", "  \n"} {
		if _, _, err := find(t, notes(t, e), e, question, Params{}); !errors.Is(err, ErrEmpty) {
			t.Errorf("%q: %v", question, err)
		}
	}
}

func TestRunAnswersEachLine(t *testing.T) {
	e := offline.NewEmbedder()
	s, _ := New(Options{Reader: notes(t, e), Embedder: e})
	in := func(lines ...string) iter.Seq2[record.Record, error] {
		return func(yield func(record.Record, error) bool) {
			for _, l := range lines {
				r := &record.Raw{}
				if err := record.Decode([]byte(l), r); err != nil || !yield(r, err) {
					return
				}
			}
		}
	}
	var got []string
	for r, err := range s.Run(t.Context(), in(`{"q":"heron","id":"7","user":"lin"}`, `{"kind":"memo"}`, `{"q":"kettle"}`), Params{TopK: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		line, _ := record.Append(nil, r)
		got = append(got, r.Kind())
		if r.Kind() == record.KindQuery && len(got) == 1 && !strings.Contains(string(line), `"id":"7"`) {
			t.Errorf("the question's id is lost: %s", line)
		}
		if len(got) == 1 && !strings.Contains(string(line), `"user":"lin"`) {
			t.Errorf("the question's fields are lost: %s", line)
		}
	}
	if strings.Join(got, " ") != "query hit memo query hit" {
		t.Errorf("got %v", got)
	}
	for _, bad := range []string{`{"q":""}`, `{"q":3}`} {
		failed := false
		for _, err := range s.Run(t.Context(), in(bad), Params{}) {
			failed = failed || err != nil
		}
		if !failed {
			t.Errorf("%s was searched", bad)
		}
	}
}

// fake is a semantic embedder of two dimensions.
type fake struct {
	info  model.Info
	err   error
	calls int
}

func (f *fake) Info() model.Info { return f.info }
func (f *fake) Weight() float64  { return 1 }
func (f *fake) Semantic() bool   { return true }
func (f *fake) Batch() int       { return 8 }
func (f *fake) Embed(_ context.Context, _ model.Purpose, texts []string) ([]record.Vector, error) {
	f.calls++
	if f.err != nil {
		return nil, f.err
	}
	out := make([]record.Vector, len(texts))
	for i := range texts {
		out[i] = record.Vector{0.6, 0.8}
	}
	return out, nil
}
