package vector

import (
	"math"
	"slices"
)

// A Row is a vector to encode: all of its elements (X, with At nil), or those
// that are not +0 (X) and their places (At, which rise). X is nil for a row
// without a vector.
type Row struct {
	At []uint16
	X  []float32
}

// RowOf returns v as a row, which is sparse, and in the memory that is handed in,
// if less than half of its elements are not +0.
func RowOf(v []float32, memory *Row) Row {
	*memory = nonZero(*memory, v)
	if 2*len(memory.X) < len(v) {
		return *memory
	}
	return Row{X: v}
}

// Dense returns all dim elements; nil where there is no vector.
func (r Row) Dense(dim int) []float32 {
	if r.At == nil {
		return r.X
	}
	x := make([]float32, dim)
	r.Expand(x)
	return x
}

// Expand writes all elements to x.
func (r Row) Expand(x []float32) {
	if r.At == nil {
		copy(x, r.X)
		return
	}
	clear(x)
	for i, at := range r.At {
		x[at] = r.X[i]
	}
}

// Score is [Score] of q and the row, with the same bits: what it leaves out adds
// zeros. q is finite.
func (r Row) Score(q []float32) float64 {
	if r.At == nil {
		return Score(q, r.X)
	}
	sum := 0.0
	for i, at := range r.At {
		sum += float64(float64(q[at]) * float64(r.X[i]))
	}
	return sum
}

// nonZero returns the elements that are not +0. It has no branch for each element,
// which could not be predicted.
func nonZero(memory Row, v []float32) Row {
	at, x := slices.Grow(memory.At[:0], len(v))[:len(v)], slices.Grow(memory.X[:0], len(v))[:len(v)]
	n := 0
	for j, e := range v {
		at[n], x[n] = uint16(j), e
		b := math.Float32bits(e)
		n += int((b | -b) >> 31) // 0 for 0: what comes next is written over it
	}
	return Row{At: at[:n], X: x[:n]}
}

// allSparse says whether there are vectors and all of them are sparse.
func allSparse(rows []Row) bool {
	some := false
	for _, r := range rows {
		if r.X != nil && r.At == nil {
			return false
		}
		some = some || r.X != nil
	}
	return some
}

// encodeSparse encodes sparse rows by the elements that are not 0. Base and step
// are such that 0 has a code without an error, which stands in all other places of
// a row. So the error of a hashed vector is half of what it would be, and a search
// scores fewer of them.
//
// For that a step is rounded up to 17 bits: times a code of 7 bits it is a
// float32, and the base can be minus that.
func (b *Block) encodeSparse(rows []Row) {
	var zeros []byte
	b.Base, b.Step, zeros = zeroRanges(rows, b.Dim)
	c := newCoder(b.Base, b.Step)
	for i, r := range rows {
		dst := b.row(i)
		copy(dst, zeros)
		if r.X == nil {
			b.Err[i] = NoVector
			continue
		}
		sum := 0.0
		for k, at := range r.At {
			code, square := c[at].code(r.X[k])
			dst[at] = code
			sum += square
		}
		b.Err[i] = rowError(sum)
	}
}

// zeroRanges returns base and step of each dimension, and the codes of 0, padded
// to a row.
func zeroRanges(rows []Row, dim int) (base, step []float32, zeros []byte) {
	least, greatest := make([]float32, dim), make([]float32, dim)
	for _, r := range rows {
		for k, at := range r.At {
			least[at], greatest[at] = min(least[at], r.X[k]), max(greatest[at], r.X[k])
		}
	}
	base, step, zeros = make([]float32, dim), make([]float32, dim), make([]byte, Stride(dim))
	for j := range zeros {
		zeros[j] = pad
	}
	for j := range base {
		base[j], step[j], zeros[j] = zeroRange(float64(least[j]), float64(greatest[j]))
	}
	return base, step, zeros
}

// zeroRange returns base and step of one dimension with least ≤ 0 ≤ greatest,
// and the code of 0.
func zeroRange(least, greatest float64) (base, step float32, zero byte) {
	if least == greatest {
		return 0, 0, pad
	}
	at := lowest + math.Round((highest-lowest)*(-least/(greatest-least)))
	switch {
	case least < 0 && at == lowest:
		at++
	case greatest > 0 && at == highest:
		at--
	case at == backslash:
		at++
	}
	s := 0.0
	if least < 0 {
		s = -least / (at - lowest)
	}
	if greatest > 0 {
		s = max(s, greatest/(highest-at))
	}
	step = math.Float32frombits((math.Float32bits(roundUp(s)) + 0x7F) &^ 0x7F)
	return float32(-float64(float64(step) * at)), step, byte(at)
}
