package flat_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/pkg/store/storetest"
)

// The tests of this file run writers and readers as processes of their own.
// Each is this test binary, told by the environment to be TestProcess in a
// role.
const (
	roleEnv = "KB_FLAT_TEST_ROLE"
	pathEnv = "KB_FLAT_TEST_PATH"
	argEnv  = "KB_FLAT_TEST_ARG"
)

var roles = map[string]func(path, arg string) error{
	"write": writeMany,
	"read":  readUntilTold,
	"flip":  writeInTurns,
	"full":  writeWithoutRoom,
}

// TestProcess is what the other processes run, and nothing by itself.
func TestProcess(t *testing.T) {
	role := roles[os.Getenv(roleEnv)]
	if role == nil {
		return
	}
	if err := role(os.Getenv(pathEnv), os.Getenv(argEnv)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process starts a role. Its standard output is left to the caller, and what
// it says of an error is in the last result.
func process(role, path, arg string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestProcess$")
	cmd.Env = append(os.Environ(), roleEnv+"="+role, pathEnv+"="+path, argEnv+"="+arg)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	return cmd, &errs
}

const (
	writers = 6
	each    = 6 // documents of a writer, one commit for each
)

// crowdDoc is the i-th document of a writer, the same in every process.
func crowdDoc(writer, i int) (*storetest.Generator, *storetest.Doc) {
	g := storetest.NewGenerator(uint64(100*writer+i), 16)
	return g, g.Doc(fmt.Sprintf("notes/%d/%d.md", writer, i))
}

func writeMany(path, arg string) error {
	writer, err := strconv.Atoi(arg)
	if err != nil {
		return err
	}
	for i := range each {
		g, d := crowdDoc(writer, i)
		if err := put(flat.New(path), g, []*storetest.Doc{d}); err != nil {
			return err
		}
	}
	return nil
}

// readUntilTold reads everything, again and again, until its standard input
// ends. What it sees must be whole and only ever grow.
func readUntilTold(path, _ string) error {
	told := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(told)
	}()
	fmt.Println("reading")
	seen := 0
	for {
		n, err := readAll(path)
		if err != nil {
			return err
		}
		if n < seen {
			return fmt.Errorf("%d documents, after %d", n, seen)
		}
		seen = n
		select {
		case <-told:
			return nil
		default:
		}
	}
}

// readAll compares all that the index has with what was written.
func readAll(path string) (documents int, err error) {
	ctx := context.Background()
	r, err := flat.New(path).Open(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer r.Close()
	g := storetest.NewGenerator(1, 16)
	if _, err := r.Nearest(ctx, g.Query(), 5, store.Filter{}); err != nil {
		return 0, err
	}
	if _, err := r.Lexical(ctx, []string{"w1", "标题"}, 5, store.Filter{}); err != nil {
		return 0, err
	}
	for d, err := range r.Documents(ctx) {
		if err != nil {
			return 0, err
		}
		documents++
		var writer, i, n int
		if _, err := fmt.Sscanf(d.Path, "notes/%d/%d.md", &writer, &i); err != nil {
			return 0, err
		}
		_, want := crowdDoc(writer, i)
		for c, err := range r.Chunks(ctx, d.Path, true) {
			if err != nil {
				return 0, err
			}
			if n >= len(want.Chunks) || c.Text != want.Chunks[n].Text || len(c.Vector) != 16 || c.Vector[3] != want.Chunks[n].Vector[3] {
				return 0, fmt.Errorf("%s: chunk %d is not what was written", d.Path, n)
			}
			n++
		}
		if n != len(want.Chunks) {
			return 0, fmt.Errorf("%s has %d chunks, not %d", d.Path, n, len(want.Chunks))
		}
	}
	return documents, nil
}

// TestManyWriters: six processes write at once, two read throughout. No change
// is lost, nobody sees half of one, and the file is what one writer would have
// made.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "index.jsonl.zst")
	type running struct {
		cmd  *exec.Cmd
		errs *bytes.Buffer
		stop io.Closer
	}
	var readers, all []running
	for range 2 {
		cmd, errs := process("read", path, "")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		readers = append(readers, running{cmd, errs, in})
	}
	for w := range writers {
		cmd, errs := process("write", path, strconv.Itoa(w))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, running{cmd: cmd, errs: errs})
	}
	for w, p := range all {
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("writer %d: %v: %s", w, err, p.errs)
		}
	}
	for i, p := range readers {
		p.stop.Close()
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("reader %d: %v: %s", i, err, p.errs)
		}
	}
	if n, err := readAll(path); err != nil || n != writers*each {
		t.Fatalf("%d documents of %d: %v", n, writers*each, err)
	}
	var docs []*storetest.Doc
	var g *storetest.Generator
	for w := range writers {
		for i := range each {
			var d *storetest.Doc
			g, d = crowdDoc(w, i)
			docs = append(docs, d)
		}
	}
	alone := filepath.Join(t.TempDir(), "alone")
	storetest.Write(t, flat.New(alone), g.Settings(), docs...)
	if !bytes.Equal(read(t, path), read(t, alone)) {
		t.Error("many writers give another file than one")
	}
	if names := temps(t, dir); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// turns are two versions of a small index, each a change of the other.
