package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// put writes a file, as a program would that renames a new one over the old.
func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name+".new", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fake is a notifier that the test speaks for.
type fake struct {
	mu     sync.Mutex
	events chan fsnotify.Event
	errs   chan error
	adds   []string
	refuse error // what Add returns
	opened int
}

func (f *fake) open() (notifier, <-chan fsnotify.Event, <-chan error, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened++
	f.events, f.errs = make(chan fsnotify.Event), make(chan error)
	return &opened{f, f.events, f.errs}, f.events, f.errs, nil
}

func (f *fake) tell(name string, op fsnotify.Op) { f.events <- fsnotify.Event{Name: name, Op: op} }

type opened struct {
	*fake
	events chan fsnotify.Event
	errs   chan error
}

func (o *opened) Add(folder string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.adds = append(o.adds, folder)
	return o.refuse
}

func (o *opened) Close() error { close(o.events); close(o.errs); return nil }

// watched is a watch in a bubble of time.
type watched struct {
	*fake
	calls  []time.Duration // of OnChange, since the start
	warns  []string
	result func() error // of OnChange
	began  time.Time
}

// during runs a watch of notes in an empty folder while the test does things.
func during(t *testing.T, o Options, do func(w *watched)) {
	t.Helper()
	duringOn(t, "", o, do)
}

