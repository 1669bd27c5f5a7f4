package flat_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/pkg/store/storetest"
)

// generated keeps the indexes of a run, so that each is made once.
var generated = map[int]string{}

func generate(b *testing.B, chunks int) (string, *storetest.Generator) {
	b.Helper()
	g := storetest.NewGenerator(21, 1024)
	g.Chunks = 39 // 20 on average
	g.Words = 160
	if path := generated[chunks]; path != "" {
		return path, g
	}
	dir := os.Getenv("KB_BENCH_DIR")
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "kb-flat-bench"); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(dir, fmt.Sprintf("%d.jsonl.zst", chunks))
	generated[chunks] = path
	if _, err := os.Stat(path); err == nil {
		return path, g
	}
	tx, err := flat.New(path).Begin(context.Background(), true)
	if err != nil {
		b.Fatal(err)
	}
	defer tx.Rollback()
	for i, n := 0, 0; n < chunks; i++ {
		d := g.Doc(fmt.Sprintf("notes/%06d.md", i))
		if err := tx.Put(context.Background(), d.Document, d.Chunks); err != nil {
			b.Fatal(err)
		}
		n += len(d.Chunks)
	}
	if _, err := tx.Commit(context.Background(), g.Settings()); err != nil {
		b.Fatal(err)
	}
	return path, g
}

func TestMain(m *testing.M) {
	if commitUntilKilled() {
		return
	}
	code := m.Run()
	if os.Getenv("KB_BENCH_DIR") == "" {
		for _, path := range generated {
			os.RemoveAll(filepath.Dir(path))
		}
	}
	os.Exit(code)
}

func sizes(b *testing.B, f func(b *testing.B, path string, g *storetest.Generator)) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path, g := generate(b, n)
			b.ResetTimer()
			f(b, path, g)
		})
	}
}

// BenchmarkOneShot opens an index, searches once and fetches what was found.
func BenchmarkOneShot(b *testing.B) {
	sizes(b, func(b *testing.B, path string, g *storetest.Generator) {
		for b.Loop() {
			r := open(b, flat.New(path))
			hits, err := r.Nearest(b.Context(), g.Query(), 10, store.Filter{})
			if err != nil {
				b.Fatal(err)
			}
			refs := make([]store.Ref, len(hits))
			for i, h := range hits {
				refs[i] = h.Ref
			}
			if _, err := r.Fetch(b.Context(), refs, false); err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
}

// BenchmarkResident searches an index that is kept in memory.
func BenchmarkResident(b *testing.B) {
	sizes(b, func(b *testing.B, path string, g *storetest.Generator) {
		r := open(b, flat.New(path, flat.Resident(1<<40)))
		defer r.Close()
		b.ResetTimer()
		for b.Loop() {
			if _, err := r.Nearest(b.Context(), g.Query(), 10, store.Filter{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLexical opens an index and runs one BM25 query.
func BenchmarkLexical(b *testing.B) {
	sizes(b, func(b *testing.B, path string, g *storetest.Generator) {
		for b.Loop() {
			r := open(b, flat.New(path))
			if _, err := r.Lexical(b.Context(), []string{"w77", "w501", "w1203", "标题", "w33", "w2001"}, 20, store.Filter{}); err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
}

// BenchmarkUpdate replaces one document.
func BenchmarkUpdate(b *testing.B) {
	sizes(b, func(b *testing.B, path string, g *storetest.Generator) {
		copied := filepath.Join(b.TempDir(), "index.jsonl.zst")
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(copied, data, 0o600)
		}
		if err != nil {
			b.Fatal(err)
		}
		data = nil
		s := flat.New(copied)
		b.ResetTimer()
		for b.Loop() {
			storetest.Write(b, s, g.Settings(), g.Doc("notes/000200.md"))
		}
	})
}

// BenchmarkWrite makes an index of 10,000 chunks.
func BenchmarkWrite(b *testing.B) {
	g := storetest.NewGenerator(22, 1024)
	g.Chunks, g.Words = 39, 160
	docs := g.Docs(500)
	b.ResetTimer()
	for b.Loop() {
		storetest.Write(b, flat.New(filepath.Join(b.TempDir(), "index.jsonl.zst")), g.Settings(), docs...)
	}
}

func open(b testing.TB, s *flat.Store) store.Reader {
	b.Helper()
	r, err := s.Open(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	return r
}
