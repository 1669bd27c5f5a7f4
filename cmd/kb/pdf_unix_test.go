//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endless is a PDF whose table of objects is its own predecessor: the plain
// engine follows it for ever.
func endless() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	at := []int{b.Len()}
	b.WriteString("1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n")
	at = append(at, b.Len())
	b.WriteString("2 0 obj\n<< /Type /Pages /Count 0 /Kids [] >>\nendobj\n")
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 3\n0000000000 65535 f \n%010d 00000 n \n%010d 00000 n \n", at[0], at[1])
	fmt.Fprintf(&b, "trailer\n<< /Size 3 /Root 1 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n", start, start)
	return b.Bytes()
}

// Ctrl-C in the middle of a PDF ends kb with 130 and takes its child along.
func TestInterruptedPDF(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("looks for child processes in /proc")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	kb := filepath.Join(dir, "kb") // a copy: the child is called by the name of the file
	if out, err := exec.Command("cp", self, kb).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	os.WriteFile(filepath.Join(dir, "loop.pdf"), endless(), 0o600)
	cmd := exec.Command(kb, "load", "--pdf-engine", "plain", "loop.pdf")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	child := waitForChild(t, cmd.Process.Pid)
	cmd.Process.Signal(os.Interrupt)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("%v", err)
	}
	if err := syscall.Kill(child, 0); err == nil {
		t.Errorf("child %d is still there", child)
		syscall.Kill(child, syscall.SIGKILL)
	}
}

func waitForChild(t *testing.T, parent int) (child int) {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
		for _, name := range tasks {
			data, _ := os.ReadFile(name)
			if _, err := fmt.Sscan(strings.TrimSpace(string(data)), &child); err == nil {
				return child
			}
		}
	}
	t.Fatal("no child")
	return 0
}
