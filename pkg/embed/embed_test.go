package embed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/store"
)

// fake embeds a text as (1, length of it) after a while, and keeps what it was
// asked for.
type fake struct {
	batch  int
	wait   func(texts []string) time.Duration
	refuse func(text string) error // one text
	fail   func(texts []string) error

	mu      sync.Mutex
	asked   []string
	batches [][]string
	running int
	most    int
}

func (f *fake) Info() model.Info {
	return model.Info{Model: "m", BaseURL: "http://h/v1", QueryPrefix: "q: ", DocumentPrefix: "d: "}
}
func (f *fake) Weight() float64 { return 1 }
func (f *fake) Semantic() bool  { return true }
func (f *fake) Batch() int      { return max(f.batch, 1) }

func (f *fake) Embed(ctx context.Context, p model.Purpose, texts []string) ([]record.Vector, error) {
	f.mu.Lock()
	f.batches = append(f.batches, texts)
	f.asked = append(f.asked, texts...)
	f.running++
	f.most = max(f.most, f.running)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
	}()
	if f.wait != nil {
		select {
		case <-time.After(f.wait(texts)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if f.fail != nil {
		if err := f.fail(texts); err != nil {
			return nil, err
		}
	}
	out := make([]record.Vector, len(texts))
	reasons := map[int]error{}
	for i, t := range texts {
		if f.refuse != nil && f.refuse(t) != nil {
			reasons[i] = f.refuse(t)
			continue
		}
		out[i] = vectorOf(t, p)
	}
	if len(reasons) > 0 {
		return out, &model.PartialError{Reasons: reasons}
	}
	return out, nil
}

func vectorOf(text string, p model.Purpose) record.Vector {
	return record.Vector{float32(1 + p), float32(len(text))}
}

func chunk(i int, text string) *record.Chunk {
	return &record.Chunk{ID: fmt.Sprint(i), Path: "a.md", Line: i, Seq: i, Text: text}
}

func chunks(n int) []record.Record {
	out := make([]record.Record, n)
	for i := range out {
		out[i] = chunk(i+1, strings.Repeat("x", i+1))
	}
	return out
}

// stream yields records and then, if it is not nil, an error.
func stream(records []record.Record, err error) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func collect(seq iter.Seq2[record.Record, error]) (out []record.Record, err error) {
	for r, e := range seq {
		if e != nil {
			return out, e
		}
		out = append(out, r)
	}
	return out, nil
}

func checkVector(t *testing.T, r record.Record) {
	t.Helper()
	c, ok := r.(*record.Chunk)
	if !ok || len(c.Vector) != 2 || c.Vector[1] != float32(len(c.Text)) || c.Dim != 2 || c.Model != "m" || c.BaseURL != "http://h/v1" || c.Error != "" {
		t.Errorf("chunk %+v", r)
	}
}

// Batches finish in the reverse of their order; records still leave in order,
// and what is no chunk keeps its place.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{batch: 3, wait: func(texts []string) time.Duration { return time.Second / time.Duration(len(texts[0])) }}
		var in []record.Record
		for i, c := range chunks(40) {
			in = append(in, c)
			if i%7 == 0 {
				in = append(in, &record.Raw{RecordKind: "root", Line: []byte(fmt.Sprint(i))})
			}
		}
		in = append(in, &record.Query{ID: "q", Text: "why"})
		stats, progress := Stats{}, 0
		out, err := collect(Run(t.Context(), stream(in, nil), Options{Embedder: f, Concurrency: 4, Stats: &stats, Progress: func(done, _ int) { progress = done }}))
		if err != nil || len(out) != len(in) {
			t.Fatalf("%d of %d records, %v", len(out), len(in), err)
		}
		for i, r := range out {
			if r.Kind() != in[i].Kind() {
				t.Fatalf("record %d is a %s, want %s", i, r.Kind(), in[i].Kind())
			}
			if c, ok := r.(*record.Chunk); ok {
				if c.ID != in[i].(*record.Chunk).ID {
					t.Errorf("record %d is chunk %s", i, c.ID)
				}
				checkVector(t, r)
			}
		}
		if q := out[len(out)-1].(*record.Query); q.Vector[0] != 2 || q.Model != "m" || q.BaseURL != "http://h/v1" {
			t.Errorf("query %+v", q)
		}
		if in[0].(*record.Chunk).Vector != nil {
			t.Error("a record was changed in place")
		}
		if want := (Stats{Chunks: 40, Queries: 1, Requested: 41, Requests: 15}); stats != want || progress != len(in) {
			t.Errorf("stats %+v, progress %d", stats, progress)
		}
		if f.most != 4 {
			t.Errorf("%d requests at once", f.most)
		}
	})
}

