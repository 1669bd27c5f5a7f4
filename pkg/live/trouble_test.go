package live_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kb/pkg/live"
	"kb/pkg/search"
	"kb/pkg/store"
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

// While another process writes, a sync waits for it, and an upload is told.
func TestUploadDuringSyncThatWaits(t *testing.T) {
	p := newPlace(t, 0)
	var locked atomic.Bool
	locked.Store(true)
	tried := make(chan struct{}, 100)
	notes := live.NewNotes(live.NotesOptions{Index: p.index, Dir: "notes", Build: func(ctx context.Context, wait bool) error {
		tried <- struct{}{}
		if locked.Load() && wait {
			<-ctx.Done()
			return ctx.Err()
		}
		if locked.Load() {
			return store.ErrLocked
		}
		return p.build(ctx, wait)
	}})
	done := make(chan error, 1)
	go func() { done <- notes.Sync(t.Context()) }()
	<-tried
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := notes.Add(ctx, "a.md", strings.NewReader("# A\n\nalpha")); !errors.Is(err, store.ErrLocked) {
		t.Errorf("an upload: %v", err)
	}
	p.write("b.md", "# B\n\nbeta")
	locked.Store(false)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := p.paths(); got != "b.md" {
		t.Errorf("indexed are %q", got)
	}
}
