package flat

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"kb/pkg/atomicfile"
	"kb/pkg/store"
)

// file is an index that is read. Once opened it stays the version that it is:
// a writer replaces the name, not the content.
type file struct {
	r    io.ReaderAt
	size int64 // of what r reads
	disk int64 // of the file
	name string
	os   *os.File    // nil for one in memory
	stat fs.FileInfo // as it was when it was opened
}

var errCut = errors.New("the file ends in the middle of something")

func openFile(path string) (*file, error) {
	f, err := atomicfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	stat, err := f.Stat()
	if err == nil && !stat.Mode().IsRegular() {
		err = fmt.Errorf("%s: an index is a file, and this is none", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{r: f, size: stat.Size(), disk: stat.Size(), name: path, os: f, stat: stat}, nil
}

// readAt fills buf from an offset.
func (f *file) readAt(buf []byte, off int64) error {
	if off < 0 || off > f.size || int64(len(buf)) > f.size-off {
		return errCut
	}
	n, err := f.r.ReadAt(buf, off)
	if n == len(buf) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errCut
	}
	return err
}

// damaged tells damage from a disk that does not answer.
func (f *file) damaged(off int64, err error) error {
	var disk *fs.PathError
	var known *store.DamagedError
	if errors.As(err, &disk) || errors.As(err, &known) || errors.Is(err, store.ErrNewer) {
		return err
	}
	return &store.DamagedError{Name: f.name, Offset: off, Err: err}
}

func (f *file) close() error {
	if f.os == nil {
		return nil
	}
	return f.os.Close()
}
