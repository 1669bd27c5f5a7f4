package cache_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kb/pkg/cache"
	"kb/pkg/cache/cachetest"
	"kb/pkg/cache/redistest"
	"kb/pkg/model"
	"kb/pkg/model/modeltest"
	"kb/pkg/model/offline"
	"kb/pkg/record"
)

// clock is a time that passes when it is told to.
type clock struct{ at time.Time }

func newClock() *clock                   { return &clock{time.Unix(1e9, 0)} }
func (c *clock) now() time.Time          { return c.at }
func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

func TestMemory(t *testing.T) {
	c := newClock()
	cachetest.Run(t, cache.NewMemory(1<<20, c.now), c.advance)
}

func TestRedis(t *testing.T) {
	client := redistest.Client(t, redistest.Start(t))
	cachetest.Run(t, cache.NewRedis(client), time.Sleep)
}

func TestMemoryDropsWhatWasNotUsed(t *testing.T) {
	ctx := context.Background()
	m := cache.NewMemory(3000, newClock().now)
	kilobyte := []byte(strings.Repeat("x", 1000))
	for _, key := range []string{"a", "b"} {
		m.Set(ctx, []cache.Entry{{Key: key, Value: kilobyte}}, time.Hour)
	}
	m.Get(ctx, []string{"a"})
	m.Set(ctx, []cache.Entry{{Key: "c", Value: kilobyte}, {Key: "huge", Value: make([]byte, 5000)}}, time.Hour)
	m.Set(ctx, []cache.Entry{{Key: "d", Value: kilobyte}}, time.Hour)
	got, _ := m.Get(ctx, []string{"a", "b", "c", "d", "huge"})
	var have []bool
	for _, v := range got {
		have = append(have, v != nil)
	}
	if want := []bool{false, false, true, true, false}; !slices.Equal(have, want) {
		t.Errorf("kept %v, want %v", have, want)
	}
}

func TestKeysDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, parts := range [][]string{{}, {""}, {"", ""}, {"a", "b"}, {"ab"}, {"a", "", "b"}, {"b", "a"}} {
		for _, name := range []string{"vector", "answer"} {
			k := cache.Key(name, parts...)
			if seen[k] || !strings.HasPrefix(k, name+":") {
				t.Errorf("key %q of %q", k, parts)
			}
			seen[k] = true
		}
	}
}

// flaky is a cache that fails when it is told to.
type flaky struct {
	cache.Cache
	err   error
	calls int
}

func (f *flaky) Get(ctx context.Context, keys []string) ([][]byte, error) {
	if f.calls++; f.err != nil {
		return nil, f.err
	}
	return f.Cache.Get(ctx, keys)
}

func (f *flaky) Set(ctx context.Context, entries []cache.Entry, ttl time.Duration) error {
	if f.calls++; f.err != nil {
		return f.err
	}
	return f.Cache.Set(ctx, entries, ttl)
}

func TestGuardWarnsOnceAndComesBack(t *testing.T) {
	ctx, c := context.Background(), newClock()
	broken := &flaky{Cache: cache.NewMemory(1<<20, c.now), err: errors.New("down")}
	var warnings []string
	g := cache.Guard(broken, cache.NewBreaker(c.now, func(err error) { warnings = append(warnings, err.Error()) }))
	entry := []cache.Entry{{Key: "a", Value: []byte("1")}}
	for range 5 {
		if err := g.Set(ctx, entry, time.Hour); err != nil {
			t.Fatal(err)
		}
		if got, err := g.Get(ctx, []string{"a", "b"}); err != nil || len(got) != 2 || got[0] != nil {
			t.Fatal(got, err)
		}
	}
	c.advance(time.Minute)
	g.Get(ctx, []string{"a"})
	if broken.calls != 2 || len(warnings) != 1 {
		t.Errorf("%d calls while it was down, warnings %q", broken.calls, warnings)
	}
	broken.err = nil
	c.advance(time.Minute)
	g.Set(ctx, entry, time.Hour)
	if got, _ := g.Get(ctx, []string{"a"}); string(got[0]) != "1" {
		t.Error("not used after it came back")
	}
	broken.err = errors.New("down again")
	g.Get(ctx, []string{"a"})
	if len(warnings) != 2 {
		t.Errorf("warnings %q", warnings)
	}
}

