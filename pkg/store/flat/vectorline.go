package flat

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/vector"
)

// Lines of vectors have one of three forms:
//
//	{"kind":"vector","id":"…","vector":"…"}                          base64 of all elements
//	{"kind":"vector","id":"…","dim":2048,"places":"…","values":"…"}  of a vector that is sparse
//	{"kind":"vector","id":"…","vector":null}                         of a chunk without one
//
// A vector is sparse when less than half of its elements are not +0. Then values
// is base64 of the different numbers that these are, in the order in which they
// come first, and places has two numbers for each of them: how many +0 stand
// before it, behind the one before, and which of the values it has.
//
// The offline embedder's vectors have 471 such elements of 2,048 and 65 different
// numbers: a line has 1.5 KB in place of 11, and zstd takes a seventh of the time.
const (
	vectorBegin = `{"kind":"vector","id":`
	vectorField = `,"vector":`
	dimField    = `,"dim":`
	placesField = `,"places":"`
	valuesField = `","values":"`
	lineEnd     = `"}`
)

var errVectorLine = errors.New("not a line of a vector")

// vectorLine is a line in its parts.
type vectorLine struct {
	id             []byte // as JSON has it
	null           bool
	dim            int    // of a sparse vector; else 0
	vector         []byte // base64
	places, values []byte // digits, base64
}

func splitVectorLine(line []byte) (l vectorLine, err error) {
	if !bytes.HasPrefix(line, []byte(vectorBegin)) {
		return l, errVectorLine
	}
	rest := line[len(vectorBegin):]
	n := stringLen(rest)
	l.id, rest = rest[:n], rest[n:]
	if sparse, ok := bytes.CutPrefix(rest, []byte(dimField)); ok {
		return l, l.splitSparse(sparse)
	}
	value, ok := bytes.CutPrefix(rest, []byte(vectorField))
	if l.null = ok && string(value) == "null}"; l.null {
		return l, nil
	}
	text, ok1 := bytes.CutPrefix(value, []byte{'"'})
	text, ok2 := bytes.CutSuffix(text, []byte(lineEnd))
	if !ok || !ok1 || !ok2 {
		return l, errVectorLine
	}
	l.vector = text
	return l, nil
}

