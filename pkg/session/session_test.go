package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kb/pkg/cache/redistest"
	"kb/pkg/session"
	"kb/pkg/session/sessiontest"
)

type clock struct{ at time.Time }

func (c *clock) now() time.Time          { return c.at }
func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

func TestMemory(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	sessiontest.Run(t, session.NewMemory(time.Hour, c.now), time.Hour, c.now, c.advance)
}

// Who begins sessions without end costs others theirs, and the process nothing.
func TestMemoryIsBounded(t *testing.T) {
	const most, more = 10_000, 5
	c := &clock{time.Unix(1e9, 0)}
	m := session.NewMemory(time.Hour, c.now)
	for i := range most + more {
		if err := m.Append(t.Context(), strconv.Itoa(i), session.Turn{Question: "q"}); err != nil {
			t.Fatal(err)
		}
		c.advance(time.Millisecond)
	}
	for i, want := range map[int]int{0: 0, more - 1: 0, more: 1, most: 1} {
		if turns, _ := m.Turns(t.Context(), strconv.Itoa(i)); len(turns) != want {
			t.Errorf("session %d has %d turns", i, len(turns))
		}
	}
}

func TestDir(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	sessiontest.Run(t, session.NewDir(filepath.Join(t.TempDir(), "new"), time.Hour, c.now), time.Hour, c.now, c.advance)
}

func TestRedis(t *testing.T) {
	const ttl = time.Second
	client := redistest.Client(t, redistest.Start(t))
	sessiontest.Run(t, session.NewRedis(client, ttl), ttl, time.Now, time.Sleep)
}

func TestDirIsPrivateAndBearsTornLines(t *testing.T) {
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "sessions")
	d := session.NewDir(dir, time.Hour, time.Now)
	if err := d.Append(ctx, "a", session.Turn{Question: "one", Time: time.Now()}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, files[0]: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	f, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("not JSON\n{\"question\":\"torn")
	f.Close()
	if err := d.Append(ctx, "a", session.Turn{Question: "two", Time: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Turns(ctx, "a"); err != nil || len(got) != 2 || got[1].Question != "two" {
		t.Errorf("%v, %v", got, err)
	}
	tomorrow := session.NewDir(dir, time.Hour, func() time.Time { return time.Now().Add(24 * time.Hour) })
	if err := tomorrow.Append(ctx, "b", session.Turn{Question: "three"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(files[0]); !os.IsNotExist(err) {
		t.Errorf("a forgotten session is still on disk: %v", err)
	}
}

func TestCheckName(t *testing.T) {
	for _, good := range []string{"a", "笔记-1", "user:7.x_y", strings.Repeat("界", 64)} {
		if err := session.CheckName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a b", "../x", "a\n", strings.Repeat("x", 65), "\xff"} {
		if session.CheckName(bad) == nil {
			t.Errorf("%q passes", bad)
		}
	}
}
