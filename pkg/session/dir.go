package session

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"kb/pkg/atomicfile"
)

// Dir keeps each session in a file of JSON Lines that only its user may read.
// A writer holds the file's lock, so processes may share a session.
type Dir struct {
	path string
	ttl  time.Duration
	now  func() time.Time
}

// NewDir returns a store in a folder, which is made by the first turn. A
// session is forgotten ttl after its last turn.
func NewDir(path string, ttl time.Duration, now func() time.Time) *Dir {
	return &Dir{path, ttl, now}
}

func (d *Dir) file(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(d.path, hex.EncodeToString(sum[:12])+".jsonl")
}

// Turns implements [Store]. A line that is not whole, as a full disk leaves
// it, is left out.
func (d *Dir) Turns(_ context.Context, name string) ([]Turn, error) {
	f, err := atomicfile.Open(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", name, err)
	}
	defer f.Close()
	turns, err := readTurns(f)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", name, err)
	}
	if n := len(turns); n == 0 || !d.now().Before(turns[n-1].Time.Add(d.ttl)) {
		return nil, nil
	}
	return last(turns), nil
}

func readTurns(r io.Reader) ([]Turn, error) {
	var turns []Turn
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadBytes('\n')
		var t Turn
		if json.Unmarshal(line, &t) == nil && t.Question != "" {
			turns = append(turns, t)
		}
		if err == io.EOF {
			return turns, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Append implements [Store].
func (d *Dir) Append(ctx context.Context, name string, t Turn) error {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return fmt.Errorf("session %s: %w", name, err)
	}
	d.sweep()
	lock := flock.New(d.file(name) + ".lock")
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return fmt.Errorf("session %s: %w", name, err)
	}
	defer lock.Unlock()
	turns, err := d.Turns(ctx, name)
	if err != nil {
		return err
	}
	if err := d.write(name, last(append(turns, t))); err != nil {
		return fmt.Errorf("session %s: %w", name, err)
	}
	return nil
}

// sweep removes the files of sessions that are forgotten, except their locks,
// which somebody may hold. One that cannot be removed is left for the next time.
func (d *Dir) sweep() {
	files, _ := os.ReadDir(d.path)
	for _, f := range files {
		info, err := f.Info()
		if err == nil && filepath.Ext(f.Name()) != ".lock" && info.ModTime().Add(d.ttl).Before(d.now()) {
			os.Remove(filepath.Join(d.path, f.Name()))
		}
	}
}

// write replaces the file of a session as a whole.
func (d *Dir) write(name string, turns []Turn) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, t := range turns {
		if err := enc.Encode(t); err != nil {
			return err
		}
	}
	return atomicfile.Write(d.file(name), b.Bytes())
}

// Delete implements [Store].
func (d *Dir) Delete(ctx context.Context, name string) error {
	lock := flock.New(d.file(name) + ".lock")
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); errors.Is(err, fs.ErrNotExist) {
		return nil // there is no folder, and so no session
	} else if err != nil {
		return fmt.Errorf("session %s: %w", name, err)
	}
	defer lock.Unlock()
	err := os.Remove(d.file(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("session %s: %w", name, err)
	}
	return nil
}
