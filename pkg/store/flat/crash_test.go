package flat_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/pkg/store/storetest"
)

const crashEnv = "KB_FLAT_TEST_COMMIT"

// commitUntilKilled is what the test binary does in its second role: it writes
// two versions of an index in turn, until it is killed.
func commitUntilKilled() bool {
	path := os.Getenv(crashEnv)
	if path == "" {
		return false
	}
	g, a, b := versions()
	for i := 0; ; i++ {
		docs := a
		if i%2 == 1 {
			docs = b
		}
		fmt.Println("committing")
		if err := put(flat.New(path), g, docs); err != nil {
			fmt.Println(err)
			return true
		}
	}
}

func versions() (g *storetest.Generator, a, b []*storetest.Doc) {
	g = storetest.NewGenerator(61, 256)
	return g, g.Docs(60), g.Docs(60)
}

func put(s *flat.Store, g *storetest.Generator, docs []*storetest.Doc) error {
	tx, err := s.Begin(context.Background(), true)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, d := range docs {
		if err := tx.Put(context.Background(), d.Document, d.Chunks); err != nil {
			return err
		}
	}
	_, err = tx.Commit(context.Background(), g.Settings())
	return err
}

// TestKilled kills a writer at many moments. The index is always one of the
// two versions, and the next writer cleans up.
func TestKilled(t *testing.T) {
	g, a, b := versions()
	dir := t.TempDir()
	path := filepath.Join(dir, "index.jsonl.zst")
	s := flat.New(path)
	var files [2][]byte
	for i, docs := range [][]*storetest.Doc{a, b} {
		if err := put(s, g, docs); err != nil {
			t.Fatal(err)
		}
		files[i] = read(t, path)
	}
	left := 0
	for i := range 12 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashEnv+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + i%2 {
			lines.Scan()
		}
		if lines.Text() != "committing" {
			t.Fatalf("the writer says %q", lines.Text())
		}
		time.Sleep(time.Duration(i) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		if got := read(t, path); !bytes.Equal(got, files[0]) && !bytes.Equal(got, files[1]) {
			t.Fatalf("kill %d: the file is neither the old nor the new one", i)
		}
		left += len(temps(t, dir))
	}
	t.Logf("%d temporary files were left behind and removed", left)
	if err := put(s, g, a); err != nil {
		t.Fatal(err)
	}
	if names := temps(t, dir); len(names) > 0 || !bytes.Equal(read(t, path), files[0]) {
		t.Errorf("left behind: %v", names)
	}
}

func temps(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), ".tmp-") {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestReaderDuringWrites: a reader that is open, and readers that open while
// a writer commits, see one whole version.
func TestReaderDuringWrites(t *testing.T) {
	g, a, b := versions()
	path := filepath.Join(t.TempDir(), "index.jsonl.zst")
	s := flat.New(path)
	q := g.Query()
	var want [2]string
	for i, docs := range [][]*storetest.Doc{a, b} {
		if err := put(s, g, docs); err != nil {
			t.Fatal(err)
		}
		want[i], _ = answers(t, s, q)
	}
	done := make(chan error)
	go func() {
		for i := range 12 {
			if err := put(s, g, [][]*storetest.Doc{a, b}[i%2]); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for n := 0; ; n++ {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
			got, err := answers(t, s, q)
			if err != nil || got != want[0] && got != want[1] {
				t.Fatalf("read %d: %v", n, err)
			}
		}
	}
}

func TestStamp(t *testing.T) {
	path, g, docs := small(t)
	s := flat.New(path)
	stamps := map[string]bool{}
	stamp := func() string {
		t.Helper()
		got, err := s.Stamp(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stamps[got] = true
		return got
	}
	if first := stamp(); first != stamp() {
		t.Error("the stamp changed without the file")
	}
	storetest.Write(t, s, g.Settings(), g.Doc(docs[0].Path))
	stamp()
	os.Remove(path)
	if got := stamp(); got != "" || len(stamps) != 3 {
		t.Errorf("%q, of %d stamps", got, len(stamps))
	}
}

// TestFailedWrite: where the new file cannot be written the old one stays, and
// nothing is left behind.
func TestFailedWrite(t *testing.T) {
	path, g, _ := small(t)
	before := read(t, path)
	s := flat.New(path)
	tx, err := s.Begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	d := g.Doc("notes/new.md")
	if err := tx.Put(t.Context(), d.Document, d.Chunks); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tx.Commit(ctx, g.Settings()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if names := temps(t, filepath.Dir(path)); len(names) > 0 || !bytes.Equal(before, read(t, path)) {
		t.Errorf("left behind: %v", names)
	}
	if _, err := flat.New(filepath.Join(path, "no", "folder")).Begin(t.Context(), true); err == nil {
		t.Error("a change in a folder that does not exist")
	}
}

// TestLink: an index behind a symbolic link is replaced, not the link.
func TestLink(t *testing.T) {
	path, g, docs := small(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	os.Chmod(path, 0o640)
	storetest.Write(t, flat.New(link), g.Settings(), g.Doc(docs[0].Path))
	if stat, err := os.Lstat(link); err != nil || stat.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v", stat.Mode(), err)
	}
	if stat, err := os.Stat(path); err != nil || stat.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", stat.Mode(), err)
	}
}

// TestLarge: more than is kept in memory, and texts of many megabytes.
func TestLarge(t *testing.T) {
	g := storetest.NewGenerator(62, 4)
	docs := g.Docs(3)
	for i, d := range docs {
		d.Chunks[0].Text = strings.Repeat(fmt.Sprintf("text%d ", i), 1_000_000)
		d.Finish()
	}
	s := flat.New(filepath.Join(t.TempDir(), "index.jsonl.zst"))
	storetest.Write(t, s, g.Settings(), docs...)
	storetest.Write(t, s, g.Settings(), g.Doc("notes/small.md"))
	r := storetest.Open(t, s)
	for _, d := range docs {
		for c, err := range r.Chunks(t.Context(), d.Path, false) {
			if err != nil || c.Text != d.Chunks[c.Seq-1].Text {
				t.Fatalf("%s: chunk %d: %v", d.Path, c.Seq, err)
			}
		}
	}
	huge := g.Doc("notes/huge.md")
	huge.Chunks = huge.Chunks[:1]
	huge.Chunks[0].Text = strings.Repeat("x", 65<<20)
	huge.Finish()
	tx, err := s.Begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := tx.Put(t.Context(), huge.Document, huge.Chunks); err == nil || !strings.Contains(err.Error(), "notes/huge.md") {
		t.Errorf("a chunk of 65 MiB: %v", err)
	}
}

// TestAnalyzerChanges: without vectors an index may get another analyzer, and
// then its texts are inverted again. There is one analyzer by several names.
func TestAnalyzerChanges(t *testing.T) {
	g := storetest.NewGenerator(63, 0)
	docs := g.Docs(30)
	s := flat.New(filepath.Join(t.TempDir(), "index.jsonl.zst"))
	storetest.Write(t, s, store.Settings{Analyzer: "ngram"}, docs...)
	storetest.Write(t, s, store.Settings{Analyzer: "ngram-2"})
	report, err := s.Verify(t.Context())
	if err != nil || len(report.Faults) > 0 || report.Info.Analyzer != "ngram-2" || report.Info.Chunks == 0 {
		t.Errorf("%+v, %v", report, err)
	}
}
