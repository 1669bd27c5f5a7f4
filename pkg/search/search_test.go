package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kb/pkg/model"
	"kb/pkg/model/offline"
	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/text"
)

// neural stands for a semantic model: it puts the texts that it knows onto
// vectors of three dimensions.
type neural struct {
	info  model.Info
	knows map[string]record.Vector
	err   error
	calls int
}

func (n *neural) Info() model.Info { return n.info }
func (n *neural) Weight() float64  { return 1 }
func (n *neural) Semantic() bool   { return true }
func (n *neural) Batch() int       { return 8 }
func (n *neural) Embed(_ context.Context, _ model.Purpose, texts []string) ([]record.Vector, error) {
	n.calls++
	if n.err != nil {
		return nil, n.err
	}
	return []record.Vector{n.knows[texts[0]]}, nil
}

var remote = model.Info{Model: "m", BaseURL: "http://e/v1", QueryPrefix: "q: "}

func settings(m model.Info) store.Settings {
	return store.Settings{Model: m.Model, BaseURL: m.BaseURL, QueryPrefix: m.QueryPrefix,
		DocumentPrefix: m.DocumentPrefix, Analyzer: text.DefaultAnalyzer}
}

func chunk(path, body string, v ...float32) *record.Chunk {
	return &record.Chunk{ID: path, Path: path, Text: body, Vector: v}
}

// offlineIndex is an index that the offline embedder made.
func offlineIndex(t *testing.T, chunks ...*record.Chunk) Options {
	t.Helper()
	e := offline.NewEmbedder()
	for _, c := range chunks {
		v, err := e.Embed(context.Background(), model.Document, []string{c.FullText()})
		if err != nil {
			t.Fatal(err)
		}
		c.Vector = v[0]
	}
	return Options{Reader: newMemory(settings(e.Info()), chunks...), Embedder: e}
}

func searcher(t *testing.T, o Options) *Searcher {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(t *testing.T, o Options, question string, p Params) (*record.Query, []*record.Hit) {
	t.Helper()
	q, hits, err := searcher(t, o).Search(context.Background(), &record.Query{Text: question}, p)
	if err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	return q, hits
}

func paths(hits []*record.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.Path)
	}
	return strings.Join(out, " ")
}