func TestVectorsArePaidOnce(t *testing.T) {
	f := &fake{batch: 2}
	kept := chunk(1, "kept")
	kept.Vector, kept.Model, kept.BaseURL, kept.Dim = record.Vector{0, 1}, "m", "http://h/v1", 2
	kept.QueryPrefix, kept.DocumentPrefix = "q: ", "d: "
	other := chunk(2, "other")
	other.Vector, other.Model, other.BaseURL, other.Error = record.Vector{0, 1}, "another", "http://h/v1", "old"
	zero := chunk(3, "zero")
	zero.Vector, zero.Model, zero.BaseURL = record.Vector{0, 0}, "m", "http://h/v1"
	titled := chunk(7, "same")
	titled.Title = "T"
	in := []record.Record{kept, other, zero, chunk(4, "same"), chunk(5, "same"), chunk(6, "indexed"), titled, chunk(8, "a\x00b"), chunk(9, "same"), &record.Query{Text: "same"}, &record.Query{Text: "same"}}
	stats := Stats{}
	out, err := collect(Run(t.Context(), stream(in, nil), Options{Embedder: f, Reuse: known{"indexed": {3, 7}}, Stats: &stats}))
	if err != nil {
		t.Fatal(err)
	}
	if out[0] != in[0] {
		t.Error("a chunk with a vector of this model was touched")
	}
	for _, i := range []int{1, 2, 3, 4, 8} {
		checkVector(t, out[i])
	}
	if v := out[5].(*record.Chunk).Vector; v[1] != 7 {
		t.Errorf("reused vector is %v", v)
	}
	sortedBatches := fmt.Sprint(f.asked)
	for _, want := range []string{"other", "zero", "same", "T\nsame", "ab"} {
		if !strings.Contains(sortedBatches, want) {
			t.Errorf("%q was not asked for in %s", want, sortedBatches)
		}
	}
	if want := (Stats{Chunks: 9, Queries: 2, Kept: 1, Reused: 1, Shared: 3, Requested: 6, Requests: 4, Failed: 0}); stats != want {
		t.Errorf("stats %+v, want %+v", stats, want)
	}
}

// known is a Reuse of fixed vectors.
type known map[string]record.Vector

func (k known) Vector(_ context.Context, text string) (record.Vector, bool, error) {
	v, ok := k[text]
	return v, ok, nil
}

func TestRefusedTexts(t *testing.T) {
	f := &fake{batch: 4, refuse: func(s string) error {
		if s == "bad" {
			return errors.New("too long")
		}
		return nil
	}}
	var warnings []string
	stats := Stats{}
	page := chunk(0, "bad")
	page.Path, page.Page, page.Line = "b.pdf", 3, 0
	in := []record.Record{chunk(1, "x"), chunk(2, "bad"), chunk(3, " \n　\x00"), page, &record.Query{Text: " "}, chunk(5, "xxxxx")}
	out, err := collect(Run(t.Context(), stream(in, nil), Options{Embedder: f, Stats: &stats, Warn: func(s string) { warnings = append(warnings, s) }}))
	if err != nil || len(out) != len(in) {
		t.Fatal(out, err)
	}
	checkVector(t, out[0])
	checkVector(t, out[5])
	for i, want := range map[int]string{1: "too long", 2: "no text to embed", 3: "too long"} {
		if c := out[i].(*record.Chunk); c.Error != want || c.Vector != nil || c.Model != "" || c.Dim != 0 {
			t.Errorf("chunk %d: %+v", i, c)
		}
	}
	want := "a.md:2: no vector: too long|a.md:3: no vector: no text to embed|b.pdf p.3: no vector: too long|query \" \": no vector: no text to embed"
	if got := strings.Join(warnings, "|"); got != want || stats.Failed != 4 || stats.Requested != 3 {
		t.Errorf("warnings %s, stats %+v", got, stats)
	}
}

func TestPermanentFailure(t *testing.T) {
	refused := errors.New("401 Unauthorized")
	synctest.Test(t, func(t *testing.T) {
		f := &fake{batch: 2,
			wait: func([]string) time.Duration { return time.Second },
			fail: func(texts []string) error {
				if len(texts[0]) == 5 { // the third batch
					return refused
				}
				return nil
			}}
		out, err := collect(Run(t.Context(), stream(chunks(1000), nil), Options{Embedder: f}))
		if !errors.Is(err, refused) || !strings.Contains(err.Error(), "batch of 2 from a.md:5") || len(out) != 4 {
			t.Errorf("%d records, then %v", len(out), err)
		}
		if len(f.batches) > 8 {
			t.Errorf("%d requests after a permanent failure", len(f.batches))
		}
	})
}

func TestBrokenInput(t *testing.T) {
	broken := errors.New("stdin:4: not JSON")
	out, err := collect(Run(t.Context(), stream(chunks(3), broken), Options{Embedder: &fake{batch: 8}}))
	if len(out) != 3 || err != broken {
		t.Errorf("%d records, then %v", len(out), err)
	}
}

// A loop that is left stops the requests, the input, and every goroutine: the
// bubble fails if one is left.
func TestBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{batch: 2, wait: func(texts []string) time.Duration {
			if len(texts[0]) > 2 {
				return 1000 * time.Hour
			}
			return time.Second
		}}
		read := 0
		in := func(yield func(record.Record, error) bool) {
			for _, c := range chunks(1000) {
				read++
				if !yield(c, nil) {
					return
				}
			}
		}
		from := time.Now()
		for range Run(t.Context(), in, Options{Embedder: f}) {
			break
		}
		if took := time.Since(from); took > time.Second || read > 200 {
			t.Errorf("%v, %d records read", took, read)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out, err := collect(Run(ctx, in, Options{Embedder: f}))
		if !errors.Is(err, context.DeadlineExceeded) || len(out) != 2 {
			t.Errorf("cancelled: %d records, %v", len(out), err)
		}
	})
}

