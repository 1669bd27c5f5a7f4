package index

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/flat"
)

// The streams of these tests are words: "a1:3" is all three chunks of n/a.md
// in its version 1, "a2:3/1,3" only the first and the third. A model may stand
// behind it: "a1:3@other"; "@none" is without vectors, "@failed" with the error
// of embed instead of one.
func stream(t *testing.T, words string) []record.Record {
	t.Helper()
	var out []record.Record
	for word := range strings.FieldsSeq(words) {
		spec, model, _ := strings.Cut(word, "@")
		spec, only, _ := strings.Cut(spec, "/")
		var name, version string
		var of int
		switch kind, path, _ := strings.Cut(word, "="); kind {
		case "root":
			out = append(out, &record.Root{Path: path})
			continue
		case "same":
			out = append(out, &record.Indexed{Path: "n/" + path + ".md", Status: record.StatusUnchanged})
			continue
		case record.ClassDamaged, record.ClassTimeout:
			out = append(out, &record.Skipped{Path: "n/" + path + ".md", Root: "n", Reason: kind, Class: kind})
			continue
		}
		if _, err := fmt.Sscanf(spec, "%1s%1s:%d", &name, &version, &of); err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		for seq := 1; seq <= of; seq++ {
			if only == "" || strings.Contains(only, fmt.Sprint(seq)) {
				out = append(out, passage(name, version, seq, of, model))
			}
		}
	}
	return out
}

func passage(name, version string, seq, of int, model string) *record.Chunk {
	c := &record.Chunk{Path: "n/" + name + ".md", Title: name, Hash: version, Seq: seq, Of: of, Line: seq,
		Text: fmt.Sprintf("passage %d of %s, version %s", seq, name, version)}
	switch model {
	case "none":
	case "failed":
		c.Error = "no vector"
	case "broken":
		c.Model, c.Vector = "usual", record.Vector{0, 0}
	case "":
		c.Model, c.Vector = "usual", record.Vector{float32(seq), float32(version[0]), 1}
	default:
		c.Model, c.Vector = model, record.Vector{1, float32(seq)}
	}
	return c
}

func sequence(records []record.Record, end error) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

// sync runs a stream with a collector that holds that much back.
func sync(t *testing.T, in iter.Seq2[record.Record, error], opt Options, held int) (string, Result, error) {
	t.Helper()
	opt.Warn = func(string) {}
	known, err := snapshot(t.Context(), opt.Store)
	if err != nil {
		t.Fatal(err)
	}
	c := newCollector(known, opt)
	c.maxHeld = held
	reports, result, err := c.run(t.Context(), in)
	var lines []string
	for _, r := range reports {
		if r, ok := r.(*record.Indexed); ok {
			name := strings.TrimSuffix(strings.TrimPrefix(r.Path, "n/"), ".md")
			lines = append(lines, name+" "+r.Status)
		}
	}
	return strings.Join(lines, ", "), result, err
}

