package pdf

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kb/pkg/atomicfile"
	"kb/pkg/record"
)

func TestCache(t *testing.T) {
	dir := t.TempDir()
	calls := 0
	result := error(nil)
	open := func() *Extractor {
		x := NewExtractor(Options{Engine: Plain, CacheDir: dir})
		x.run = func(context.Context, []byte) ([]rawPage, error) {
			calls++
			return []rawPage{{Text: "hello"}, {Graphics: true}}, result
		}
		return x
	}
	want := func(n int, class string) {
		t.Helper()
		doc, err := extract(open(), []byte("%PDF-"))
		if calls != n || classOf(err) != class || err == nil && fmt.Sprint(doc) != "{[{hello  []} { no_text_layer []}] []}" {
			t.Errorf("%d calls, %+v, %v", calls, doc, err)
		}
	}
	result = failure(record.ClassCrashed, "gone")
	want(1, record.ClassCrashed)
	want(2, record.ClassCrashed) // not kept
	result = failure(record.ClassTimeout, "slow")
	want(3, record.ClassTimeout)
	want(3, record.ClassTimeout) // kept
	files, _ := filepath.Glob(filepath.Join(dir, "pdf", "*", "*", "*"))
	if len(files) != 1 {
		t.Fatalf("files %q", files)
	}
	dayAgo := time.Now().Add(-keepGivenUp - time.Minute)
	os.Chtimes(files[0], dayAgo, dayAgo)
	result = failure(record.ClassPassword, "locked")
	want(4, record.ClassPassword) // for a day
	os.Chtimes(files[0], dayAgo, dayAgo)
	want(4, record.ClassPassword)
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	result = nil
	for i, damaged := range [][]byte{nil, data[:len(data)-3], bytes.Replace(data, []byte("locked"), []byte("lucked"), 1)} {
		os.WriteFile(files[0], damaged, 0o600)
		want(5+i, "<nil>")
		want(5+i, "<nil>")
	}
}

func TestUnusableCache(t *testing.T) {
	occupied := filepath.Join(t.TempDir(), "file")
	os.WriteFile(occupied, nil, 0o600)
	x := NewExtractor(Options{Engine: Plain, CacheDir: occupied})
	x.run = func(context.Context, []byte) ([]rawPage, error) { return []rawPage{{Text: "hello"}}, nil }
	if _, err := extract(x, []byte("%PDF-")); err != nil {
		t.Error(err)
	}
}

func TestPrune(t *testing.T) {
	now := time.Now()
	c := newCache(t.TempDir(), Auto)
	put := func(hash string, age time.Duration) {
		c.put(hash, Doc{Pages: []Page{{Text: hash}}}, nil)
		os.Chtimes(c.path(hash), now.Add(-age), now.Add(-age))
	}
	has := func(hash string) bool {
		_, err := os.Stat(c.path(hash))
		return err == nil
	}
	put("old", unused+time.Hour)
	put("fresh", time.Hour)
	put("used", unused+time.Hour)
	c.get("used")
	c.prune(now)
	if has("old") || !has("fresh") || !has("used") {
		t.Errorf("old %v, fresh %v, used %v", has("old"), has("fresh"), has("used"))
	}
	put("large", 2*time.Hour)
	os.Truncate(c.path("large"), cacheSize)
	os.Chtimes(c.path("large"), now.Add(-2*time.Hour), now.Add(-2*time.Hour))
	c.prune(now)
	if !has("large") {
		t.Error("pruned twice in a day")
	}
	c.prune(now.Add(pruneEvery + time.Minute))
	if has("large") || !has("fresh") {
		t.Errorf("large %v, fresh %v", has("large"), has("fresh"))
	}
}

// sealedFile is a code cache with a file as the runtime leaves it, sealed.
func sealedFile(t *testing.T) (c codeCache, name string) {
	c = newCodeCache(t.TempDir())
	name = filepath.Join(c.dir, "wazero-1", "key")
	if err := atomicfile.Write(name, bytes.Repeat([]byte("code"), 1000)); err != nil {
		t.Fatal(err)
	}
	c.seal()
	return c, name
}

func TestSeal(t *testing.T) {
	for what, damage := range map[string]func([]byte) []byte{
		"a bit":      func(b []byte) []byte { b[7] ^= 1; return b },
		"its seal":   func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"its end":    func(b []byte) []byte { return b[:len(b)-1] },
		"everything": func([]byte) []byte { return nil },
		"no seal":    func(b []byte) []byte { return b[:len(b)-8] },
	} {
		c, name := sealedFile(t)
		if !c.warm() {
			t.Fatal("cold")
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(name, damage(data), 0o600)
		if _, err := os.Stat(name); c.warm() || err != nil {
			t.Errorf("%s: still warm, %v", what, err)
		}
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s: still there", what)
		}
	}
}

func TestCodeCache(t *testing.T) {
	if _, err := extract(extractor(t, PDFium), pagesOf(lines("hello"))); err != nil {
		t.Fatal(err)
	}
	if c := newCodeCache(compiled); !c.warm() || len(c.files()) != 1 {
		t.Errorf("files %q", c.files())
	}
	occupied := filepath.Join(t.TempDir(), "file")
	os.WriteFile(occupied, nil, 0o600)
	if c := newCodeCache(occupied); c.warm() {
		t.Error("warm")
	} else if _, err := c.open(false); err == nil {
		t.Error("no error")
	}
}
