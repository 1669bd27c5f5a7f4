package flat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"kb/pkg/store"
)

// Store is an index in one file.
type Store struct {
	path     string
	resident int64 // bytes that codes and vectors may take in memory
}

// Option changes how a store is opened.
type Option func(*Store)

// Resident keeps codes and vectors in memory, for a process that answers many
// questions: five bytes a dimension of each chunk, and no file access in a
// vector search. An index that would take more than limit bytes is read from
// the file as it is without this option.
func Resident(limit int64) Option { return func(s *Store) { s.resident = limit } }

// New returns the store at a path. Nothing is opened or made yet.
func New(path string, options ...Option) *Store {
	s := &Store{path: path}
	for _, o := range options {
		o(s)
	}
	return s
}

// Name is the path.
func (s *Store) Name() string { return s.path }

// Open opens the version that is there now. Later writes replace the file and
// leave the version that is open as it is.
func (s *Store) Open(ctx context.Context) (store.Reader, error) {
	r, err := s.open()
	if err != nil {
		return nil, err
	}
	if size := r.residentSize(); size > 0 && size <= s.resident {
		if err := r.load(ctx); err != nil {
			r.Close()
			return nil, err
		}
	}
	return r, nil
}

func (s *Store) open() (*reader, error) {
	f, err := openFile(s.path)
	if err != nil {
		return nil, err
	}
	return newReader(f)
}

// Stamp implements [store.Stamper] by the inode, size and modification time of
// the file: one stat, so a server may ask before every question.
func (s *Store) Stamp(context.Context) (string, error) {
	stat, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d-%d-%d", inode(stat), stat.Size(), stat.ModTime().UnixNano()), nil
}

// Begin locks PATH.lock, which stays behind: a file that is renamed cannot be
// locked itself.
func (s *Store) Begin(ctx context.Context, wait bool) (store.Tx, error) {
	t, err := s.lock(ctx, wait)
	if err != nil {
		return nil, err
	}
	if t.old, err = s.open(); err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Rollback()
		return nil, err
	}
	return t, nil
}

// CheckWritable makes and removes an empty file beside the index.
func (s *Store) CheckWritable() error {
	if stat, err := os.Stat(s.path); err == nil && !stat.Mode().IsRegular() {
		return fmt.Errorf("%s: an index is a file, and this is none", s.path)
	}
	folder := filepath.Dir(s.target())
	if stat, err := os.Stat(folder); err != nil || !stat.IsDir() {
		return fmt.Errorf("%s: there is no folder %s", s.path, folder)
	}
	probe, err := os.CreateTemp(folder, "."+filepath.Base(s.path)+".check-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", s.path, plainPath(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// plainPath is a file error without the name of the file, which is a
// temporary one.
func plainPath(err error) error {
	if path := new(fs.PathError); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// target is the file that is replaced, and not a link to it.
func (s *Store) target() string {
	if real, err := filepath.EvalSymlinks(s.path); err == nil {
		return real
	}
	return s.path
}

const lockPoll = 20 * time.Millisecond

// lock takes the lock and returns a change that starts from nothing.
func (s *Store) lock(ctx context.Context, wait bool) (*tx, error) {
	target := s.target()
	lock := flock.New(s.path + ".lock")
	var locked bool
	var err error
	if wait {
		locked, err = lock.TryLockContext(ctx, lockPoll)
	} else {
		locked, err = lock.TryLock()
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = fmt.Errorf("lock: %w", err)
	case !locked:
		return nil, fmt.Errorf("%s: %w", s.path, store.ErrLocked)
	}
	if err == nil {
		err = removeStale(target)
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	return newTx(s.path, target, lock), nil
}
