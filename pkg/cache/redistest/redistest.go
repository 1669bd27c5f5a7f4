// Package redistest starts a Redis server for one test.
package redistest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// startTimeout is how long a server may take to answer.
const startTimeout = 10 * time.Second

// patience is in the URL because a machine that runs many tests at once lets a
// server wait for longer than kb does.
const patience = "?dial_timeout=30s&read_timeout=30s&write_timeout=30s&pool_timeout=30s"

// Available says whether there is a redis-server to start. In CI there must be
// one: Start fails there.
func Available() bool {
	_, err := exec.LookPath("redis-server")
	return err == nil || os.Getenv("CI") != ""
}

// Start starts a redis-server of its own, which stops with the test, and
// returns its URL. Without the program the test is skipped; in CI (CI is set)
// it fails.
func Start(t testing.TB) (url string) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not installed (Debian: apt-get install redis-server)")
		}
		t.Skip("skipped: no redis-server to test with (Debian: apt-get install redis-server)")
	}
	dir, err := os.MkdirTemp("", "kb-redis-") // short: the path of a socket has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	server := exec.Command(program, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", dir)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
		os.RemoveAll(dir)
	})
	url = "unix://" + socket + patience
	client := Client(t, url)
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(10 * time.Millisecond) {
		if err = client.Ping(context.Background()).Err(); err == nil {
			return url
		}
		if time.Now().After(deadline) {
			t.Fatalf("redis-server does not answer: %v", err)
		}
	}
}

// Client is a client of the server at url, which is closed with the test.
func Client(t testing.TB, url string) *redis.Client {
	t.Helper()
	opt, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	t.Cleanup(func() { client.Close() })
	return client
}