// content lists the documents of an index: name, version, chunks and vectors.
func content(t *testing.T, s store.Store) string {
	t.Helper()
	st, err := snapshot(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range st.docs {
		out = append(out, fmt.Sprintf("%s%s:%d/%d", d.Title, d.Hash, d.Chunks, d.Vectors))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestSynchronising holds the rules of the package, for documents that are put
// when the stream has ended, and for those that are put at once: all must be
// the same, to the byte.
func TestSynchronising(t *testing.T) {
	const before = "a1:3 b1:2 c1:1 root=n"
	const unchanged = "a1:3/3 b1:2/2 c1:1/1"
	for _, tc := range []struct {
		name   string
		before string
		stream string
		end    error // of the stream
		opt    Options
		report string
		want   string // content; "" for the one before, of which no byte changed
		err    string
	}{
		{name: "new", stream: before, report: "a created, b created, c created", want: unchanged},
		{name: "unchanged", before: before, stream: before, report: "a unchanged, b unchanged, c unchanged"},
		{name: "known to be unchanged", before: before, stream: "same=a same=b same=c root=n", report: "a unchanged, b unchanged, c unchanged"},
		{name: "changed", before: before, stream: "a2:2 b1:2 c1:1 root=n", report: "a updated, b unchanged, c unchanged", want: "a2:2/2 b1:2/2 c1:1/1"},
		{name: "removed", before: before, stream: "a1:3 root=n", report: "a unchanged, b removed, c removed", want: "a1:3/3"},
		{name: "cut before the root", before: before, stream: "a2:2", report: "a updated", want: "a2:2/2 b1:2/2 c1:1/1"},
		{name: "cut within a document", before: before, stream: "a1:3 b2:3/1,3", report: "a unchanged, b incomplete"},
		{name: "the root of another folder", before: before, stream: "root=other", report: "", want: unchanged},
		{name: "everything gone", before: before, stream: "root=n", err: "n has no documents now, but the index has 3 of it"},
		{name: "everything gone on purpose", before: before, stream: "root=n", opt: Options{AllowEmpty: true},
			report: "a removed, b removed, c removed", want: "-"},
		{name: "not readable this time", before: before, stream: "a1:3 timeout=b c1:1 root=n", report: "a unchanged, b kept, c unchanged", want: unchanged},
		{name: "not readable any more", before: before, stream: "a1:3 damaged=b c1:1 root=n", report: "a unchanged, b removed, c unchanged", want: "a1:3/3 c1:1/1"},
		{name: "nothing", stream: "", err: "no documents to index"},
		{name: "nothing complete", stream: "a1:3/1", err: "none of 1 is complete"},
		{name: "a broken line", before: before, stream: "a2:2 d1:1", end: errors.New("stdin:9: broken"), err: "stdin:9: broken"},
		{name: "a broken vector", before: before, stream: "a2:2 d1:1@broken", err: "vector is zero"},
		{name: "two models", before: before, stream: "a2:2 b2:1@other", err: "embed all chunks in the same way"},
		{name: "another model for some", before: before, stream: "a2:2@other b2:2@other", err: "1 documents of the index are not among them (n/c.md)"},
		{name: "another model for all", before: before, stream: "a1:3@other b2:2@other root=n", report: "a updated, b updated, c removed", want: "a1:3/3 b2:2/2"},
		{name: "without vectors", before: before, stream: "a2:2@none d1:1@none", report: "a incomplete, d incomplete"},
		{name: "vectors that failed", before: before, stream: "a2:2@failed d1:1", report: "a updated, d created", want: "a2:2/0 b1:2/2 c1:1/1 d1:1/1"},
		{name: "vectors for some", before: "a1:1@none b1:2@none", stream: "a1:1", report: "a updated", want: "a1:1/1 b1:2/0"},
		{name: "read twice", before: before, stream: "a2:2 a3:1 d1:1 d2:3", report: "a updated, d created", want: "a3:1/1 b1:2/2 c1:1/1 d2:3/3"},
		{name: "read again, but cut", before: before, stream: "a2:2 d1:1 e1:1 a3:2/1 d2:2/2", report: "a incomplete, d incomplete, e created", want: unchanged + " e1:1/1"},
		{name: "read again as it was", before: before, stream: "a2:2 a1:3 e1:1", report: "a unchanged, e created", want: unchanged + " e1:1/1"},
		{name: "another model, cut", before: before, stream: "a2:2@other a3:2/1@other root=n", report: "a incomplete, b removed, c removed", want: "a1:3/3"},
		{name: "another analyzer", before: before, stream: "a2:1 d1:1", opt: Options{Analyzer: "gse-2"}, report: "a updated, d created", want: "a2:1/1 b1:2/2 c1:1/1 d1:1/1"},
		{name: "another analyzer alone", before: before, stream: "same=a", opt: Options{Analyzer: "gse-2"}, report: "a unchanged", want: unchanged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var files [2]string
			for i, held := range []int{maxHeld, 0} {
				dir := t.TempDir()
				file := filepath.Join(dir, "index.jsonl.zst")
				opt := tc.opt
				opt.Store = flat.New(file)
				if tc.before != "" {
					if _, _, err := sync(t, sequence(stream(t, tc.before), nil), Options{Store: opt.Store}, maxHeld); err != nil {
						t.Fatal(err)
					}
				}
				was, _ := os.ReadFile(file)
				report, result, err := sync(t, sequence(stream(t, tc.stream), tc.end), opt, held)
				if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("holding %d back: error %v, want %q", held, err, tc.err)
				}
				if report != tc.report {
					t.Errorf("holding %d back: %s\nwant %s", held, report, tc.report)
				}
				is, _ := os.ReadFile(file)
				files[i] = string(is)
				if tc.want == "" && (held > 0 || err != nil) && string(is) != string(was) {
					t.Errorf("holding %d back: the index changed", held)
				}
				if got := content(t, opt.Store); tc.want != "" && got != strings.Trim(tc.want, "-") {
					t.Errorf("holding %d back: %s, want %s", held, got, tc.want)
				}
				if err == nil && result.Info.Size != int64(len(is)) {
					t.Errorf("the result says %d bytes, the file has %d", result.Info.Size, len(is))
				}
				if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			}
			if files[0] != files[1] {
				t.Error("the index depends on when the documents were put")
			}
		})
	}
}

// TestOrderDoesNotMatter: a stream in any order gives the same bytes, whether
// the documents are put at the end, in groups or one by one.
func TestOrderDoesNotMatter(t *testing.T) {
	var records []record.Record
	for i := range 40 {
		records = append(records, stream(t, fmt.Sprintf("%c%d:%d", 'A'+i, i%3, 1+i%7))...)
	}
	records = append(records, &record.Root{Path: "n", Documents: 40})
	rng := rand.New(rand.NewPCG(7, 7))
	want := ""
	for i, held := range []int{maxHeld, 0, 200, 2000, maxHeld} {
		file := filepath.Join(t.TempDir(), "index.jsonl.zst")
		if _, _, err := sync(t, sequence(records, nil), Options{Store: flat.New(file)}, held); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = string(got)
		}
		if string(got) != want {
			t.Errorf("order %d, holding %d back: another file", i, held)
		}
		rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	}
}

