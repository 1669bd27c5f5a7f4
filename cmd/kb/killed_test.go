package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"kb/pkg/store/pgvector/pgtest"
	"kb/pkg/store/remote/remotetest"
)

// killable is a server of a test's own.
type killable interface {
	Kill()
	Again()
}

// kb index that loses its database leaves the index as it was, says so, and
// does the rest when it is run again.
func TestIndexKilledServer(t *testing.T) {
	for name, start := range map[string]func(*testing.T) (string, killable){
		"postgres":    func(t *testing.T) (string, killable) { s := pgtest.Start(t); return s.URL, s },
		"chroma":      func(t *testing.T) (string, killable) { s := remotetest.Chroma.Start(t); return s.URL, s },
		"milvus lite": func(t *testing.T) (string, killable) { s := remotetest.MilvusLite.Start(t); return s.URL, s },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // a lease that nobody gives back runs out after a minute
			url, server := start(t)
			testKilledServer(t, url, server)
		})
	}
}

func testKilledServer(t *testing.T, url string, server killable) {
	dir := t.TempDir()
	kb := func(stdin io.Reader, args ...string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command(kbProgram(t), args...)
		cmd.Dir, cmd.Stdin = dir, stdin
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "KB_INDEX=" + url}
		stderr := new(bytes.Buffer)
		cmd.Stderr = stderr
		return cmd, stderr
	}
	do := func(stdin io.Reader, args ...string) string {
		cmd, stderr := kb(stdin, args...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("kb %s: %v: %s", args[0], err, stderr)
		}
		return string(out)
	}
	do(strings.NewReader(manyChunks(2)), "index")
	before := do(nil, "docs", "--json")
	stream := manyChunks(3000) // 25 MB, more than what waits in memory

	read, write := io.Pipe()
	cmd, stderr := kb(read, "index")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(write, stream); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	write.Close()
	if err := cmd.Wait(); err == nil || !strings.Contains(stderr.String(), "127.0.0.1") || strings.Contains(stderr.String(), "not-to-be-shown") {
		t.Fatalf("kb index on a server that was killed: %v: %s", err, stderr)
	}
	server.Again()
	if after := do(nil, "docs", "--json"); after != before {
		t.Errorf("the index was\n%s\nand is\n%s", before, after)
	}
	do(strings.NewReader(stream), "index")
	if got := do(nil, "status", "--text"); !strings.Contains(got, "3000 documents") {
		t.Errorf("run again: %s", got)
	}
}

// manyChunks is a stream of documents of one chunk with 8 kB each.
func manyChunks(n int) string {
	var b strings.Builder
	text := strings.Repeat("walnut ", 1200)
	for i := range n {
		fmt.Fprintf(&b, `{"kind":"chunk","path":"many/%04d.md","hash":"h%d","seq":1,"of":1,"start":0,"end":%d,"text":%q}`+"\n", i, i, len(text), text)
	}
	return b.String()
}
