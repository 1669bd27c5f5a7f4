package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"kb/pkg/store/pgvector/pgtest"
)

var update = flag.Bool("update", false, "write the real output into the README")

// TestReadme runs every command of the READMEs, in order and in one folder that
// begins as this repository does. Blocks marked "console" are terminal
// sessions whose output must be what the README shows; blocks marked "sh" must
// end well. Endpoints on localhost:11434 are a test server here, and the
// database is one of scripts/services.sh; without that its blocks are left out.
// The make targets are run by .ci/run.
func TestReadme(t *testing.T) {
	for _, tool := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") == "" {
			t.Skipf("%s is missing", tool)
		}
	}
	for _, name := range []string{"README.md", "README.zh.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testReadme(t, "../../"+name)
		})
	}
}

func testReadme(t *testing.T, name string) {
	readme, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	models := httptest.NewServer(newModelServer("建议每天学习 45 分钟。[1]"))
	defer models.Close()
	s := newExample(t, models.URL)
	if pgtest.Available() {
		s.database = pgtest.URL(t)
	}
	var out strings.Builder
	blocks := regexp.MustCompile("(?ms)^```(console|sh)\n(.*?)^```$").FindAllSubmatchIndex(readme, -1)
	at := 0
	for _, b := range blocks {
		kind, body := string(readme[b[2]:b[3]]), string(readme[b[4]:b[5]])
		out.Write(readme[at:b[4]])
		at = b[5]
		if strings.Contains(body, readmeDatabase) && !pgtest.Available() {
			out.WriteString(body)
			continue
		}
		if kind == "sh" {
			out.WriteString(body)
			s.script(t, body)
			continue
		}
		got := s.console(t, body)
		out.WriteString(got)
		if !*update && normal(got) != normal(body) {
			t.Errorf("the README shows\n%s\nbut it is\n%s\n(go test ./cmd/kb -run TestReadme -update)", body, got)
		}
	}
	out.Write(readme[at:])
	if len(blocks) < 5 {
		t.Errorf("found only %d blocks of commands", len(blocks))
	}
	if *update {
		if err := os.WriteFile(name, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readmeDatabase is the URL of the database in the README.
const readmeDatabase = "postgres://kb@localhost/notes"

// normal takes out what differs from run to run.
func normal(s string) string {
	s = regexp.MustCompile(`( +)\d+\.\d s`).ReplaceAllString(s, " 0.0 s")
	s = regexp.MustCompile(`"latency_ms":\s*\d+`).ReplaceAllString(s, `"latency_ms":0`)
	return s
}

// example is a shell in a copy of the repository's notes.
type example struct {
	dir      string
	env      []string
	models   string
	address  string // that a server of the README listens on
	database string
}

func newExample(t *testing.T, models string) *example {
	dir := t.TempDir()
	for _, name := range []string{"notes", "eval", "index.jsonl.zst"} {
		if out, err := exec.Command("cp", "-a", "../../"+name, dir).CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
	}
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "kb")); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	return &example{dir: dir, models: models, address: free.Addr().String(), env: []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, ".state"), "XDG_CACHE_HOME=" + t.TempDir(),
		"LC_ALL=C.UTF-8", "NO_COLOR=1", "TERM=xterm",
	}}
}

func (s *example) command(line string) *exec.Cmd {
	cmd := exec.Command("bash", "-c", strings.NewReplacer("http://localhost:11434", s.models, "127.0.0.1:8080", s.address, readmeDatabase, "'"+s.database+"'").Replace(line))
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// console runs the lines that begin with "$ " in a terminal of 88 columns, and
// returns the block with what they wrote.
func (s *example) console(t *testing.T, body string) string {
	var got strings.Builder
	for _, part := range regexp.MustCompile(`(?m)^\$ .*\n(> .*\n)*`).FindAllString(body, -1) {
		got.WriteString(part)
		line := strings.NewReplacer("\n> ", "\n", "$ ", "").Replace(part)
		if set, ok := strings.CutPrefix(strings.TrimSpace(line), "export "); ok { // it holds for the commands behind it
			s.env = append(s.env, set)
			continue
		}
		cmd := s.command(line)
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 88})
		if err != nil {
			t.Fatal(err)
		}
		var buf bytes.Buffer
		if _, err := io.Copy(&buf, tty); err != nil && !errors.Is(err, syscall.EIO) { // EIO: the terminal was closed
			t.Fatal(err)
		}
		cmd.Wait() // a failure is part of what is shown
		tty.Close()
		shown := regexp.MustCompile(`(?m)^.*\r\x1b\[K`).ReplaceAllString(strings.ReplaceAll(buf.String(), "\r\n", "\n"), "") // progress
		got.WriteString(strings.ReplaceAll(shown, s.models, "http://localhost:11434"))
	}
	return got.String()
}

func (s *example) script(t *testing.T, body string) {
	var lines []string
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "make ") && !strings.HasPrefix(line, "git clone") && !strings.HasPrefix(line, "cd ") {
			lines = append(lines, line)
		}
	}
	cmd := s.command("set -eo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + strings.Join(lines, ""))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s\n%s%v", body, out, err)
	}
}
