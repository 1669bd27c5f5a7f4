package flat

import (
	"fmt"
	"math"
	"os"
	"slices"

	"kb/pkg/vector"
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

// A vector lies in the spill as the places of its elements that are not +0, in 16
// bits, and these elements, if it is sparse: 2.8 in place of 8 KB at 2,048
// dimensions; else as all of its elements.

// appendRow appends a vector in this form.
func appendRow(dst []byte, row vector.Row) []byte {
	dst = slices.Grow(dst, 2*len(row.At)+4*len(row.X))
	for _, at := range row.At {
		dst = le.AppendUint16(dst, at)
	}
	for _, x := range row.X {
		dst = le.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// readRow reads a vector of dim elements from what appendRow made of it, into
// memory of the arena; left is how many such vectors it should have room for.
func readRow(data []byte, dim, left int, a *rowArena) vector.Row {
	if len(data) == 4*dim { // a sparse one has three bytes a dimension at most
		row := vector.Row{X: a.x.take(dim, left)}
		readFloats(row.X, data)
		return row
	}
	n := len(data) / 6
	row := vector.Row{At: a.at.take(n, left), X: a.x.take(n, left)}
	for i := range row.At {
		row.At[i] = le.Uint16(data[2*i:])
	}
	readFloats(row.X, data[2*n:])
	return row
}

func readFloats(x []float32, data []byte) {
	for i := range x {
		x[i] = math.Float32frombits(le.Uint32(data[4*i:]))
	}
}

// arena is memory for slices that are dropped together.
type arena[T any] struct{ all, free []T }

// take returns a slice of n; where it needs more memory, it makes it for left such
// slices.
func (a *arena[T]) take(n, left int) []T {
	if len(a.free) < n {
		a.all = make([]T, n*max(left, 1))
		a.free = a.all
	}
	out := a.free[:n:n]
	a.free = a.free[n:]
	return out
}

// rowArena is memory for the vectors of a segment.
type rowArena struct {
	at arena[uint16]
	x  arena[float32]
}

// copy returns a row that stays.
func (a *rowArena) copy(row vector.Row, left int) vector.Row {
	if row.X == nil {
		return row
	}
	out := vector.Row{X: a.x.take(len(row.X), left)}
	if row.At != nil {
		out.At = a.at.take(len(row.At), left)
	}
	copy(out.At, row.At)
	copy(out.X, row.X)
	return out
}

func (a *rowArena) reset() { a.at.free, a.x.free = a.at.all, a.x.all }