// stringLen is the length of the JSON string at the start of b; 0 if there is
// none.
func stringLen(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// splitSparse splits what stands behind the name of the first field.
func (l *vectorLine) splitSparse(text []byte) error {
	dim, rest, ok1 := bytes.Cut(text, []byte(placesField))
	places, rest, ok2 := bytes.Cut(rest, []byte(valuesField))
	values, ok3 := bytes.CutSuffix(rest, []byte(lineEnd))
	if !ok1 || !ok2 || !ok3 {
		return errVectorLine
	}
	n, err := strconv.ParseUint(string(dim), 10, 16)
	if err != nil || n == 0 || n > store.MaxDim {
		return fmt.Errorf("a vector of %.20q dimensions", dim)
	}
	l.dim, l.places, l.values = int(n), places, values
	return nil
}

// words is how many 32-bit numbers base64 holds, as far as its length tells.
func words(text []byte) (int, error) {
	n := base64.StdEncoding.DecodedLen(len(text)) - bytes.Count(text[max(0, len(text)-2):], []byte{'='})
	if n%4 != 0 || n == 0 || n/4 > store.MaxDim {
		return 0, fmt.Errorf("%d bytes are no vector", n)
	}
	return n / 4, nil
}

// rowReader reads lines of vectors, in memory that it uses again.
type rowReader struct {
	at        []uint16
	x, values []float32
}

// read returns the vector of a line, valid until the next call; its X is nil for
// a chunk without one.
func (r *rowReader) read(line []byte, dim int) (vector.Row, error) {
	l, err := splitVectorLine(line)
	switch {
	case err != nil || l.null:
		return vector.Row{}, err
	case l.dim == 0:
		r.x = room(r.x, dim)
		return vector.Row{X: r.x}, floats(r.x, l.vector)
	case l.dim != dim:
		return vector.Row{}, fmt.Errorf("a vector of %d dimensions where %d were expected", l.dim, dim)
	}
	return r.sparse(l)
}

// room returns memory for n numbers.
func room[T any](memory []T, n int) []T {
	if cap(memory) < n {
		return make([]T, n)
	}
	return memory[:n]
}

// sparse reads a sparse vector; what it takes is a few times the line at most.
func (r *rowReader) sparse(l vectorLine) (vector.Row, error) {
	n, err := words(l.values)
	if err != nil {
		return vector.Row{}, err
	}
	r.values = room(r.values, n)
	if err := floats(r.values, l.values); err != nil {
		return vector.Row{}, err
	}
	n = min(len(l.places)/2, l.dim)
	r.at, r.x = room(r.at, n)[:0], room(r.x, n)[:0]
	next := uint64(0)
	for rest := l.places; len(rest) > 0; {
		gap, n := number(rest)
		value, m := number(rest[n:])
		if n == 0 || m == 0 {
			return vector.Row{}, errDigits
		}
		rest = rest[n+m:]
		at := next + gap
		if at >= uint64(l.dim) || value >= uint64(len(r.values)) {
			return vector.Row{}, errors.New("an element of a vector is outside of it, or has none of its values")
		}
		r.at, r.x = append(r.at, uint16(at)), append(r.x, r.values[value])
		next = at + 1
	}
	if len(r.at) == 0 {
		return vector.Row{}, errors.New("a vector without an element")
	}
	return vector.Row{At: r.at, X: r.x}, nil
}

// parseVectorLine reads a line of any dimension: its chunk's id and the vector,
// nil for null.
func parseVectorLine(line []byte) (id string, v []float32, err error) {
	l, err := splitVectorLine(line)
	if err != nil || l.null {
		return unquote(l.id), nil, err
	}
	dim := l.dim
	if dim == 0 {
		if dim, err = words(l.vector); err != nil {
			return "", nil, err
		}
	}
	row, err := new(rowReader).read(line, dim)
	if err != nil {
		return "", nil, err
	}
	return unquote(l.id), row.Dense(dim), nil
}

// rowWriter writes lines of vectors, in memory that it uses again.
type rowWriter struct {
	slots  []valueSlot // of the values, by a hash of their bits; a power of two of them
	turn   uint32      // of the vector: slots of another turn are free
	values []float32
}

type valueSlot struct {
	turn, bits uint32
	number     int
}

// append appends the line of a vector of dim elements.
func (w *rowWriter) append(dst []byte, id string, row vector.Row, dim int) []byte {
	dst = append(dst, vectorBegin...)
	dst = record.AppendString(dst, id)
	switch {
	case row.X == nil:
		return append(append(dst, vectorField...), "null}\n"...)
	case row.At == nil:
		dst = record.AppendFloats(append(append(dst, vectorField...), '"'), row.X)
	default:
		dst = strconv.AppendInt(append(dst, dimField...), int64(dim), 10)
		dst = w.places(append(dst, placesField...), row)
		dst = record.AppendFloats(append(dst, valuesField...), w.values)
	}
	return append(append(dst, lineEnd...), '\n')
}

// places appends the places of a sparse vector and collects its values.
func (w *rowWriter) places(dst []byte, row vector.Row) []byte {
	w.values = w.values[:0]
	if w.turn++; 2*len(row.X) > len(w.slots) || w.turn == 0 {
		w.slots, w.turn = make([]valueSlot, 1<<bits.Len(uint(2*len(row.X)))), 1
	}
	dst = slices.Grow(dst, 2*maxDigits*len(row.X))
	next := 0
	for i, at := range row.At {
		dst = appendNumber(dst, uint64(int(at)-next))
		dst = appendNumber(dst, uint64(w.number(row.X[i])))
		next = int(at) + 1
	}
	return dst
}

// number is the number of a value, the next one if it is new.
func (w *rowWriter) number(x float32) int {
	b := math.Float32bits(x)
	mask := uint32(len(w.slots) - 1)
	for i := b * 0x9E3779B1 >> 16 & mask; ; i = (i + 1) & mask {
		switch s := &w.slots[i]; {
		case s.turn != w.turn:
			*s = valueSlot{w.turn, b, len(w.values)}
			w.values = append(w.values, x)
			return s.number
		case s.bits == b:
			return s.number
		}
	}
}
