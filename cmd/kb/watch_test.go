package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kb/pkg/record"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// watchRun is a kb watch that runs in a folder of its own.
type watchRun struct {
	*example
	cmd     *exec.Cmd
	stderr  bytes.Buffer
	records chan record.Indexed // closed when it ended
}

func startWatch(t *testing.T, line string) *watchRun {
	w := &watchRun{example: newExample(t, ""), records: make(chan record.Indexed, 100)}
	for _, name := range []string{"notes", "index.jsonl.zst"} {
		if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.write(t, "notes/a.md", "# Heron\n\nThe heron stands in the reeds.\n")
	w.cmd = w.command("exec env " + line)
	w.cmd.Stderr = &w.stderr
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.cmd.Process.Kill() })
	go func() {
		defer close(w.records)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var r record.Indexed
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				r.Path = lines.Text()
			}
			w.records <- r
		}
	}()
	return w
}

// write writes a file as editors do: beside it, and renames it over.
func (w *watchRun) write(t *testing.T, name, text string) {
	t.Helper()
	full := filepath.Join(w.dir, name)
	err := os.MkdirAll(filepath.Dir(full), 0o755)
	if err == nil {
		err = os.WriteFile(full+".tmp", []byte(text), 0o644)
	}
	if err == nil {
		err = os.Rename(full+".tmp", full)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (w *watchRun) rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(filepath.Join(w.dir, from), filepath.Join(w.dir, to)); err != nil {
		t.Fatal(err)
	}
}

// wait wants these records next, each "status path".
func (w *watchRun) wait(t *testing.T, want ...string) {
	t.Helper()
	for _, s := range want {
		select {
		case r, ok := <-w.records:
			if got := fmt.Sprintf("%s %s", r.Status, r.Path); got != s {
				t.Fatalf("got %q (%t), want %q\n%s", got, ok, s, w.stderr.String())
			}
		case <-time.After(patience):
			t.Fatalf("no %q\n%s", s, w.stderr.String())
		}
	}
}

// searchAll searches again and again until done is closed, and returns the
// first failure.
func (w *watchRun) searchAll(done chan struct{}) error {
	for n := 0; ; n++ {
		select {
		case <-done:
			if n == 0 {
				return errors.New("no search was made")
			}
			return nil
		default:
		}
		if out, err := w.command("kb search --mode bm25 heron").CombinedOutput(); err != nil {
			return fmt.Errorf("search %d: %w: %s", n, err, out)
		}
	}
}

// Whatever is done to the notes is in the index soon after, and searches go on
// meanwhile.
func TestWatch(t *testing.T) {
	t.Parallel()
	w := startWatch(t, "kb watch notes")
	w.wait(t, "created notes/a.md")
	done, searched := make(chan struct{}), make(chan error)
	go func() { searched <- w.searchAll(done) }()

	w.write(t, "notes/a.md", "# Heron\n\nThe heron left.\n")
	w.wait(t, "updated notes/a.md")
	w.write(t, "notes/new/deep/b.md", "# Kettle\n\nThe kettle is on the stove.\n")
	w.wait(t, "created notes/new/deep/b.md")
	w.write(t, "notes/new/deep/b.md", "# Kettle\n\nThe kettle is cold.\n")
	w.wait(t, "updated notes/new/deep/b.md")
	w.rename(t, "notes/new", "notes/old")
	w.wait(t, "removed notes/new/deep/b.md", "created notes/old/deep/b.md")
	w.write(t, "notes/old/deep/c.md", "# Walnut\n\nTwo walnuts.\n")
	w.wait(t, "created notes/old/deep/c.md")
	for _, name := range []string{".a.md.swp", "4913", "a.md~", "#a.md#", ".~lock.a.md#", "b.pdf.part"} {
		w.write(t, "notes/"+name, "temporary")
	}
	if err := os.Remove(filepath.Join(w.dir, "notes/old/deep/b.md")); err != nil {
		t.Fatal(err)
	}
	w.wait(t, "removed notes/old/deep/b.md")

	w.rename(t, "notes", "away")
	w.write(t, "away/a.md", "# Heron\n\nThe heron is back.\n")
	w.rename(t, "away", "notes")
	w.wait(t, "updated notes/a.md")
	w.write(t, ".kbignore", "old/\n")
	w.wait(t, "removed notes/old/deep/c.md")

	close(done)
	if err := <-searched; err != nil {
		t.Error(err)
	}
	w.interrupt(t)
}

// interrupt ends it as Ctrl-C does, and wants that nothing more was written.
func (w *watchRun) interrupt(t *testing.T) {
	t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for r := range w.records {
		t.Errorf("also wrote %+v", r)
	}
	w.cmd.Wait()
	if code := w.cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, exitInterrupted, w.stderr.String())
	}
}

func TestWatchPolls(t *testing.T) {
	t.Parallel()
	w := startWatch(t, "kb watch --poll 100ms notes")
	w.wait(t, "created notes/a.md")
	w.write(t, "notes/new/b.md", "# Kettle\n\nThe kettle is on the stove.\n")
	w.wait(t, "created notes/new/b.md")
	w.interrupt(t)
}

// An endpoint that fails does not end it; that is told once, until it works.
func TestWatchRetries(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	models := newModelServer("")
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if requests.Add(1) <= 2 {
			http.Error(rw, "no such key", http.StatusUnauthorized)
			return
		}
		models.ServeHTTP(rw, r)
	}))
	defer server.Close()
	w := startWatch(t, "KB_EMBED_MODEL=words KB_EMBED_BASE_URL="+server.URL+"/v1 kb watch notes")
	w.wait(t, "created notes/a.md")
	w.interrupt(t)
	if got := strings.Count(w.stderr.String(), "it will be tried again"); got != 1 {
		t.Errorf("told %d times: %s", got, w.stderr.String())
	}
}