func legs(q *record.Query) string {
	var out []string
	for _, l := range q.Legs {
		s := l.Name
		if l.Ran && l.Weight != 0 {
			s += fmt.Sprintf(" %g", l.Weight)
		}
		if !l.Ran {
			s += " (" + l.Why + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestModes(t *testing.T) {
	const question = "how are keys rotated"
	vectors := Options{
		Reader: newMemory(settings(remote),
			chunk("a", "keys are rotated once a month", 1, 0, 0),
			chunk("b", "每月轮换密钥", 0, 1, 0),
			chunk("c", "lunch is at noon", 0, 0, 1)),
		Embedder: &neural{info: remote, knows: map[string]record.Vector{question: {0.6, 0.8, 0}}},
	}
	none := Options{Reader: newMemory(store.Settings{}, chunk("a", "keys are rotated once a month"))}
	for _, c := range []struct {
		name, mode string
		o          Options
		ran, paths string
		legs       string
	}{
		{"auto with vectors", "", vectors, ModeHybrid, "a b c", "bm25 1, vector 1, rerank (not asked for)"},
		{"hybrid", ModeHybrid, vectors, ModeHybrid, "a b c", "bm25 1, vector 1, rerank (not asked for)"},
		{"vector", ModeVector, vectors, ModeVector, "b a c", "bm25 (mode vector), vector, rerank (not asked for)"},
		{"bm25", ModeBM25, vectors, ModeBM25, "a", "bm25, vector (mode bm25), rerank (not asked for)"},
		{"auto without vectors", ModeAuto, none, ModeBM25, "a", "bm25, vector (the index has no vectors), rerank (not asked for)"},
		{"auto without embedder", ModeAuto, Options{Reader: vectors.Reader}, ModeBM25, "a", "bm25, vector (no embedder is configured), rerank (not asked for)"},
		{"empty index", ModeHybrid, Options{Reader: newMemory(store.Settings{})}, ModeHybrid, "", "bm25, vector (the index is empty), rerank (not asked for)"},
	} {
		q, hits := ask(t, c.o, question, Params{Mode: c.mode})
		if q.Mode != c.ran || paths(hits) != c.paths || legs(q) != c.legs {
			t.Errorf("%s: mode %s, hits %s, legs %s", c.name, q.Mode, paths(hits), legs(q))
		}
		info := c.o.Reader.Info()
		if q.Chunks != info.Chunks || q.Documents != info.Documents || q.Index != info.Version || q.Analyzer != text.DefaultAnalyzer {
			t.Errorf("%s: %+v", c.name, q)
		}
		for i, h := range hits {
			if h.Rank != i+1 || h.Query != q.ID || i > 0 && h.Score > hits[i-1].Score {
				t.Errorf("%s: hit %d: %+v", c.name, i, h)
			}
		}
	}
	for _, mode := range []string{ModeVector, ModeHybrid} {
		_, _, err := searcher(t, none).Search(context.Background(), &record.Query{Text: "x"}, Params{Mode: mode})
		if !errors.Is(err, ErrNoVectors) {
			t.Errorf("%s without vectors: %v", mode, err)
		}
	}
}

// Where both legs ran, a hit has both scores, whichever leg brought it, and
// they are those that the other leg would have given it.
func TestBothScores(t *testing.T) {
	var chunks []*record.Chunk
	for i := range 8 {
		v := record.Vector{float32(math.Cos(float64(i) / 5)), float32(math.Sin(float64(i) / 5)), 0}
		chunks = append(chunks, chunk(fmt.Sprint(i), strings.Repeat("key ", i)+strings.Repeat("lock ", 9-i), v...))
	}
	o := Options{Reader: newMemory(settings(remote), chunks...),
		Embedder: &neural{info: remote, knows: map[string]record.Vector{"key": {1, 0, 0}}}}
	_, all := ask(t, o, "key", Params{TopK: 8})
	want := map[string]record.Scores{}
	for _, h := range all {
		want[h.ID] = h.Scores
	}
	_, hits := ask(t, o, "key", Params{TopK: 3, Candidates: 3})
	if len(hits) != 3 {
		t.Fatalf("%d hits", len(hits))
	}
	for _, h := range hits {
		if h.Scores.Vector == nil || h.Scores.BM25 == nil || h.Scores.RRF == nil {
			t.Fatalf("hit %s lacks a score: %+v", h.ID, h.Scores)
		}
		if w := want[h.ID]; *h.Scores.Vector != *w.Vector || *h.Scores.BM25 != *w.BM25 {
			t.Errorf("hit %s: vector %v and bm25 %v, want %v and %v", h.ID, *h.Scores.Vector, *h.Scores.BM25, *w.Vector, *w.BM25)
		}
	}
}

func TestOwnVector(t *testing.T) {
	e := &neural{info: model.Info{Model: "another"}}
	o := Options{Reader: newMemory(settings(remote), chunk("a", "x", 1, 0, 0), chunk("b", "y", 0, 1, 0)), Embedder: e}
	search := func(q *record.Query) ([]*record.Hit, error) {
		q.Text = "z"
		_, hits, err := searcher(t, o).Search(context.Background(), q, Params{Mode: ModeVector})
		return hits, err
	}
	hits, err := search(&record.Query{Vector: record.Vector{0, 5, 0}, Model: remote.Model, BaseURL: remote.BaseURL,
		QueryPrefix: remote.QueryPrefix, DocumentPrefix: remote.DocumentPrefix})
	if err != nil || paths(hits) != "b a" || math.Abs(hits[0].Score-1) > 1e-6 || e.calls != 0 {
		t.Errorf("hits %s, %v, %d requests", paths(hits), err, e.calls)
	}
	var mismatch *MismatchError
	if _, err := search(&record.Query{Vector: record.Vector{0, 1, 0}, Model: remote.Model, BaseURL: remote.BaseURL}); !errors.As(err, &mismatch) {
		t.Errorf("a vector without the index's prefix: %v", err)
	}
	if _, err := search(&record.Query{Vector: record.Vector{0, 1, 0}, Model: "another"}); !errors.As(err, &mismatch) {
		t.Errorf("a vector of another model: %v", err)
	}
	for _, q := range []*record.Query{
		{Vector: record.Vector{0, 1, 0}},
		{Vector: record.Vector{0, 1}, Model: remote.Model, BaseURL: remote.BaseURL},
		{Vector: record.Vector{0, 0, 0}, Model: remote.Model, BaseURL: remote.BaseURL},
	} {
		if _, err := search(q); err == nil {
			t.Errorf("no error for %+v", q)
		}
	}
}

func TestFingerprint(t *testing.T) {
	index := newMemory(settings(remote), chunk("a", "word", 1, 0, 0))
	for _, c := range []struct {
		config model.Info
		says   string
	}{
		{model.Info{Model: "other", BaseURL: remote.BaseURL, QueryPrefix: "q: "}, "model m at http://e/v1, but the configured model is other at http://e/v1"},
		{model.Info{Model: "m", QueryPrefix: "q: "}, "the configured model is m (offline)"},
		{model.Info{Model: "m", BaseURL: remote.BaseURL}, `query prefix "q: ", but "" is configured`},
		{model.Info{Model: "m", BaseURL: remote.BaseURL, QueryPrefix: "q: ", DocumentPrefix: "d"}, `document prefix "", but "d" is configured`},
	} {
		e := &neural{info: c.config}
		s := searcher(t, Options{Reader: index, Embedder: e})
		for _, mode := range []string{ModeAuto, ModeVector, ModeHybrid} {
			_, _, err := s.Search(context.Background(), &record.Query{Text: "word"}, Params{Mode: mode})
			var mismatch *MismatchError
			if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), c.says) || e.calls > 0 {
				t.Errorf("%s: %v after %d requests, want %q", mode, err, e.calls, c.says)
			}
			if early := s.Check(Params{Mode: mode}); !errors.As(early, &mismatch) {
				t.Errorf("%s: Check says %v", mode, early)
			}
		}
		if _, hits := ask(t, Options{Reader: index, Embedder: e}, "word", Params{Mode: ModeBM25}); paths(hits) != "a" || s.Check(Params{Mode: ModeBM25}) != nil {
			t.Errorf("bm25 needs no embedder, but found %q", paths(hits))
		}
	}
}

func TestEmbeddingFails(t *testing.T) {
	var warnings []string
	o := Options{
		Reader:   newMemory(settings(remote), chunk("a", "word", 1, 0, 0)),
		Embedder: &neural{info: remote, err: errors.New("connection refused")},
		Warn:     func(m string) { warnings = append(warnings, m) },
	}
	s := searcher(t, o)
	for range 2 {
		q, hits, err := s.Search(context.Background(), &record.Query{Text: "word"}, Params{})
		if err != nil || paths(hits) != "a" || q.Mode != ModeBM25 || !strings.Contains(legs(q), "vector (the question could not be embedded: connection refused)") {
			t.Errorf("auto: %v, hits %s, legs %s", err, paths(hits), legs(q))
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "connection refused") {
		t.Errorf("warnings %q", warnings)
	}
	for _, mode := range []string{ModeVector, ModeHybrid} {
		if _, _, err := s.Search(context.Background(), &record.Query{Text: "word"}, Params{Mode: mode}); err == nil {
			t.Errorf("%s: no error", mode)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := s.Search(ctx, &record.Query{Text: "word"}, Params{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestExactIdentifiers(t *testing.T) {
	o := offlineIndex(t,
		chunk("e2", "ERR-5032 ERR-5032 ERR-5032 err err valve"),
		chunk("e1", "a long note on many other things, and at its end that ERR-5023 means the valve of the second boiler is shut"),
		chunk("f1", "call rotate_keys() once per month, whatever else the schedule of the team may say about it"),
		chunk("f2", "rotate the keys, keys to rotate, rotate keys, keys keys rotate"),
		chunk("h1", "use parseHTTPHeader to split the line"),
		chunk("o1", "pass --fail-fast to stop at the first error of a long run of tests"),
		chunk("o2", "fail fast, fast fail, fail, fast"),
		chunk("v2", "v2.1.10 v2.1.10 v2.1.10 fixes 10 and 1"),
		chunk("v1", "the release v2.10.1 fixes the clock, the radio, the lamp and everything that was broken before it"),
	)
	for question, want := range map[string]string{
		"ERR-5023": "e1", "ERR-5032": "e2", "err5023": "e1", "5023": "e1", "v2.10.1": "v1", "v2.1.10": "v2",
		"rotate_keys": "f1", "HTTPHeader": "h1", `"--fail-fast"`: "o1", "ＥＲＲ－５０２３": "e1",
	} {
		for _, mode := range []string{ModeAuto, ModeBM25} {
			if _, hits := ask(t, o, question, Params{Mode: mode}); len(hits) == 0 || hits[0].Path != want {
				t.Errorf("%s by %s: %s, want %s first", question, mode, paths(hits), want)
			}
		}
	}
	for _, question := range []string{`"`, "'", "*", `\`, "（）"} {
		for _, mode := range []string{ModeAuto, ModeBM25, ModeVector} {
			if _, hits := ask(t, o, question, Params{Mode: mode}); len(hits) != 0 {
				t.Errorf("%s by %s: %s", question, mode, paths(hits))
			}
		}
	}
	for _, question := range []string{"-x", "NEAR(", "a AND", "zebra", "什么是", strings.Repeat("valve ", 5000)} {
		ask(t, o, question, Params{})
	}
	if _, _, err := searcher(t, o).Search(context.Background(), &record.Query{Text: " \n"}, Params{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("empty question: %v", err)
	}
}

// Among other words, too, an identifier counts first, and its parts count for
// nothing where the index knows the whole.
func TestIdentifierAmongWords(t *testing.T) {
	o := offlineIndex(t,
		chunk("other", "error messages: what an error is, and which error message is for whom; ERR-4113"),
		chunk("wanted", "ERR-5023 says that the clock of the host is wrong by more than it may be, so look at the time server of the site"),
		chunk("code", "E1001: the lid of the boiler is open"),
		chunk("lid", "the lid of the boiler, and how to open the lid; boiler lids"),
	)
	for question, want := range map[string]string{
		"ERR-5023: which error message is it?": "wanted [err-5023]",
		"error message ERR-9999":               "other []",
		"open the boiler lid at E1001":         "code [e1001]",
	} {
		q, hits := ask(t, o, question, Params{})
		if got := fmt.Sprint(hits[0].Path, " ", q.Identifiers); got != want {
			t.Errorf("%s: %s first, want %s", question, got, want)
		}
	}
	if _, hits := ask(t, o, "open the boiler lid at E1001", Params{Candidates: 1, TopK: 1}); hits[0].Path != "code" {
		t.Errorf("with one candidate: %s", paths(hits))
	}
}

// An identifier that many chunks hold says little of what is asked about it, and
// one that many chunks name often must not hide the one that answers.
func TestCommonIdentifier(t *testing.T) {
	for _, n := range []int{1, 5, 10, 19, 23, 40} {
		chunks := []*record.Chunk{chunk("wanted", "To drain a node, cordon it first; with k8s that takes a minute, and no pod is lost.")}
		for i := range n {
			chunks = append(chunks, chunk(fmt.Sprint("other", i), fmt.Sprintf("k8s in release %d: the k8s team moved the k8s dashboard to room %d.", i, i*7)))
		}
		q, hits := ask(t, offlineIndex(t, chunks...), "how do I drain a node in k8s?", Params{})
		if hits[0].Path != "wanted" || *q.Confidence < 0.5 {
			t.Errorf("beside %d chunks that name it often: %v first, confidence %v", n, hits[0].Path, *q.Confidence)
		}
	}
}

// An identifier alone is looked up by BM25, however sure a neural model is of
// something else.
func TestExactIdentifierWithSemanticModel(t *testing.T) {
	o := Options{
		Reader:   newMemory(settings(remote), chunk("e2", "ERR-5032", 1, 0, 0), chunk("e3", "ERR-5033", 0.8, 0.6, 0), chunk("e1", "ERR-5023 and more", 0, 0, 1)),
		Embedder: &neural{info: remote, knows: map[string]record.Vector{"ERR-5023": {1, 0, 0}}},
	}
	for _, p := range []Params{{}, {TopK: 1, Candidates: 1}} {
		if q, hits := ask(t, o, "ERR-5023", p); hits[0].Path != "e1" {
			t.Errorf("%+v: %s, legs %s", p, paths(hits), legs(q))
		}
	}
}

func TestRepeatedTextsAndLimits(t *testing.T) {
	var chunks []*record.Chunk
	for i := range 30 {
		chunks = append(chunks, chunk(fmt.Sprintf("copy%02d", i), "the same key text"))
	}
	chunks = append(chunks, chunk("other1", "a key and other words here"), chunk("other2", "another key with many more words in it"))
	o := offlineIndex(t, chunks...)
	if _, hits := ask(t, o, "key", Params{TopK: 3}); len(hits) != 3 || hits[0].Path != "copy00" || paths(hits[1:]) != "other1 other2" {
		t.Errorf("repeated texts: %s", paths(hits))
	}
	q, all := ask(t, o, "key", Params{Mode: ModeBM25})
	limit := Relevance(q, all[1])
	if _, hits := ask(t, o, "key", Params{Mode: ModeBM25, MinScore: limit}); len(hits) != 2 {
		t.Errorf("min-score %v of %v left %d hits, want 2", limit, all[2].Score, len(hits))
	}
	chunks[31].Meta = []byte(`{"tags":["Pond"]}`)
	for want, f := range map[string]store.Filter{"other1": {Paths: []string{"other*"}}, "other2": {Tags: []string{"#pond"}}} {
		if _, hits := ask(t, o, "key", Params{TopK: 1, Candidates: 1, Filter: f}); paths(hits) != want {
			t.Errorf("%+v: %s", f, paths(hits))
		}
	}
	if _, hits := ask(t, o, "giraffe", Params{}); len(hits) != 0 {
		t.Errorf("nothing in common, but found %s", paths(hits))
	}
}

func TestConfidence(t *testing.T) {
	lexical := offlineIndex(t,
		chunk("a", "the hotel limit is 500 a night in large cities"),
		chunk("b", "keys are rotated once a month"),
		chunk("c", "lunch is served at noon"))
	q, _ := ask(t, lexical, "how often are keys rotated", Params{})
	if q.Confidence == nil || *q.Confidence < 0.5 || q.Floor != DefaultFloor || len(q.Signals) != 3 || len(q.Terms) == 0 {
		t.Errorf("answerable: %+v", q)
	}
	q, _ = ask(t, lexical, "how do black holes evaporate at noon", Params{})
	if q.Confidence == nil || *q.Confidence >= q.Floor {
		t.Errorf("not answerable: %v of %v", *q.Confidence, q.Signals)
	}
	if q, _ = ask(t, lexical, "*", Params{}); q.Confidence == nil || *q.Confidence != 0 {
		t.Errorf("no term: %v", q.Confidence)
	}
	if q, _ = ask(t, lexical, "how do black holes evaporate", Params{Mode: ModeVector}); q.Confidence == nil {
		t.Error("no confidence by lexical vectors alone")
	}

	index := newMemory(settings(remote), chunk("a", "keys are rotated once a month", 1, 0, 0))
	index.info.Calibration = &store.Calibration{Confidence: Confidence, Floor: 0.4}
	o := Options{Reader: index, Embedder: &neural{info: remote, knows: map[string]record.Vector{
		"密钥多久轮换": {1, 0, 0}, "keys rotated": {1, 0, 0}}}}
	if q, _ = ask(t, o, "密钥多久轮换", Params{}); q.Confidence != nil || q.Floor != 0.4 {
		t.Errorf("a question in another language: confidence %v, floor %v", q.Confidence, q.Floor)
	}
	if q, _ = ask(t, o, "keys rotated", Params{}); q.Confidence == nil {
		t.Error("the lexical signals may speak for an answer")
	}
	if q, _ = ask(t, o, "密钥多久轮换", Params{Mode: ModeBM25}); q.Confidence == nil {
		t.Error("by BM25 alone the lexical signals count")
	}
}

// Where the index is calibrated, the vectors of a semantic embedder speak for
// an answer to a question in another language, but do not refuse one.
func TestConfidenceOfVectors(t *testing.T) {
	index := newMemory(settings(remote), chunk("a", "keys are rotated once a month", 1, 0, 0), chunk("b", "lunch at noon", 0.6, 0.8, 0))
	index.info.Calibration = &store.Calibration{Confidence: Confidence, Floor: 0.4, Slope: 50, Middle: 0.2}
	o := Options{Reader: index, Embedder: &neural{info: remote, knows: map[string]record.Vector{
		"密钥多久轮换": {1, 0, 0}, "黑洞怎么蒸发": {0, 0, 1}, "how do black holes evaporate": {0, 0, 1}, "lunch at noon": {0, 0, 1}}}}
	for _, mode := range []string{ModeAuto, ModeVector} {
		if q, _ := ask(t, o, "密钥多久轮换", Params{Mode: mode}); q.Confidence == nil || *q.Confidence < 0.9 || math.Abs(q.Signals[SignalStandout]-0.4) > 1e-6 {
			t.Errorf("%s: answerable: %v of %v", mode, q.Confidence, q.Signals)
		}
		if q, _ := ask(t, o, "黑洞怎么蒸发", Params{Mode: mode}); q.Confidence != nil {
			t.Errorf("%s: refused in another language: %v of %v", mode, *q.Confidence, q.Signals)
		}
		if q, _ := ask(t, o, "how do black holes evaporate", Params{Mode: mode}); q.Confidence == nil || *q.Confidence > 0.1 {
			t.Errorf("%s: not answerable: %v of %v", mode, q.Confidence, q.Signals)
		}
	}
	if q, _ := ask(t, o, "lunch at noon", Params{}); q.Confidence == nil || *q.Confidence < 0.9 {
		t.Errorf("found by its words: %v of %v", q.Confidence, q.Signals)
	}
}

// Words of Han characters are fewer than characters, which the confidence makes
// up for; without Han characters both analyzers give the same.
func TestConfidenceOfWords(t *testing.T) {
	of := func(analyzer, body, question string) *record.Query {
		index := newMemory(store.Settings{Analyzer: analyzer}, chunk("a", body), chunk("b", "lunch is at noon"))
		q, _ := ask(t, Options{Reader: index}, question, Params{})
		return q
	}
	for _, analyzer := range []string{"ngram", "gse"} {
		q := of(analyzer, "keys are rotated once a month", "are keys rotated at noon")
		if want := confidence(q.Signals[SignalShare], 3, 2, 0, 0); *q.Confidence != want {
			t.Errorf("%s, in English: %v of %v, want %v", analyzer, *q.Confidence, q.Signals, want)
		}
	}
	q := of("gse", "密钥每月轮换一次", "密钥多久轮换一次")
	s := q.Signals
	if want := confidence(s[SignalShare], int(s[SignalTerms]), 2, 0, 1); s[SignalWords] != 1 || *q.Confidence != want {
		t.Errorf("confidence %v of %v, want %v", *q.Confidence, s, want)
	}
}

func TestUnknownNames(t *testing.T) {
	o := offlineIndex(t, chunk("a", "deploy the sheaf-api with rotate_keys and Helm"), chunk("b", "lunch at noon 午饭"))
	for question, want := range map[string]float64{
		"deploy with Helm": 0, "deploy with Nomad": 1, "rotate_keys deploy": 0, "rotate_tokens deploy": 1, "怎么用 nomad deploy": 1,
		"午饭 nomad": 3, "deploy 2077": 1, "pls deploy 怎么搞": 0,
	} {
		if q, _ := ask(t, o, question, Params{}); q.Signals[SignalUnknown] != want {
			t.Errorf("%s: %v, want %v", question, q.Signals, want)
		}
	}
}

// What two words are in the notes as one is looked up like that, and the other way; a word with
// another number than in the notes is missing.
func TestTwoWordsAsOne(t *testing.T) {
	o := offlineIndex(t, chunk("a", "PAY-1102: the bank says no"), chunk("b", "Rollback: run it again"),
		chunk("c", "INC-88: the certificate was too old"), chunk("d", "Week 42: holidays"), chunk("e", "Visitors over 65 pay half, those who weigh 30 nothing"),
		chunk("f", "Flight TP 533 leaves at 7, TP 1 at 9"))
	for question, want := range map[string]string{
		"pay 1102 means what":        "a [pay1102] []",
		"how do i roll back a build": "b [] []",
		"inc 91 certificate":         "c [] [inc 91]",
		"holidays in week 53":        "d [] [week 53]",
		"holidays in week 42":        "d [] []",
		"TP533":                      "f [] []", // one word as two
		"when does TP534 leave":      "f [] [TP534]",
		"do visitors over 70 pay?":   "e [] []", // no names
		"visitors who weigh 20":      "e [] []",
	} {
		q, hits := ask(t, o, question, Params{})
		if got := fmt.Sprint(hits[0].Path, " ", q.Identifiers, " ", q.Missing); got != want {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}
}

// A Chinese question about a person is answered from what is said of that
// person, whatever else is closer to its other words.
func TestLatinNameInChinese(t *testing.T) {
	o := offlineIndex(t, chunk("a", "Marta Nowak 分机 8012"), chunk("b", "王珂的电话多少？电话 138-0571，电话打不通发邮件"),
		chunk("c", "电话会议室怎么订"), chunk("d", "午饭"))
	for question, want := range map[string]string{"marta 电话多少": "a [marta] []", "pavel 电话多少": "b [] [pavel]"} {
		q, hits := ask(t, o, question, Params{})
		if got := fmt.Sprint(hits[0].Path, " ", q.Identifiers, " ", q.Missing); got != want {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
		if refused := *q.Confidence < DefaultFloor; refused != (len(q.Missing) > 0) {
			t.Errorf("%s: confidence %v of %v", question, *q.Confidence, q.Signals)
		}
	}
}

// A floor that was fitted to another formula is not applied, and that is said.
func TestOutdatedCalibration(t *testing.T) {
	index := newMemory(store.Settings{Analyzer: text.DefaultAnalyzer}, chunk("a", "keys"))
	index.info.Calibration = &store.Calibration{Floor: 0.9}
	var warnings []string
	q, _ := ask(t, Options{Reader: index, Warn: func(m string) { warnings = append(warnings, m) }}, "keys", Params{})
	if q.Floor != DefaultFloor || len(warnings) != 1 || !strings.Contains(warnings[0], "kb eval --calibrate") {
		t.Errorf("floor %v, warnings %q", q.Floor, warnings)
	}
}

func TestRun(t *testing.T) {
	s := searcher(t, offlineIndex(t, chunk("a", "keys are rotated"), chunk("b", "lunch at noon")))
	run := func(in ...record.Record) (out []string, err error) {
		seq := func(yield func(record.Record, error) bool) {
			for _, r := range in {
				if !yield(r, nil) {
					return
				}
			}
		}
		for r, e := range s.Run(context.Background(), seq, Params{TopK: 1}) {
			if e != nil {
				return out, e
			}
			switch r := r.(type) {
			case *record.Query:
				line, _ := record.Append(nil, &record.Query{ID: r.ID, Text: r.Text, Extra: r.Extra})
				out = append(out, string(line))
			case *record.Hit:
				out = append(out, "hit "+r.Query+" "+r.Path)
			case *record.Raw:
				out = append(out, string(r.Line))
			}
		}
		return out, nil
	}
	raw := func(line string) record.Record {
		r := new(record.Raw)
		_ = record.Decode([]byte(line), r)
		return r
	}
	got, err := run(raw(`{"q":"keys","id":"q1","answers":["x"]}`), raw(`{"kind":"note","x":1}`), &record.Query{ID: "q2", Text: "noon"})
	want := []string{
		`{"kind":"query","id":"q1","text":"keys","answers":["x"]}`, "hit q1 a",
		`{"kind":"note","x":1}`,
		`{"kind":"query","id":"q2","text":"noon"}`, "hit q2 b",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n got %q\nwant %q", err, got, want)
	}
	for _, name := range record.QuestionFields() {
		if got, err := run(raw(`{"` + name + `":"keys","id":"q1"}`)); err != nil || got[0] != `{"kind":"query","id":"q1","text":"keys"}` {
			t.Errorf("a question named %s: %q, %v", name, got, err)
		}
	}
	for _, line := range []string{`{"q":5}`, `{"query":[]}`, `{"ask":"x"}`, `{"q":""}`, `{"q":"x","id":5}`} {
		if _, err := run(raw(`{"q":"keys"}`), raw(line)); err == nil || !strings.HasPrefix(err.Error(), "record 2: ") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, p := range []Params{{Mode: "fuzzy"}, {TopK: -1}, {Candidates: -1}, {Filter: store.Filter{Paths: []string{"["}}}} {
		if p.Validate() == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
	if err := (Params{}).Validate(); err != nil {
		t.Error(err)
	}
}
