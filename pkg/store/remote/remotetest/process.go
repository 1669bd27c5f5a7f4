package remotetest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Process is a server of a test's own, which it may kill.
type Process struct {
	URL  string // of an index that does not exist yet
	t    testing.TB
	args []string
	addr string
	cmd  *exec.Cmd
}

// Start starts a server that ends with the test: Chroma or Milvus Lite, as
// Milvus has ports that cannot be chosen.
func (s Server) Start(t testing.TB) *Process {
	t.Helper()
	s.Need(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{t: t, addr: listener.Addr().String()}
	listener.Close()
	_, port, _ := net.SplitHostPort(p.addr)
	bin, data := filepath.Join(os.Getenv(s.home), "bin"), t.TempDir()
	scheme := "milvus"
	if s.service == "chroma" {
		scheme = "chroma"
		p.args = []string{filepath.Join(bin, "chroma"), "run", "--host", "127.0.0.1", "--port", port, "--path", data}
	} else {
		p.args = []string{filepath.Join(bin, "milvus-lite"), "server", "--host", "127.0.0.1", "--port", port, "--data-dir", data}
	}
	p.URL = scheme + "://" + Secret + "@" + p.addr + "/kb_test"
	p.Again()
	t.Cleanup(p.Kill)
	return p
}

// Kill kills the server.
func (p *Process) Kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// Again starts the server, and waits until it takes connections.
func (p *Process) Again() {
	p.t.Helper()
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	p.cmd.Env = append(os.Environ(), "ANONYMIZED_TELEMETRY=False")
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", p.addr)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s does not start: %v", p.args[0], err)
		}
	}
}
