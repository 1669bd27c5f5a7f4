package flat

import (
	"fmt"
	"math"
	"math/bits"
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

// The memory of a spill: for the change of a note, and the most.
const (
	spillFirst = 256 << 10
	spillFrom  = 16 << 20
)

// add stores data and returns where.
func (s *spill) add(data []byte) (int64, error) {
	at := s.size
	if s.file == nil && len(s.mem)+len(data) <= spillFrom {
		s.reserve(len(s.mem) + len(data))
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

// reserve makes room for n bytes in memory, in two steps: growing by and by would
// touch six times as much of it.
func (s *spill) reserve(n int) {
	if n <= cap(s.mem) {
		return
	}
	size := spillFrom
	if n <= spillFirst {
		size = spillFirst
	}
	s.mem = append(make([]byte, 0, size), s.mem...)
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

// Vectors of the offline embedder have five zeros in six elements. So what is
// spilled of 32 elements is a word that says which of them are not +0, and then
// the bits of those: 1.7 in place of 8 KB at 2,048 dimensions, and 3 percent more
// than float32 for vectors of a model.

// appendSparse appends a vector in this form.
func appendSparse(dst []byte, v []float32) []byte {
	for ; len(v) > 0; v = v[min(32, len(v)):] {
		begin := len(dst)
		dst = slices.Grow(dst, 4*33)[:begin+4*33]
		end, filled := begin+4, uint32(0)
		for i, x := range v[:min(32, len(v))] {
			// Without a branch, which could not be predicted: a zero is written
			// over by what comes next.
			b := math.Float32bits(x)
			le.PutUint32(dst[end:], b)
			one := (b | -b) >> 31 // 0 for 0
			end += 4 * int(one)
			filled |= one << i
		}
		le.PutUint32(dst[begin:], filled)
		dst = dst[:end]
	}
	return dst
}

// readSparse reads all of v from what appendSparse made of it.
func readSparse(v []float32, data []byte) {
	clear(v)
	for ; len(v) > 0; v = v[min(32, len(v)):] {
		filled := le.Uint32(data)
		data = data[4:]
		for ; filled != 0; filled &= filled - 1 {
			v[bits.TrailingZeros32(filled)] = math.Float32frombits(le.Uint32(data))
			data = data[4:]
		}
	}
}
