package flat

import (
	"fmt"
	"os"
	"slices"
)

// spill keeps what was put until the commit: in memory while it is little,
// else in a temporary file beside the index, so that indexing a large folder
// needs no large memory.
type spill struct {
	dir, pattern string
	mem          []byte
	file         *os.File
	size         int64
}

const spillFrom = 32 << 20

// add stores data and returns where.
func (s *spill) add(data []byte) (int64, error) {
	at := s.size
	if s.file == nil && len(s.mem)+len(data) <= spillFrom {
		s.mem = append(s.mem, data...)
		s.size += int64(len(data))
		return at, nil
	}
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, s.pattern)
		if err != nil {
			return 0, fmt.Errorf("temporary file beside the index: %w", err)
		}
		s.file = f
		if _, err := f.Write(s.mem); err != nil {
			return 0, err
		}
		s.mem = nil
	}
	if _, err := s.file.Write(data); err != nil {
		return 0, err
	}
	s.size += int64(len(data))
	return at, nil
}

// read returns n bytes from an offset, in buf where it is large enough; for many
// goroutines at once.
func (s *spill) read(at int64, n int, buf []byte) ([]byte, error) {
	if s.file == nil {
		return s.mem[at : at+int64(n) : at+int64(n)], nil
	}
	buf = slices.Grow(buf[:0], n)[:n]
	_, err := s.file.ReadAt(buf, at)
	return buf, err
}

func (s *spill) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
	*s = spill{dir: s.dir, pattern: s.pattern}
}
