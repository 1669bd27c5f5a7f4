package browser

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// kb is a running kb serve over a folder of notes of its own.
type kb struct {
	t      *testing.T
	origin string
	notes  string // the folder
	cmd    *exec.Cmd
	ended  chan struct{} // closed when it has ended

	mu  sync.Mutex
	log bytes.Buffer
}

// serve starts kb serve with these notes, name → text, and settings in the form of
// the environment. Nothing of the tester's own settings reaches it.
func serve(t *testing.T, notes map[string]string, env ...string) *kb {
	t.Helper()
	dir := t.TempDir()
	k := &kb{t: t, notes: filepath.Join(dir, "notes"), ended: make(chan struct{})}
	if err := os.Mkdir(k.notes, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range notes {
		k.write(name, text)
	}
	k.cmd = exec.Command(*binary, "serve", "--addr", "127.0.0.1:0", "--notes", "notes")
	k.cmd.Dir = dir
	k.cmd.Env = append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, env...)
	stderr, err := k.cmd.StderrPipe()
	if err == nil {
		err = k.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	go k.read(bufio.NewScanner(stderr), address)
	t.Cleanup(k.stop)
	select {
	case k.origin = <-address:
	case <-k.ended:
		t.Fatalf("kb serve ended: %s", k.logged())
	}
	return k
}

// read keeps what kb logs, and finds the line with its address.
func (k *kb) read(lines *bufio.Scanner, address chan<- string) {
	for lines.Scan() {
		line := lines.Text()
		if !strings.Contains(line, "path=/assets/") {
			k.mu.Lock()
			k.log.WriteString(line + "\n")
			k.mu.Unlock()
		}
		if origin, ok := strings.CutPrefix(line, "kb serve: http"); ok {
			address <- "http" + strings.TrimSuffix(origin, "/")
		}
	}
	k.cmd.Wait()
	close(k.ended)
}

func (k *kb) logged() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.log.String()
}

func (k *kb) stop() {
	k.cmd.Process.Signal(syscall.SIGTERM)
	<-k.ended
	if k.t.Failed() {
		k.t.Logf("kb serve said:\n%s", k.logged())
	}
}

func (k *kb) write(name, text string) string {
	k.t.Helper()
	file := filepath.Join(k.notes, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
	return file
}
