package flat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/pkg/store/storetest"
)

func isDamage(err error) bool {
	var d *store.DamagedError
	return errors.As(err, &d) && errors.Is(err, store.ErrDamaged) && d.Name != ""
}

// small is a small index in a file, with everything that one may have.
func small(t testing.TB) (path string, g *storetest.Generator, docs []*storetest.Doc) {
	t.Helper()
	g = storetest.NewGenerator(51, 3)
	g.Words, g.Chunks = 3, 2
	docs = g.Docs(4)
	docs[2].Chunks[0].Vector = nil
	docs[2].Finish()
	path = filepath.Join(t.TempDir(), "index.jsonl.zst")
	s := flat.New(path)
	storetest.Write(t, s, g.Settings(), docs...)
	tx, err := s.Begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	tx.SetSkipped([]record.Skipped{{Path: "x.pdf", Reason: "password"}})
	tx.SetRoots([]record.Root{{Path: "notes", Documents: 4, Skipped: 1}})
	if _, err := tx.Commit(t.Context(), g.Settings()); err != nil {
		t.Fatal(err)
	}
	return path, g, docs
}

// answers runs everything that a reader can do and writes down what it says.
func answers(t testing.TB, s store.Store, q record.Vector) (string, error) {
	r, err := s.Open(t.Context())
	if err != nil {
		return "", err
	}
	defer r.Close()
	ctx := t.Context()
	var b strings.Builder
	info := r.Info()
	info.Size = 0
	fmt.Fprintln(&b, info)
	hits, err := r.Nearest(ctx, q, 5, store.Filter{})
	if err != nil {
		return "", err
	}
	fmt.Fprintln(&b, hits)
	lex, err := r.Lexical(ctx, []string{"w1", "w2", "标题", "absent"}, 5, store.Filter{Tags: []string{"all"}})
	if err != nil {
		return "", err
	}
	fmt.Fprintln(&b, lex)
	for d, err := range r.Documents(ctx) {
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, d)
	}
	for s, err := range r.Skipped(ctx) {
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, s)
	}
	for s, err := range r.Roots(ctx) {
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, s)
	}
	for c, err := range r.Chunks(ctx, "", true) {
		if err != nil {
			return "", err
		}
		line, err := json.Marshal(c)
		if err != nil {
			return "", err
		}
		b.Write(line)
	}
	return b.String(), nil
}

// TestEveryBit: whatever bit is flipped, an index answers as before or says
// that it is damaged.
func TestEveryBit(t *testing.T) {
	path, g, _ := small(t)
	good := read(t, path)
	q := g.Query()
	want, err := answers(t, flat.New(path), q)
	if err != nil {
		t.Fatal(err)
	}
	unnoticed := 0
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 1 << (i * 5 % 8)
		os.WriteFile(path, bad, 0o600)
		got, err := answers(t, flat.New(path), q)
		switch {
		case err == nil && got != want:
			t.Fatalf("byte %d: other answers", i)
		case err != nil && !isDamage(err) && !errors.Is(err, store.ErrNewer):
			t.Fatalf("byte %d: %v", i, err)
		case err == nil:
			unnoticed++
		}
	}
	// What may change unnoticed: sizes of text in the seek table, and bits that
	// zstd ignores.
	if unnoticed > len(good)/10+8 {
		t.Errorf("%d of %d flipped bytes changed nothing", unnoticed, len(good))
	}
}

func TestEveryLength(t *testing.T) {
	path, g, docs := small(t)
	good := read(t, path)
	q := g.Query()
	want, err := answers(t, flat.New(path), q)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(good); n += 3 {
		os.WriteFile(path, good[:n], 0o600)
		got, err := answers(t, flat.New(path), q)
		if err == nil && got != want || err != nil && !isDamage(err) {
			t.Fatalf("%d of %d bytes: %v", n, len(good), err)
		}
		if n%93 != 0 {
			continue
		}
		os.WriteFile(path, good[:n], 0o600)
		checkRepair(t, path, g, docs, n > len(good)/2)
	}
}