// What waits behind a batch that is not full is bounded, by number and by size.
func TestBoundedWaiting(t *testing.T) {
	f := &fake{batch: 1000}
	big := make([]byte, 1<<20)
	sent, left, most := 0, 0, 0
	in := func(yield func(record.Record, error) bool) {
		records := []record.Record{chunk(1, "x")}
		for range 100 {
			records = append(records, &record.Raw{Line: big})
		}
		for _, r := range records {
			sent++
			most = max(most, sent-left)
			if !yield(r, nil) {
				return
			}
		}
	}
	for range Run(t.Context(), in, Options{Embedder: f}) {
		left++
	}
	if most > maxWaiting>>20+3 {
		t.Errorf("%d MB waited", most)
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := newCache(model.Info{BaseURL: "http://127.0.0.1"})
	for i := range 20_000 {
		c.put(keyOf(model.Document, fmt.Sprint(i)), &slot{vector: make(record.Vector, 1024)})
	}
	if n := len(c.slots); n > maxCache/4096 || n != len(c.order) || c.get(keyOf(model.Document, "19999")) == nil || c.get(keyOf(model.Document, "0")) != nil {
		t.Errorf("%d slots", n)
	}
}

func TestFromReader(t *testing.T) {
	f := &fake{}
	m := f.Info()
	r := &reader{info: store.Info{Vectors: 3, Settings: store.Settings{Model: m.Model, BaseURL: m.BaseURL, QueryPrefix: m.QueryPrefix, DocumentPrefix: m.DocumentPrefix}}}
	for i, c := range chunks(4) {
		c := c.(*record.Chunk)
		c.Path, c.Title = fmt.Sprintf("%d.md", i/2), "T"
		c.Vector = record.Vector{1, float32(i)}
		r.chunks = append(r.chunks, c)
	}
	r.chunks[3].Vector = nil
	reuse, err := FromReader(t.Context(), r, m)
	if err != nil || reuse == nil {
		t.Fatal(reuse, err)
	}
	for i, c := range r.chunks {
		v, ok, err := reuse.Vector(t.Context(), document(c))
		if err != nil || ok != (c.Vector != nil) || ok && v[1] != float32(i) {
			t.Errorf("chunk %d: %v %v %v", i, v, ok, err)
		}
	}
	if _, ok, _ := reuse.Vector(t.Context(), "x"); ok {
		t.Error("a text without its title was found")
	}
	if r.scans != 1 || r.loads != 2 {
		t.Errorf("%d scans, %d loads", r.scans, r.loads)
	}
	for name, other := range map[string]model.Info{
		"model":    {Model: "n", BaseURL: m.BaseURL, QueryPrefix: m.QueryPrefix, DocumentPrefix: m.DocumentPrefix},
		"base URL": {Model: m.Model, BaseURL: "", QueryPrefix: m.QueryPrefix, DocumentPrefix: m.DocumentPrefix},
		"prefix":   {Model: m.Model, BaseURL: m.BaseURL, QueryPrefix: m.QueryPrefix},
	} {
		if reuse, err := FromReader(t.Context(), r, other); reuse != nil || err != nil {
			t.Errorf("another %s: %v, %v", name, reuse, err)
		}
	}
	if reuse, err := FromReader(t.Context(), nil, m); reuse != nil || err != nil {
		t.Error("no index:", reuse, err)
	}
}

// reader is as much of an index as reuse needs.
type reader struct {
	store.Reader
	info         store.Info
	chunks       []*record.Chunk
	scans, loads int
}

func (r *reader) Info() store.Info { return r.info }

func (r *reader) Chunks(_ context.Context, path string, vectors bool) iter.Seq2[*record.Chunk, error] {
	return func(yield func(*record.Chunk, error) bool) {
		if path == "" {
			r.scans++
		} else {
			r.loads++
		}
		for _, c := range r.chunks {
			copied := *c
			if !vectors {
				copied.Vector = nil
			}
			if (path == "" || c.Path == path) && !yield(&copied, nil) {
				return
			}
		}
	}
}

// An index that cannot be read costs requests, not the run.
func TestReuseFails(t *testing.T) {
	var warnings []string
	f := &fake{batch: 8}
	out, err := collect(Run(t.Context(), stream(chunks(3), nil), Options{Embedder: f, Reuse: damaged{}, Warn: func(s string) { warnings = append(warnings, s) }}))
	if err != nil || len(out) != 3 || len(f.asked) != 3 || len(warnings) != 1 {
		t.Error(out, err, f.asked, warnings)
	}
}

type damaged struct{}

func (damaged) Vector(context.Context, string) (record.Vector, bool, error) {
	return nil, false, store.ErrDamaged
}
