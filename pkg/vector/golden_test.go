package vector

import (
	"hash/fnv"
	"math"
	"testing"
)

// golden are hashes of all bits that this package writes into a file or orders
// results by, for one dimension each. They are the same on every machine: with
// and without assembly, with and without fused multiplication.
var golden = map[int]uint64{
	1:    0xd0653c0922959d20,
	7:    0x620664c34258be31,
	64:   0x5cfcdfbc92797fbb,
	384:  0x20f69cd092f04c06,
	1024: 0x0ed1b3854fec8ca3,
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

func TestGoldenBits(t *testing.T) {
	for dim, want := range golden {
		n := numbers(dim)
		var rows [][]float32
		for range 50 {
			rows = append(rows, Unit(n.vector(dim)))
		}
		rows[17] = nil
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
		b := Encode(rows, dim)
		floats(b.Base)
		floats(b.Step)
		floats(b.Err)
		h.Write(b.Codes)
		for _, c := range b.Check {
			bits(uint64(uint32(c)))
		}
		var w Weights
		q := Unit(n.vector(dim))
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
		if got := h.Sum64(); got != want {
			t.Errorf("dimension %d: bits hash to %#016x, want %#016x", dim, got, want)
		}
	}
}
