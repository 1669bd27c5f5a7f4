// Package pgtest gives tests a place in a real PostgreSQL server.
package pgtest

import (
	"context"
	"crypto/rand"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

const variable = "KB_TEST_POSTGRES_URL"

// Available says whether there is a server.
func Available() bool { return os.Getenv(variable) != "" }

// URL returns the URL of an index that does not exist yet; it is dropped when
// the test ends. A test without a server is skipped.
func URL(t testing.TB) string {
	t.Helper()
	Need(t)
	schema := "kb_test_" + strings.ToLower(rand.Text()[:10])
	t.Cleanup(func() { Exec(t, `SET client_min_messages = warning; DROP SCHEMA IF EXISTS `+schema+` CASCADE`) })
	return With(t, os.Getenv(variable), "schema", schema)
}

// Need skips a test without a server.
func Need(t testing.TB) {
	t.Helper()
	if !Available() {
		t.Skipf("skipped: no PostgreSQL to test with (scripts/services.sh postgres -- go test …)")
	}
}

// With is a URL with a parameter.
func With(t testing.TB, raw, name, value string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatalf("%s is not a URL", variable)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// Exec runs SQL on the server, and returns the rows of the last statement.
func Exec(t testing.TB, sql string) [][]string {
	t.Helper()
	return ExecAt(t, os.Getenv(variable), sql)
}

// ExecAt is Exec on the server of a URL.
func ExecAt(t testing.TB, url, sql string) [][]string {
	t.Helper()
	ctx := context.Background()
	url, _, _ = strings.Cut(url, "?")
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var out [][]string
	for _, row := range results[len(results)-1].Rows {
		var columns []string
		for _, c := range row {
			columns = append(columns, string(c))
		}
		out = append(out, columns)
	}
	return out
}

// Server is a server of a test's own, which it may kill.
type Server struct {
	URL  string
	t    testing.TB
	dir  string
	port string
}

// Start starts a server that stops with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	Need(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	dir, err := os.MkdirTemp("", "kb-postgres-") // not t.TempDir, which the user of the server may not enter
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(dir, 0o755)
	s := &Server{t: t, dir: filepath.Join(dir, "server"), port: port}
	t.Cleanup(func() {
		s.script("stop", s.dir)
		os.RemoveAll(dir)
	})
	s.Again()
	return s
}

// Kill kills all processes of the server.
func (s *Server) Kill() {
	s.t.Helper()
	s.script("kill", s.dir)
}

// Again starts the server.
func (s *Server) Again() {
	s.t.Helper()
	s.URL = strings.TrimSpace(s.script("start", s.dir, s.port))
}

// script runs scripts/postgres.sh, as services.sh does.
func (s *Server) script(args ...string) string {
	s.t.Helper()
	_, here, _, _ := runtime.Caller(0)
	cmd := exec.Command(filepath.Join(filepath.Dir(here), "../../../../scripts/postgres.sh"), args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("postgres.sh %s: %v: %s", args[0], err, stderr.String())
	}
	return string(out)
}
