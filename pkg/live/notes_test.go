package live_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kb/pkg/live"
	"kb/pkg/store"
)

// Whatever goes wrong with a change, folder and index tell what they told
// before, and nothing else is left in the folder.
func TestFailedChanges(t *testing.T) {
	p := newPlace(t, 0)
	p.write("a.md", "# A\n\nalpha")
	p.rebuild()
	broken := errors.New("the endpoint is down")
	closed, cancel := context.WithCancel(t.Context())
	cancel()
	for name, change := range map[string]func() error{
		"a new file": func() error { return p.add(t.Context(), "b.md", strings.NewReader("beta")) },
		"another content": func() error {
			return p.add(t.Context(), "a.md", strings.NewReader("beta"))
		},
		"a file that does not come whole": func() error {
			return p.add(t.Context(), "a.md", io.MultiReader(strings.NewReader("be"), &failing{broken}))
		},
		"a client that went away": func() error { return p.add(closed, "a.md", strings.NewReader("beta")) },
	} {
		p.failing = broken
		if err := change(); !errors.Is(err, broken) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		p.failing = nil
		if got, err := os.ReadFile("notes/a.md"); err != nil || string(got) != "# A\n\nalpha" {
			t.Errorf("%s: the file is %q, %v", name, got, err)
		}
		entries, err := os.ReadDir("notes")
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: left behind: %v, %v", name, entries, err)
		}
		if got := p.paths(); got != "a.md" {
			t.Errorf("%s: indexed are %s", name, got)
		}
	}
}

// A file that somebody changes or removes before it is indexed is no document,
// and the index is brought in step with the folder again, also where the build
// had nothing to change and so has kept the lock.
func TestChangedMeanwhile(t *testing.T) {
	const text = "# A\n\nalpha"
	for name, meanwhile := range map[string]func() error{
		"a.md": func() error { return os.WriteFile("notes/a.md", []byte(text), 0o644) },
		"b.md": func() error { return os.Remove("notes/b.md") },
	} {
		p := newPlace(t, 0)
		p.write("a.md", text)
		p.rebuild()
		notes := live.NewNotes(live.NotesOptions{Index: p.index, Dir: "notes", Build: func(ctx context.Context, tx store.Tx) error {
			if meanwhile != nil {
				if err := meanwhile(); err != nil {
					return err
				}
				meanwhile = nil
			}
			return p.build(ctx, tx)
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		defer context.AfterFunc(ctx, func() { notes.Close(context.Background()) })() // no other end reaches a change that was begun
		_, err := notes.Add(ctx, name, strings.NewReader("# B\n\nbeta"))
		if !errors.Is(err, live.ErrConflict) || errors.Is(err, context.Canceled) || errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile("notes/a.md"); err != nil || string(got) != text {
			t.Errorf("%s: notes/a.md is %q, %v", name, got, err)
		}
		if got := p.paths(); got != "a.md" {
			t.Errorf("%s: indexed are %s", name, got)
		}
		if _, err := notes.Add(ctx, name, strings.NewReader("# B\n\nbeta")); err != nil {
			t.Errorf("%s, again: %v", name, err)
		}
	}
}

func (p *place) add(ctx context.Context, name string, r io.Reader) error {
	_, err := p.notes.Add(ctx, name, r)
	return err
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// Closing gives up the change that is being made: it is undone when Close
// returns, and nothing is changed after that.
func TestClose(t *testing.T) {
	p := newPlace(t, 0)
	p.write("a.md", "# A\n\nalpha")
	p.rebuild()
	building := make(chan struct{})
	p.notes = live.NewNotes(live.NotesOptions{Index: p.index, Dir: "notes", Build: func(ctx context.Context, _ store.Tx) error {
		close(building)
		<-ctx.Done() // an endpoint that does not answer
		return ctx.Err()
	}})
	done := make(chan error, 1)
	go func() { done <- p.add(t.Context(), "a.md", strings.NewReader("# B\n\nbeta")) }()
	<-building
	if err := p.notes.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("notes/a.md"); err != nil || string(got) != "# A\n\nalpha" {
		t.Errorf("the file is %q, %v", got, err)
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := p.add(t.Context(), "b.md", strings.NewReader("beta")); err == nil {
		t.Error("a change after the end")
	}
	if err := p.notes.Remove(t.Context(), "notes/a.md"); err == nil {
		t.Error("a removal after the end")
	}
}

// What the folder lost or got otherwise is taken along; what a killed process
// left is swept up.
func TestSync(t *testing.T) {
	p := newPlace(t, 0)
	p.write("a.md", "# A\n\nalpha")
	p.write("c.md", "# C\n\ngamma")
	old := filepath.Join("notes", ".kb-upload-dead")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	if err := p.notes.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := p.paths(); got != "a.md c.md" {
		t.Errorf("after a sync: %s", got)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the folder of a process that is dead: %v", err)
	}
	os.Remove("notes/c.md")
	added, err := p.notes.Add(t.Context(), "b.md", strings.NewReader("# B\n\nbeta"))
	if err != nil || added.Status != "created" || added.Chunks != 1 {
		t.Errorf("%+v, %v", added, err)
	}
	if got := p.paths(); got != "a.md b.md" {
		t.Errorf("after an upload: %s", got)
	}
	for _, name := range []string{"notes/a.md", "notes/b.md"} { // the last one, too
		if err := p.notes.Remove(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if err := p.notes.Remove(t.Context(), "notes/b.md"); !errors.Is(err, live.ErrNotFound) {
		t.Errorf("again: %v", err)
	}
	if got := p.paths(); got != "" {
		t.Errorf("after all: %s", got)
	}
	if _, err := p.notes.Add(t.Context(), "d.md", strings.NewReader("# D\n\ndelta")); err != nil {
		t.Errorf("into an empty folder: %v", err)
	}
}

// A document is removed by its name as it is: none that it would match as a glob
// goes with it.
func TestRemoveIsExact(t *testing.T) {
	p := newPlace(t, 0)
	for _, name := range []string{"a1.md", "a[1].md", "a[b.md", "{a1,c}.md"} {
		p.write(name, "# A\n\nalpha "+name)
	}
	p.rebuild()
	for _, step := range []struct{ name, left string }{
		{"a[1].md", "a1.md a[b.md {a1,c}.md"},
		{"a[b.md", "a1.md {a1,c}.md"},
		{"{a1,c}.md", "a1.md"},
	} {
		if err := p.notes.Remove(t.Context(), "notes/"+step.name); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
		if got := p.paths(); got != step.left {
			t.Errorf("without %s: %s, want %s", step.name, got, step.left)
		}
	}
}

// Many uploads at once: each is there in the end.
func TestManyAtOnce(t *testing.T) {
	p := newPlace(t, 0)
	const n = 6
	errs := make(chan error, n)
	for i := range n {
		go func() {
			errs <- p.add(t.Context(), string(rune('a'+i))+".md", strings.NewReader("# X\n\nwords"+string(rune('a'+i))))
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := p.paths(); got != "a.md b.md c.md d.md e.md f.md" {
		t.Errorf("indexed are %s", got)
	}
}