func TestGuardDoesNotBlameTheCacheForCtrlC(t *testing.T) {
	c := newClock()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := &flaky{Cache: cache.NewMemory(1<<20, c.now), err: context.Canceled}
	g := cache.Guard(f, cache.NewBreaker(c.now, func(err error) { t.Error(err) }))
	g.Get(ctx, []string{"a"})
	f.err = nil
	if g.Get(context.Background(), []string{"a"}); f.calls != 2 {
		t.Error("left alone after a question was given up")
	}
}

// counter counts the texts that a model is asked for, and refuses "bad".
type counter struct {
	model.Embedder
	info  model.Info
	asked []string
}

func (c *counter) Info() model.Info { return c.info }

func (c *counter) Embed(ctx context.Context, p model.Purpose, texts []string) ([]record.Vector, error) {
	c.asked = append(c.asked, texts...)
	vectors, err := c.Embedder.Embed(ctx, p, texts)
	if i := slices.Index(texts, "bad"); err == nil && i >= 0 {
		vectors[i] = nil
		return vectors, &model.PartialError{Reasons: map[int]error{i: errors.New("bad text")}}
	}
	return vectors, err
}

func TestEmbedderIsOne(t *testing.T) {
	m := cache.NewMemory(1<<20, newClock().now)
	for range 2 { // the second time from the cache
		modeltest.Embedder(t, cache.Embedder(offline.NewEmbedder(), m))
	}
}

func TestEmbedderAsksOnce(t *testing.T) {
	ctx := context.Background()
	m := cache.NewMemory(1<<20, newClock().now)
	inner := &counter{Embedder: offline.NewEmbedder(), info: model.Info{Model: "m", BaseURL: "http://h", QueryPrefix: "q: "}}
	e := cache.Embedder(inner, m)
	ask := func(e model.Embedder, p model.Purpose, want []string, texts ...string) []record.Vector {
		t.Helper()
		inner.asked = nil
		vectors, err := e.Embed(ctx, p, texts)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(inner.asked, want) {
			t.Errorf("asked for %q, want %q", inner.asked, want)
		}
		return vectors
	}
	first := ask(e, model.Document, []string{"one", "two"}, "one", "two")
	second := ask(e, model.Document, []string{"three"}, "two", "three", "one")
	if !slices.Equal(first[0], second[2]) || !slices.Equal(first[1], second[0]) {
		t.Error("other vectors from the cache")
	}
	ask(e, model.Query, []string{"one"}, "one") // questions have a prefix of their own
	for _, change := range []func(*model.Info){
		func(i *model.Info) { i.Model = "other" },
		func(i *model.Info) { i.BaseURL = "http://other" },
		func(i *model.Info) { i.DocumentPrefix = "d: " },
	} {
		change(&inner.info)
		ask(e, model.Document, []string{"one"}, "one")
		ask(e, model.Document, nil, "one")
	}
}

func TestEmbedderKeepsTheGoodOfABatch(t *testing.T) {
	ctx := context.Background()
	inner := &counter{Embedder: offline.NewEmbedder()}
	e := cache.Embedder(inner, cache.NewMemory(1<<20, newClock().now))
	if _, err := e.Embed(ctx, model.Document, []string{"good"}); err != nil {
		t.Fatal(err)
	}
	vectors, err := e.Embed(ctx, model.Document, []string{"good", "fine", "bad"})
	var partial *model.PartialError
	if !errors.As(err, &partial) || partial.Reasons[2] == nil || len(partial.Reasons) != 1 {
		t.Fatalf("error %v", err)
	}
	if vectors[0] == nil || vectors[1] == nil || vectors[2] != nil {
		t.Error("the wrong texts have vectors")
	}
	inner.asked = nil
	if _, err := e.Embed(ctx, model.Document, []string{"fine"}); err != nil || len(inner.asked) != 0 {
		t.Errorf("%v, asked again for %q", err, inner.asked)
	}
}