// duringOn is during on a file system that does not tell of all changes.
func duringOn(t *testing.T, system string, o Options, do func(w *watched)) {
	t.Helper()
	t.Chdir(t.TempDir())
	put(t, "notes/a.md", "a")
	synctest.Test(t, func(t *testing.T) {
		w := &watched{fake: &fake{}, began: time.Now(), result: well}
		o.OnChange = func(context.Context) error {
			w.mu.Lock()
			w.calls = append(w.calls, time.Since(w.began))
			result := w.result
			w.mu.Unlock()
			return result()
		}
		o.Warn = func(m string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.warns = append(w.warns, m)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		watcher := newWatcher([]string{"notes"}, o, w.open)
		watcher.remote = func(string) string { return system }
		go func() { done <- watcher.run(ctx) }()
		synctest.Wait()
		do(w)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
}

// set has OnChange return what f does from now on, and Add refuse.
func (w *watched) set(f func() error, refuse error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result, w.refuse = f, refuse
}

// seen is when OnChange was called, and what was said.
func (w *watched) seen() ([]time.Duration, []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls), slices.Clone(w.warns)
}

// said wants that this was said, or a part of it, and nothing else.
func (w *watched) said(t *testing.T, want ...string) {
	t.Helper()
	_, got := w.seen()
	if !slices.EqualFunc(got, want, strings.Contains) {
		t.Errorf("said %q, want %q", got, want)
	}
}

func well() error { return nil }

// expect lets time go by, and wants so many calls since the start.
func (w *watched) expect(t *testing.T, calls int, when string) {
	t.Helper()
	time.Sleep(10 * time.Second)
	synctest.Wait()
	if got, _ := w.seen(); len(got) != calls {
		t.Errorf("%s: %d calls at %v, want %d", when, len(got), got, calls)
	}
}

func TestEvents(t *testing.T) {
	during(t, Options{}, func(w *watched) {
		w.expect(t, 1, "at the start")

		put(t, "notes/a.md", "changed")
		w.tell("notes/a.md.new", fsnotify.Create)
		w.tell("notes/a.md", fsnotify.Create)
		w.expect(t, 2, "a file was renamed over another")

		w.tell("notes/a.md", fsnotify.Write)
		w.expect(t, 3, "a file was written within the tick of its time")

		put(t, "notes/new/deep/b.md", "b") // nothing is heard of what is in it
		w.tell("notes/new", fsnotify.Create)
		w.expect(t, 4, "a new folder")
		if !slices.Contains(w.adds, "notes/new/deep") {
			t.Errorf("listens to %v", w.adds)
		}

		must(t, os.Rename("notes/new", "notes/moved"))
		w.tell("notes/new", fsnotify.Rename)
		w.tell("notes/moved", fsnotify.Create)
		w.expect(t, 5, "a folder was moved")
		if w.opened != 2 {
			t.Errorf("opened %d times: the old name of the folder is still listened to", w.opened)
		}

		must(t, os.Remove("notes/a.md"))
		w.tell("notes/a.md", fsnotify.Remove)
		w.expect(t, 6, "a file was removed")

		put(t, "notes/.kbignore", "moved/\n")
		w.tell("notes/.kbignore", fsnotify.Create)
		w.expect(t, 7, ".kbignore names what was indexed")

		w.said(t)
	})
}

// What programs leave beside the files that they write is no change.
func TestTemporaryFiles(t *testing.T) {
	during(t, Options{}, func(w *watched) {
		put(t, "notes/.kbignore", "drafts/\nsecret*\n")
		w.tell("notes/.kbignore", fsnotify.Create)
		for _, name := range []string{
			".a.md.swp", ".a.md.swx", "4913", "a.md~", // vim
			"#a.md#", ".#a.md", // emacs
			".~lock.a.docx#", "~$a.docx", "lu1234.tmp", // office programs
			"a.pdf.part", "a.pdf.crdownload", "a.pdf.download", "a.md.tmp", // downloads
			"sedXyZ123", ".goutputstream-1", "a.md___jb_tmp___", ".a.md.kate-swp",
			".git/index.md", ".obsidian/x.md", "node_modules/x/readme.md", // folders that are passed over
			"drafts/x.md", "secret.md", // by .kbignore
		} {
			put(t, "notes/"+name, name)
			w.tell("notes/"+name, fsnotify.Create)
			w.tell("notes/"+name, fsnotify.Write)
			w.expect(t, 1, name)
			if !strings.Contains(name, "/") {
				must(t, os.Remove("notes/"+name))
				w.tell("notes/"+name, fsnotify.Remove)
			}
			w.expect(t, 1, name+" was removed")
		}
	})
}

func TestBurst(t *testing.T) {
	during(t, Options{}, func(w *watched) {
		w.expect(t, 1, "at the start")
		began := time.Since(w.began)
		for i := range 100 {
			put(t, "notes/a.md", strings.Repeat("x", i))
			w.tell("notes/a.md", fsnotify.Write)
			time.Sleep(100 * time.Millisecond)
		}
		w.expect(t, 3, "10 s of writing")
		calls, _ := w.seen()
		if got := calls[1] - began; got != defaultMaxDelay {
			t.Errorf("the first call came after %s", got)
		}
		if got := calls[2] - began; got < 10*time.Second || got > 10*time.Second+defaultSettle {
			t.Errorf("the last call came after %s", got)
		}
	})
}

func TestChangeDuringCall(t *testing.T) {
	during(t, Options{}, func(w *watched) {
		w.expect(t, 1, "at the start")
		w.set(func() error { time.Sleep(5 * time.Second); return nil }, nil)
		put(t, "notes/a.md", "1")
		w.tell("notes/a.md", fsnotify.Write)
		time.Sleep(time.Second)
		for i := range 50 {
			put(t, "notes/a.md", strings.Repeat("2", 2+i))
			w.tell("notes/a.md", fsnotify.Write)
		}
		w.expect(t, 3, "changes during a call")
	})
}

func TestFailure(t *testing.T) {
	during(t, Options{}, func(w *watched) {
		w.expect(t, 1, "at the start")
		w.set(func() error { return errors.New("endpoint down") }, nil)
		began := time.Since(w.began)
		put(t, "notes/a.md", "1")
		w.tell("notes/a.md", fsnotify.Write)
		time.Sleep(200 * time.Second)
		var at []int
		calls, _ := w.seen()
		for _, c := range calls[1:] {
			at = append(at, int((c - began).Seconds()))
		}
		if want := []int{0, 1, 3, 7, 15, 31, 63, 123, 183}; !slices.Equal(at, want) {
			t.Errorf("called at %v s, want %v", at, want)
		}
		put(t, "notes/a.md", "12")
		w.tell("notes/a.md", fsnotify.Write)
		w.expect(t, len(calls)+1, "a change while it fails")
		w.set(well, nil)
		time.Sleep(time.Minute)
		w.expect(t, len(calls)+2, "it went well again")
		w.said(t, "endpoint down; it will be tried again")
	})
}

func TestMissingRoot(t *testing.T) {
	during(t, Options{}, func(w *watched) {
		must(t, os.Rename("notes", "away"))
		w.tell("notes", fsnotify.Rename)
		w.expect(t, 1, "the root is gone")
		must(t, os.Rename("away", "notes"))
		w.expect(t, 2, "it is back, as it was")
		put(t, "other/b.md", "b")
		must(t, os.Rename("notes", "away"))
		must(t, os.Rename("other", "notes"))
		w.expect(t, 3, "another one stands in its place")
		put(t, ".kbignore", "b.md\n")
		w.expect(t, 4, "a .kbignore above it")
		w.said(t, "notes is not there: its documents stay as they are until it is back", "notes is back")
	})
}

func TestPoll(t *testing.T) {
	during(t, Options{Poll: 3 * time.Second}, func(w *watched) {
		w.expect(t, 1, "at the start")
		put(t, "notes/a.md", "1")
		w.expect(t, 2, "an edit")
		put(t, "notes/new/b.md", "1")
		w.expect(t, 3, "a new folder")
		put(t, "notes/new/b.md~", "1")
		w.expect(t, 3, "a backup")
		must(t, os.RemoveAll("notes/new"))
		w.expect(t, 4, "the folder is gone")
		if w.opened > 0 {
			t.Error("listens, too")
		}
	})
}

func TestLimitOfWatches(t *testing.T) {
	during(t, Options{}, func(w *watched) {
		w.expect(t, 1, "at the start")
		w.set(well, syscall.ENOSPC)
		put(t, "notes/new/b.md", "1")
		w.tell("notes/new", fsnotify.Create)
		w.expect(t, 2, "a new folder")
		put(t, "notes/new/b.md", "12")
		w.expect(t, 3, "a change that nobody tells of")
		w.said(t, "fs.inotify.max_user_watches is used up (sysctl fs.inotify.max_user_watches=524288 raises it); looking for changes every 2s instead")
	})
}

func TestOverflow(t *testing.T) {
	during(t, Options{}, func(w *watched) {
		w.expect(t, 1, "at the start")
		put(t, "notes/new/b.md", "1")
		w.errs <- fsnotify.ErrEventOverflow
		w.expect(t, 2, "an overflow")
		w.said(t, "fs.inotify.max_queued_events")
		put(t, "notes/new/b.md", "12")
		w.tell("notes/new/b.md", fsnotify.Write)
		w.expect(t, 3, "after it")
	})
}

func TestRemoteFolder(t *testing.T) {
	duringOn(t, "NFS", Options{}, func(w *watched) {
		w.expect(t, 1, "at the start")
		put(t, "notes/a.md", "written elsewhere")
		w.expect(t, 2, "a change that nobody tells of")
		put(t, "notes/a.md", "written here")
		w.tell("notes/a.md", fsnotify.Write)
		began := time.Since(w.began)
		w.expect(t, 3, "a change that is told of")
		if calls, _ := w.seen(); calls[2]-began != defaultSettle {
			t.Errorf("it took %s", calls[2]-began)
		}
		w.said(t, "notes is on a file system (NFS) that does not tell of what others change: also looking every 5s")
	})
}