// checkRepair repairs a file and compares what is left with the documents that
// went in. It may lose documents but not change them, and names what it lost.
func checkRepair(t *testing.T, path string, g *storetest.Generator, docs []*storetest.Doc, some bool) {
	t.Helper()
	s := flat.New(path)
	out, err := s.Repair(t.Context(), true)
	if err != nil {
		if !isDamage(err) || some {
			t.Fatalf("repair: %v", err)
		}
		return
	}
	if out.Kept+len(out.Lost)+out.Unnamed != len(docs) {
		t.Fatalf("%d documents, but %+v", len(docs), out)
	}
	report, err := s.Verify(t.Context())
	if err != nil || len(report.Faults) > 0 {
		t.Fatalf("after the repair: %+v, %v", report, err)
	}
	byPath := map[string]*storetest.Doc{}
	for _, d := range docs {
		byPath[d.Path] = d
	}
	r, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for d, err := range r.Documents(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		want := byPath[d.Path]
		i := 0
		for c, err := range r.Chunks(t.Context(), d.Path, true) {
			if err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(c)
			b, _ := json.Marshal(want.Chunks[i])
			if string(a) != string(b) && want.Chunks[i].Vector != nil {
				t.Fatalf("%s\n%s", a, b)
			}
			i++
		}
		if i != len(want.Chunks) {
			t.Fatalf("%s has %d chunks", d.Path, i)
		}
	}
	if n != out.Kept {
		t.Fatalf("%d documents, %+v", n, out)
	}
}

// TestRepair damages frames in the middle of a larger file.
func TestRepair(t *testing.T) {
	g := storetest.NewGenerator(53, 32)
	docs := g.Docs(350)
	path := filepath.Join(t.TempDir(), "index.jsonl.zst")
	s := flat.New(path)
	storetest.Write(t, s, g.Settings(), docs...)
	good := read(t, path)
	if out, err := s.Repair(t.Context(), true); err != nil || out.Written || out.Kept != len(docs) {
		t.Fatalf("a whole file: %+v, %v", out, err)
	}
	rng := rand.New(rand.NewPCG(52, 1))
	for name, f := range map[string]func([]byte) []byte{
		"one byte":   func(b []byte) []byte { b[rng.IntN(len(b))] ^= 0x10; return b },
		"ten bytes":  func(b []byte) []byte { flip(rng, b, 10); return b },
		"a hole":     func(b []byte) []byte { clear(b[len(b)/3 : len(b)/3+5000]); return b },
		"the header": func(b []byte) []byte { clear(b[10:40]); return b },
		"the end":    func(b []byte) []byte { return b[:len(b)*2/3] },
		"both": func(b []byte) []byte {
			b = b[:len(b)*9/10]
			flip(rng, b[1000:], 3)
			return b
		},
		"bytes between": func(b []byte) []byte {
			return append(append(append([]byte(nil), b[:len(b)/2]...), "xxxx"...), b[len(b)/2:]...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			os.WriteFile(path, f(append([]byte(nil), good...)), 0o600)
			report, err := s.Verify(t.Context())
			if err != nil || len(report.Faults) == 0 {
				t.Fatalf("verify: %+v, %v", report, err)
			}
			checkRepair(t, path, g, docs, true)
			out, err := s.Repair(t.Context(), true)
			if err != nil || out.Written {
				t.Fatalf("a second repair: %+v, %v", out, err)
			}
			if name != "the end" && name != "both" && out.Kept < len(docs)*8/10 {
				t.Errorf("only %d of %d documents were kept", out.Kept, len(docs))
			}
		})
	}
}

func flip(rng *rand.Rand, b []byte, n int) {
	for range n {
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
	}
}

// TestDerivedDamage: codes and postings follow from the rest, so damage in them
// loses nothing.
func TestDerivedDamage(t *testing.T) {
	path, g, docs := small(t)
	good := read(t, path)
	at := strings.Index(string(good), `","codes":"`)
	if at < 0 {
		t.Fatal("the codes are not plain in the file")
	}
	bad := append([]byte(nil), good...)
	bad[at+20] ^= 1
	os.WriteFile(path, bad, 0o600)
	s := flat.New(path)
	var d *store.DamagedError
	if _, err := answers(t, s, g.Query()); !errors.As(err, &d) || d.Offset <= 0 || d.Offset > int64(at) {
		t.Fatalf("damaged codes: %v", err)
	}
	out, err := s.Repair(t.Context(), true)
	if err != nil || out.Kept != len(docs) || len(out.Lost) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if string(read(t, path)) != string(good) {
		t.Error("the repaired file differs from the original")
	}
}

