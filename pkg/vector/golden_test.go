package vector

import (
	"hash/fnv"
	"math"
	"testing"
)

// golden and goldenSparse are hashes of all bits that this package writes into a
// file or orders results by, for one dimension each, of full vectors and of such with
// five zeros in six elements. They are the same on every machine: with and without
// assembly, with and without fused multiplication.
var golden = map[int]uint64{
	1:    0xd0653c0922959d20,
	7:    0x620664c34258be31,
	64:   0x5cfcdfbc92797fbb,
	384:  0x20f69cd092f04c06,
	1024: 0x0ed1b3854fec8ca3,
}

var goldenSparse = map[int]uint64{
	7:    0xdbfb5c4c2483e883,
	64:   0x14d7fd8c0914b72d,
	384:  0xdcb3bc9755c4fd39,
	1024: 0x987c8b4da89a2679,
}

// numbers is a generator of its own, of integers only, so that the input does
// not depend on a library or on how a machine rounds.
type numbers uint64

func (n *numbers) next() float32 {
	*n = *n*6364136223846793005 + 1442695040888963407
	return float32(int32(*n>>32)) / (1 << 31)
}

func (n *numbers) vector(dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = n.next()
	}
	return v
}

// sparse is a vector whose elements are 0 but for one in six, in turns.
func (n *numbers) sparse(dim, turn int) []float32 {
	v := n.vector(dim)
	for i := range v {
		if (i+turn)%6 != 0 {
			v[i] = 0
		}
	}
	return v
}

func TestGoldenBits(t *testing.T) {
	for dim, want := range golden {
		n := numbers(dim)
		var rows [][]float32
		for range 50 {
			rows = append(rows, Unit(n.vector(dim)))
		}
		rows[17] = nil
		if got := hashBits(rows, Unit(n.vector(dim))); got != want {
			t.Errorf("dimension %d: bits hash to %#016x, want %#016x", dim, got, want)
		}
	}
	for dim, want := range goldenSparse {
		n := numbers(dim)
		var rows [][]float32
		for i := range 50 {
			rows = append(rows, Unit(n.sparse(dim, i)))
		}
		rows[17] = nil
		if got := hashBits(rows, Unit(n.sparse(dim, 0))); got != want {
			t.Errorf("sparse, dimension %d: bits hash to %#016x, want %#016x", dim, got, want)
		}
	}
}

func hashBits(rows [][]float32, q []float32) uint64 {
	h := fnv.New64a()
	bits := func(x uint64) {
		var b [8]byte
		for i := range b {
			b[i] = byte(x >> (8 * i))
		}
		h.Write(b[:])
	}
	floats := func(v []float32) {
		for _, x := range v {
			bits(uint64(math.Float32bits(x)))
		}
	}
	b := Encode(rowsOf(rows), len(q))
	floats(b.Base)
	floats(b.Step)
	floats(b.Err)
	h.Write(b.Codes)
	for _, c := range b.Check {
		bits(uint64(uint32(c)))
	}
	var w Weights
	NewQuery(q).Weigh(&w, b.Base, b.Step)
	sums := make([]int32, len(rows))
	w.Scan(sums, b.Codes)
	for i, x := range rows {
		lower, upper := w.Bounds(sums[i], b.Err[i])
		bits(uint64(uint32(sums[i])))
		bits(math.Float64bits(lower))
		bits(math.Float64bits(upper))
		floats(x)
		bits(math.Float64bits(Score(q, x)))
		bits(math.Float64bits(Norm(x)))
	}
	return h.Sum64()
}

// rowsOf are the rows of vectors, each sparse that should be.
func rowsOf(vectors [][]float32) []Row {
	rows := make([]Row, len(vectors))
	for i, v := range vectors {
		rows[i] = RowOf(v, new(Row))
	}
	return rows
}