func turns() (g *storetest.Generator, a, b []*storetest.Doc) {
	g = storetest.NewGenerator(64, 64)
	a = g.Docs(20)
	return g, a, g.Docs(20)
}

// writeInTurns writes the two versions until it is killed, and says so before
// each.
func writeInTurns(path, _ string) error {
	g, a, b := turns()
	for i := 0; ; i++ {
		fmt.Println("writing")
		if err := put(flat.New(path), g, [][]*storetest.Doc{a, b}[i%2]); err != nil {
			return err
		}
	}
}

// TestKilledAtRandom kills writers at random moments of 200 writes, also of those
// that make the first version. There is always one whole version, or none where
// none was finished.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	g, a, b := turns()
	dir := t.TempDir()
	path := filepath.Join(dir, "index.jsonl.zst")
	var files [2][]byte
	began := time.Now()
	for i, docs := range [][]*storetest.Doc{a, b} {
		if err := put(flat.New(path), g, docs); err != nil {
			t.Fatal(err)
		}
		files[i] = read(t, path)
	}
	once := time.Since(began) / 2       // a write
	writes, limit := 200, 4*time.Second // whichever comes first
	if testing.Short() {
		writes = 30
	}
	rng := rand.New(rand.NewPCG(65, 1))
	var seen [3]int // the first version, the second, none
	left, done, begun := 0, 0, 0
	for began = time.Now(); begun < writes && time.Since(began) < limit; done++ {
		if done%10 == 0 {
			os.Remove(path)
		}
		n := 1 + rng.IntN(3)
		begun += n
		killAfter(t, path, n, time.Duration(rng.Int64N(int64(2*once))))
		got, err := os.ReadFile(path)
		switch {
		case errors.Is(err, os.ErrNotExist) && done%10 == 0:
			seen[2]++
			os.WriteFile(path, files[0], 0o600)
		case err != nil:
			t.Fatal(err)
		case bytes.Equal(got, files[0]):
			seen[0]++
		case bytes.Equal(got, files[1]):
			seen[1]++
		default:
			t.Fatalf("kill %d: the file is neither of the versions", done)
		}
		left += len(temps(t, dir))
	}
	t.Logf("%d kills in %d writes left %d times the first version, %d the second, %d none, and %d temporary files", done, begun, seen[0], seen[1], seen[2], left)
	if err := put(flat.New(path), g, a); err != nil {
		t.Fatal(err)
	}
	if names := temps(t, dir); len(names) > 0 || !bytes.Equal(read(t, path), files[0]) {
		t.Errorf("the next writer left %v behind", names)
	}
}

// killAfter kills a writer some time after it began its n-th write.
func killAfter(t *testing.T, path string, n int, wait time.Duration) {
	t.Helper()
	cmd, errs := process("flip", path, "")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range n {
		if !lines.Scan() {
			t.Fatalf("the writer ended by itself: %s", errs)
		}
	}
	time.Sleep(wait)
	cmd.Process.Kill()
	cmd.Wait()
}

// TestNoRoom: a disk that fills up leaves the old version whole, or none, and
// no file that could be taken for the index.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	if !canLimit {
		t.Skip("the size of files cannot be limited on this system")
	}
	g, a, _ := turns()
	dir := t.TempDir()
	path := filepath.Join(dir, "index.jsonl.zst")
	for _, first := range []bool{true, false} {
		var before []byte
		if !first {
			if err := put(flat.New(path), g, a); err != nil {
				t.Fatal(err)
			}
			before = read(t, path)
		}
		cmd, errs := process("full", path, "")
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, errs)
		}
		if first {
			if _, err := flat.New(path).Open(t.Context()); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the first version: %v", err)
			}
		} else if !bytes.Equal(read(t, path), before) {
			t.Error("the old version was changed")
		}
		if names := temps(t, dir); len(names) > 0 {
			t.Errorf("left behind: %v", names)
		}
	}
}

// writeWithoutRoom writes with less and less room for a file; every write must
// fail. Limits of files take effect as a full disk does, in the middle of a
// call that then writes only in part.
func writeWithoutRoom(path, _ string) error {
	g, _, b := turns()
	beside := path + ".whole"
	if err := put(flat.New(beside), g, b); err != nil {
		return err
	}
	stat, err := os.Stat(beside)
	if err != nil {
		return err
	}
	os.Remove(beside)
	os.Remove(beside + ".lock")
	for _, part := range []int64{99, 90, 50, 25, 1, 0} {
		if err := limitFiles(stat.Size() * part / 100); err != nil {
			return err
		}
		if err := put(flat.New(path), g, b); err == nil {
			return fmt.Errorf("a write with room for %d %% of the file did not fail", part)
		}
	}
	return nil
}