func TestNotAnIndex(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"empty": "", "text": "# notes\n", "zeros": strings.Repeat("\x00", 100)} {
		path := filepath.Join(dir, name)
		os.WriteFile(path, []byte(content), 0o600)
		if _, err := flat.New(path).Open(t.Context()); !isDamage(err) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := flat.New(path).Begin(t.Context(), false); !isDamage(err) {
			t.Errorf("%s: begin: %v", name, err)
		}
		if got := string(read(t, path)); got != content {
			t.Errorf("%s was changed to %q", name, got)
		}
	}
	if _, err := flat.New(dir).Open(t.Context()); err == nil {
		t.Error("a folder was opened")
	}
}

// TestNewer: a file that needs a newer reader is refused as such, by every
// door.
func TestNewer(t *testing.T) {
	path, _, _ := small(t)
	recompress(t, path, path, func(text string) string {
		return strings.ReplaceAll(text, `"reader":2`, `"reader":99`)
	})
	s := flat.New(path)
	before := read(t, path)
	if _, err := s.Open(t.Context()); !errors.Is(err, store.ErrNewer) || isDamage(err) {
		t.Errorf("open: %v", err)
	}
	if _, err := s.Begin(t.Context(), false); !errors.Is(err, store.ErrNewer) {
		t.Errorf("begin: %v", err)
	}
	if _, err := s.Verify(t.Context()); !errors.Is(err, store.ErrNewer) {
		t.Errorf("verify: %v", err)
	}
	if _, err := s.Repair(t.Context(), true); !errors.Is(err, store.ErrNewer) {
		t.Errorf("repair: %v", err)
	}
	if string(read(t, path)) != string(before) {
		t.Error("the file was changed")
	}
}

// TestFormat1: the file of each past format is still read. It was written by
// small.
func TestFormat1(t *testing.T) {
	path := filepath.Join("testdata", "format1.jsonl.zst")
	_, g, docs := small(t)
	want := storetest.NewReference(docs...)
	report, err := flat.New(path).Verify(t.Context())
	if err != nil || len(report.Faults) > 0 || report.Info.Format != 1 || report.Info.Documents != len(docs) {
		t.Fatalf("%+v, %v", report, err)
	}
	r := storetest.Open(t, flat.New(path))
	q := g.Query()
	hits, err := r.Nearest(t.Context(), q, 5, store.Filter{})
	if err != nil || fmt.Sprint(hits) != fmt.Sprint(want.Nearest(q, 5, nil)) {
		t.Errorf("%v, %v", hits, err)
	}
	lex, err := r.Lexical(t.Context(), []string{"w1", "标题"}, 5, store.Filter{})
	if err != nil || lex.DF["标题"] != len(want.Chunks) {
		t.Errorf("%+v, %v", lex, err)
	}
}

// TestFormat1Written: the first change of a file of format 1 writes all of it as it
// would be written today. Its vectors are sparse, and in full in that file.
func TestFormat1Written(t *testing.T) {
	ctx := t.Context()
	data := read(t, filepath.Join("testdata", "format1-sparse.jsonl.zst"))
	dir := t.TempDir()
	old, fresh := flat.New(filepath.Join(dir, "old")), flat.New(filepath.Join(dir, "fresh"))
	if err := os.WriteFile(filepath.Join(dir, "old"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	r := storetest.Open(t, old)
	if info := r.Info(); info.Format != 1 || info.Vectors == 0 {
		t.Fatalf("%+v", info)
	}
	var docs []*storetest.Doc
	for d, err := range r.Documents(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		doc := &storetest.Doc{Document: d}
		for c, err := range r.Chunks(ctx, d.Path, true) {
			if err != nil {
				t.Fatal(err)
			}
			doc.Chunks = append(doc.Chunks, c)
		}
		docs = append(docs, doc)
	}
	settings := r.Info().Settings
	storetest.Write(t, fresh, settings, docs...)
	storetest.Write(t, old, settings, docs[0])
	for _, s := range []*flat.Store{old, fresh} { // the old one has a list of roots
		tx, err := s.Begin(ctx, true)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		tx.SetRoots(nil)
		if _, err := tx.Commit(ctx, settings); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, filepath.Join(dir, "old")); string(got) != string(read(t, filepath.Join(dir, "fresh"))) {
		t.Error("an old file that was changed differs from one that was written at once")
	}
}