// TestLock: while little waits, a slow stream does not keep other writers out.
func TestLock(t *testing.T) {
	s := flat.New(filepath.Join(t.TempDir(), "index.jsonl.zst"))
	locked := func() bool {
		tx, err := s.Begin(t.Context(), false)
		if err == nil {
			tx.Rollback()
		}
		return errors.Is(err, store.ErrLocked)
	}
	for _, tc := range []struct {
		held int
		want bool
	}{{maxHeld, false}, {0, true}} {
		during := false
		in := func(yield func(record.Record, error) bool) {
			for _, r := range stream(t, "a1:2 b1:1") {
				if !yield(r, nil) {
					return
				}
			}
			during = locked()
		}
		if _, _, err := sync(t, in, Options{Store: s, AllowEmpty: true}, tc.held); err != nil {
			t.Fatal(err)
		}
		if during != tc.want {
			t.Errorf("holding %d back: locked while the stream runs: %t, want %t", tc.held, during, tc.want)
		}
		if locked() {
			t.Error("locked when all is over")
		}
		if _, _, err := Remove(t.Context(), s, []string{"n"}, RemoveOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := s.Begin(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, _, err := sync(t, sequence(stream(t, "a1:2"), nil), Options{Store: s, NoWait: true}, 0); !errors.Is(err, store.ErrLocked) {
		t.Errorf("with another writer: %v", err)
	}
}

// What is in the index by the very name is no glob, and without the option
// nothing is.
func TestRemoveGlobs(t *testing.T) {
	all := []string{"n/*.md", "n/[1/a.md", "n/a1.md", "n/a[1].md", "n/b1/c.md", "n/b[1]/c.md", "n/{a,b}.md"}
	for _, c := range []struct {
		path        string
		globs       bool
		gone        string
		isNone, bad bool
	}{
		{path: "n/a[1].md", globs: true, gone: "n/a[1].md"},
		{path: "n/a[1].md", gone: "n/a[1].md"},
		{path: "n/b[1]", globs: true, gone: "n/b[1]/c.md"},
		{path: "n/[1", globs: true, gone: "n/[1/a.md"},
		{path: "n/{a,b}.md", globs: true, gone: "n/{a,b}.md"},
		{path: "n/*.md", globs: true, gone: "n/*.md"},
		{path: "n/s[1].md", globs: true, isNone: true}, // a file without text, beside n/s1.md
		{path: "n/a?.md", isNone: true},
		{path: "n/a?.md", globs: true, gone: "n/a1.md"},
		{path: "n/b?/*", globs: true, gone: "n/b1/c.md"},
		{path: "n/[.md", isNone: true},
		{path: "n/[.md", globs: true, bad: true},
	} {
		s := flat.New(filepath.Join(t.TempDir(), "index.jsonl.zst"))
		in := []record.Record{&record.Skipped{Path: "n/s[1].md", Root: "n", Reason: "empty", Class: record.ClassEmpty}}
		for _, p := range append(all, "n/s1.md") {
			in = append(in, &record.Chunk{Path: p, Title: p, Hash: "1", Seq: 1, Of: 1, Line: 1, Text: p})
		}
		if _, _, err := Run(t.Context(), sequence(append(in, &record.Root{Path: "n"}), nil), Options{Store: s}); err != nil {
			t.Fatal(err)
		}
		removed, _, err := Remove(t.Context(), s, []string{c.path}, RemoveOptions{Globs: c.globs})
		var none *NoDocumentError
		if errors.As(err, &none) != c.isNone || (err != nil) != (c.isNone || c.bad) {
			t.Errorf("%s, globs %t: %v", c.path, c.globs, err)
		}
		var gone []string
		for _, r := range removed {
			gone = append(gone, r.(*record.Indexed).Path)
		}
		if got := strings.Join(gone, " "); got != c.gone {
			t.Errorf("%s, globs %t: %q is gone, want %q", c.path, c.globs, got, c.gone)
		}
	}
}

// A build that waited for another of the same files finds nothing to do.
func TestWaitedForAnother(t *testing.T) {
	s := flat.New(filepath.Join(t.TempDir(), "index.jsonl.zst"))
	first, err := s.Begin(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	_, result, err := Run(t.Context(), sequence(stream(t, "a1:2 b1:1"), nil), Options{Store: s, Warn: func(msg string) {
		said = append(said, msg)
		first.Rollback()
		if _, _, err := Run(t.Context(), sequence(stream(t, "a1:2 b1:1"), nil), Options{Store: s}); err != nil {
			t.Error(err)
		}
	}})
	if err != nil || result.Unchanged != 2 || result.Created+result.Updated != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "waiting for another build of "+s.Name()) {
		t.Errorf("said %q", said)
	}
}
