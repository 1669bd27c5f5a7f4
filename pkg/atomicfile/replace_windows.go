package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// patience is how long Replace tries where another program, a virus scanner
// or a backup, has the file open in a way that forbids it.
const patience = 2 * time.Second

// Replace gives a file another name in its folder, in one step where a file has
// that name. Who has that one open by [Open] goes on reading it: a folder of
// [os.OpenRoot] renames with POSIX semantics (Windows 10 1607, NTFS), which
// os.Rename does not.
func Replace(from, to string) error {
	root, err := os.OpenRoot(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer root.Close()
	for began, wait := time.Now(), 5*time.Millisecond; ; wait *= 2 {
		err = root.Rename(filepath.Base(from), filepath.Base(to))
		if !busy(err) || time.Since(began) > patience {
			return whole(err, from, to)
		}
		time.Sleep(wait)
	}
}

const sharingViolation = syscall.Errno(32) // ERROR_SHARING_VIOLATION

func busy(err error) bool {
	return errors.Is(err, syscall.ERROR_ACCESS_DENIED) || errors.Is(err, sharingViolation)
}

// whole has the names that the caller gave.
func whole(err error, from, to string) error {
	if link := new(os.LinkError); errors.As(err, &link) {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: link.Err}
	}
	return err
}

// Open opens a file for reading, so that it can be replaced meanwhile, which one
// that os.Open opened cannot.
func Open(name string) (*os.File, error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return os.Open(name) // it has the better error
	}
	root, err := os.OpenRoot(filepath.Dir(real))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(filepath.Base(real))
	if path := new(fs.PathError); errors.As(err, &path) {
		err = &fs.PathError{Op: "open", Path: name, Err: path.Err}
	}
	return f, err
}
