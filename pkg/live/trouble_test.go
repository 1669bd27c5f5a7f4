package live_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kb/pkg/live"
	"kb/pkg/search"
	"kb/pkg/store"
	"kb/pkg/store/flat"
)

// A version that could not be opened for a reason that passes is opened later;
// while it is not, a refresh says so.
func TestPassingFailure(t *testing.T) {
	p := newPlace(t, 0)
	p.write("a.md", "# A\n\nalpha")
	p.rebuild()
	var trouble error
	x := live.New(live.Options{Store: p.store, Searcher: func(r store.Reader) (*search.Searcher, error) {
		if trouble != nil {
			return nil, trouble
		}
		return search.New(search.Options{Reader: r})
	}})
	t.Cleanup(x.Close)
	documents := func() int {
		t.Helper()
		l, err := x.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Release()
		return l.Info().Documents
	}
	documents()
	p.write("b.md", "# B\n\nbeta")
	p.rebuild()
	trouble = errors.New("too many open files")
	if n := documents(); n != 1 {
		t.Errorf("%d documents", n)
	}
	for range 2 {
		if err := x.Refresh(t.Context()); !errors.Is(err, trouble) {
			t.Errorf("refresh: %v", err)
		}
	}
	if _, stale := x.Opened(); !stale {
		t.Error("not stale")
	}
	trouble = nil
	if n := documents(); n != 2 {
		t.Errorf("%d documents once the trouble has passed", n)
	}
}

// A file can be removed while the index is not there: it is built anew.
func TestRemoveWithoutIndex(t *testing.T) {
	p := newPlace(t, 0)
	p.write("a.md", "# A\n\nalpha")
	p.write("b.md", "# B\n\nbeta")
	p.rebuild()
	p.lease().Release()
	if err := os.Remove("index.jsonl.zst"); err != nil {
		t.Fatal(err)
	}
	if err := p.notes.Remove(t.Context(), "notes/a.md"); err != nil {
		t.Fatal(err)
	}
	if got := p.paths(); got != "b.md" {
		t.Errorf("indexed are %q", got)
	}
	if _, err := os.Stat("notes/a.md"); !os.IsNotExist(err) {
		t.Errorf("the file: %v", err)
	}
}

// While another process writes, uploads and removals are refused before the
// folder is touched, which that process may be reading, and a sync waits without
// embedding anything.
func TestLocked(t *testing.T) {
	p := newPlace(t, 0)
	p.write("a.md", "# A\n\nalpha")
	p.rebuild()
	tx, err := flat.New("index.jsonl.zst").Begin(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	p.write("b.md", "# B\n\nbeta")
	embedded := p.embedder.calls.Load()
	tried := make(chan error, 100)
	notes := live.NewNotes(live.NotesOptions{Index: p.index, Dir: "notes", Build: func(ctx context.Context, tx store.Tx) error {
		err := p.build(ctx, tx)
		tried <- err
		return err
	}})
	done := make(chan error, 1)
	go func() { done <- notes.Sync(t.Context()) }()
	if err := <-tried; !errors.Is(err, store.ErrLocked) || p.embedder.calls.Load() != embedded {
		t.Errorf("a sync: %v, embedded %d times", err, p.embedder.calls.Load()-embedded)
	}

	for _, name := range []string{"a.md", "c.md"} { // folders that would be in the way
		os.Remove(filepath.Join("notes", name))
		if err := os.Mkdir(filepath.Join("notes", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := notes.Add(ctx, "c.md", strings.NewReader("# C\n\ngamma")); !errors.Is(err, store.ErrLocked) {
		t.Errorf("an upload: %v", err)
	}
	if err := notes.Remove(ctx, "notes/a.md"); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a removal: %v", err)
	}
	tx.Rollback()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := p.paths(); got != "b.md" {
		t.Errorf("indexed are %q", got)
	}
}
