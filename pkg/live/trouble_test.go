package live_test

import (
	"errors"
	"os"
	"testing"

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
