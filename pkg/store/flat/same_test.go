package flat_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/pkg/store/storetest"
)

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// many are enough documents for several segments, with one that is longer than
// a segment and one without chunks.
func many(t testing.TB, sparse bool) (*storetest.Generator, []*storetest.Doc) {
	t.Helper()
	g := storetest.NewGenerator(41, 8)
	g.Words, g.Sparse = 6, sparse
	docs := g.Docs(500)
	g.Chunks = 5
	long := g.Doc("notes/long.md")
	for i := range 2500 {
		c := *long.Chunks[0]
		c.Seq, c.Of, c.Start, c.Line = i+1, 2500, i, i+1
		c.Text = fmt.Sprintf("line %d", i)
		c.ID = record.ChunkID(c.Document, c.Seq, c.Start, c.Text)
		long.Chunks = append(long.Chunks[:i:i], &c)
	}
	long.Finish()
	empty := g.Doc("notes/empty.md")
	empty.Chunks = nil
	empty.Finish()
	return g, append(docs, long, empty)
}

// TestSameBytes: the same documents give the same file, in whatever order they
// come, at once, one after the other, or on the way over other documents.
func TestSameBytes(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		t.Run(fmt.Sprintf("sparse %v", sparse), func(t *testing.T) { testSameBytes(t, sparse) })
	}
}

func testSameBytes(t *testing.T, sparse bool) {
	g, docs := many(t, sparse)
	skipped := []record.Skipped{{Path: "notes/x.bin", Reason: "not text"}}
	write := func(path string, f func(put func(...*storetest.Doc), tx func(func(store.Tx)))) []byte {
		s := flat.New(path)
		f(func(docs ...*storetest.Doc) { storetest.Write(t, s, g.Settings(), docs...) }, func(change func(store.Tx)) {
			tx, err := s.Begin(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			change(tx)
			if _, err := tx.Commit(t.Context(), g.Settings()); err != nil {
				t.Fatal(err)
			}
		})
		return read(t, path)
	}
	lists := func(tx store.Tx) { tx.SetSkipped(skipped) }
	dir := t.TempDir()
	whole := write(filepath.Join(dir, "whole"), func(put func(...*storetest.Doc), tx func(func(store.Tx))) {
		put(docs...)
		tx(lists)
	})
	rng := rand.New(rand.NewPCG(42, 1))
	shuffled := append([]*storetest.Doc(nil), docs...)
	rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	parts := write(filepath.Join(dir, "parts"), func(put func(...*storetest.Doc), tx func(func(store.Tx))) {
		tx(lists)
		put(shuffled[:300]...)
		put(shuffled[300:310]...)
		put(shuffled[310:]...)
	})
	if !bytes.Equal(whole, parts) {
		t.Error("documents in parts give another file")
	}
	detour := write(filepath.Join(dir, "detour"), func(put func(...*storetest.Doc), tx func(func(store.Tx))) {
		put(docs...)
		tx(lists)
		other := []*storetest.Doc{g.Doc("a.md"), g.Doc(docs[100].Path), g.Doc(docs[400].Path), g.Doc("notes/b/000500x.md"), g.Doc("notes/long.md")}
		put(other...)
		tx(func(tx store.Tx) {
			tx.Remove(t.Context(), "a.md")
			tx.Remove(t.Context(), "notes/b/000500x.md")
			tx.Remove(t.Context(), docs[200].Path)
		})
		put(docs[100], docs[200], docs[400], docs[500])
	})
	if !bytes.Equal(whole, detour) {
		t.Error("a detour over other documents gives another file")
	}
}

// TestUpdateCopies: an update leaves the frames of other segments as they are,
// and nothing to write leaves the file alone.
func TestUpdateCopies(t *testing.T) {
	g, docs := many(t, false)
	path := filepath.Join(t.TempDir(), "index.jsonl.zst")
	s := flat.New(path)
	storetest.Write(t, s, g.Settings(), docs...)
	before := read(t, path)
	stat, _ := os.Stat(path)
	storetest.Write(t, s, g.Settings())
	if again, _ := os.Stat(path); !os.SameFile(stat, again) {
		t.Error("an empty change wrote the file")
	}
	storetest.Write(t, s, g.Settings(), g.Doc(docs[480].Path))
	after := read(t, path)
	copied := 0
	for i := range 100 {
		if at := len(before) / 2 * i / 100; bytes.Contains(after, before[at:at+200]) {
			copied++
		}
	}
	if copied < 85 { // all but the header and the segment
		t.Errorf("only %d of 100 samples of the first half are as they were", copied)
	}
}

// TestRecompressed: the text is the index. Any zstd tool may compress it
// again, and what is written back then is the file as it was.
func TestRecompressed(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		t.Run(fmt.Sprintf("sparse %v", sparse), func(t *testing.T) { testRecompressed(t, sparse) })
	}
}

func testRecompressed(t *testing.T, sparse bool) {
	g, docs := many(t, sparse)
	dir := t.TempDir()
	path := filepath.Join(dir, "index.jsonl.zst")
	storetest.Write(t, flat.New(path), g.Settings(), docs...)
	original := read(t, path)
	again := filepath.Join(dir, "again.jsonl.zst")
	recompress(t, path, again, func(text string) string { return text })

	q := g.Query()
	want, err := storetest.Open(t, flat.New(path)).Nearest(t.Context(), q, 20, store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := storetest.Open(t, flat.New(again)).Nearest(t.Context(), q, 20, store.Filter{})
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%v, %v; want %v", got, err, want)
	}
	report, err := flat.New(again).Verify(t.Context())
	if err != nil || len(report.Faults) > 0 || !report.Relaid {
		t.Fatalf("%+v, %v", report, err)
	}
	if r, err := flat.New(again).Repair(t.Context(), true); err != nil || !r.Written || r.Kept != len(docs) || len(r.Lost) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if !bytes.Equal(original, read(t, again)) {
		t.Error("the repaired file differs from the original")
	}
	// A line that is missing is noticed.
	recompress(t, path, again, func(text string) string {
		i := strings.Index(text, `{"kind":"chunk"`)
		return text[:i] + text[i+strings.IndexByte(text[i:], '\n')+1:]
	})
	if _, err := flat.New(again).Open(t.Context()); !isDamage(err) {
		t.Errorf("a missing line: %v", err)
	}
}

func recompress(t testing.TB, from, to string, edit func(string) string) {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(read(t, from)))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := zstd.NewWriter(&buf)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, edit(string(text)))
	w.Close()
	if err := os.WriteFile(to, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
