package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func random(rng *rand.Rand, dim int, scale float64) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64() * scale)
	}
	return v
}

func TestUnit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, dim := range []int{1, 3, 64, 1536} {
		for _, scale := range []float64{1e-30, 1e-3, 1, 1e30} {
			u := Unit(random(rng, dim, scale))
			if math.Abs(Norm(u)-1) > 1e-7 {
				t.Errorf("dim %d, scale %v: length %v", dim, scale, Norm(u))
			}
			if again := Unit(u); &again[0] != &u[0] {
				t.Errorf("dim %d: a unit vector was changed", dim)
			}
		}
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{nil, {0, 0}, {nan, 1}, {1, inf}, {-inf, 1}} {
		if Unit(v) != nil {
			t.Errorf("%v has a direction", v)
		}
	}
}

func TestDotIsNearScore(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, dim := range []int{0, 1, 7, 8, 63, 64, 65, 1024, 8192} {
		a, b := Unit(random(rng, dim, 1)), Unit(random(rng, dim, 1))
		if d := math.Abs(float64(Dot(a, b)) - Score(a, b)); d > DotError(dim) {
			t.Errorf("dim %d: off by %v, more than %v", dim, d, DotError(dim))
		}
	}
}

func TestTopK(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, k := range []int{0, 1, 2, 7, 100, 1000} {
		all := make([]Scored, 300)
		for i := range all {
			all[i] = Scored{Row: int64(i), Score: float64(rng.IntN(40))} // many ties
		}
		want := slices.Clone(all)
		slices.SortFunc(want, func(a, b Scored) int {
			if a.Before(b) {
				return -1
			}
			return 1
		})
		want = want[:min(k, len(want))]
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		top := NewTopK(k)
		for _, s := range all {
			top.Add(s)
		}
		if got := top.Sorted(); !slices.Equal(got, want) {
			t.Errorf("k %d: %v, want %v", k, got, want)
		}
	}
}

// adversarial are rows that strain the code: values that nothing else in the
// block resembles, equal rows, single dimensions, the smallest numbers.
func adversarial(rng *rand.Rand, dim int) [][]float32 {
	rows := [][]float32{nil}
	for range 40 {
		rows = append(rows, Unit(random(rng, dim, 1)))
	}
	for i := range 8 {
		one := make([]float32, dim)
		one[i%dim] = float32(1 - 2*(i%2))
		rows = append(rows, one, one)
	}
	tiny := random(rng, dim, 1e-42)
	tiny[dim-1] = 1
	sharp := random(rng, dim, 1e-6)
	sharp[0] = -1
	return append(rows, Unit(tiny), nil, Unit(sharp))
}

// sparse are the same rows with zeros in most places, and those of single
// dimensions.
func sparse(rng *rand.Rand, dim int) [][]float32 {
	rows := adversarial(rng, dim)
	for i, x := range rows {
		for j := range x {
			if rng.IntN(5) > 0 && j > 0 && j < dim-1 {
				x[j] = 0
			}
		}
		if rows[i] = Unit(x); RowOf(x, new(Row)).At == nil {
			rows[i] = nil
		}
	}
	return rows
}

func TestBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for _, dim := range []int{1, 2, 7, 63, 64, 65, 100, 384, 1024} {
		for _, rows := range [][][]float32{adversarial(rng, dim), {Unit(random(rng, dim, 1))}, sparse(rng, dim)} {
			b := Encode(rowsOf(rows), dim)
			queries := append(adversarial(rng, dim), rows...)
			for _, q := range queries {
				if q != nil {
					checkBounds(t, b, rows, q)
				}
			}
		}
	}
}

func checkBounds(t *testing.T, b *Block, rows [][]float32, q []float32) {
	t.Helper()
	var w Weights
	NewQuery(q).Weigh(&w, b.Base, b.Step)
	sums := make([]int32, b.Rows)
	w.Scan(sums, b.Codes)
	for i, x := range rows {
		if x == nil {
			if b.Err[i] != NoVector {
				t.Fatalf("row %d has no vector and an error of %v", i, b.Err[i])
			}
			continue
		}
		if e := b.RowError(i, x); e > float64(b.Err[i]) {
			t.Fatalf("dim %d, row %d: error %v, more than %v", b.Dim, i, e, b.Err[i])
		}
		lower, upper := w.Bounds(sums[i], b.Err[i])
		if s := RowOf(x, new(Row)).Score(q); s != Score(q, x) {
			t.Fatalf("dim %d, row %d: %v by its elements, %v in full", b.Dim, i, s, Score(q, x))
		}
		if s := Score(q, x); !(lower <= s && s <= upper) {
			t.Fatalf("dim %d, row %d: %v is not in [%v, %v]", b.Dim, i, s, lower, upper)
		}
	}
	for _, c := range b.Codes {
		if !IsCode(c) {
			t.Fatalf("code %q", c)
		}
	}
}

// FuzzBound lets the fuzzer choose the bits of a query and of two rows.
func FuzzBound(f *testing.F) {
	f.Add(uint64(1), float32(1), float32(-1), float32(1e-30))
	f.Add(uint64(2), float32(0.5), float32(0.25), float32(1e-45))
	f.Fuzz(func(t *testing.T, seed uint64, x, y, z float32) {
		rng := rand.New(rand.NewPCG(seed, 9))
		dim := 1 + rng.IntN(130)
		mutate := func(v []float32) []float32 {
			for _, c := range []float32{x, y, z} {
				v[rng.IntN(dim)] = c
			}
			return Unit(v)
		}
		q := mutate(random(rng, dim, 1))
		rows := [][]float32{mutate(random(rng, dim, 1)), mutate(make([]float32, dim)), Unit(random(rng, dim, 1))}
		if seed%2 == 0 { // one that is not sparse makes the block dense
			rows = rows[1:2]
			rows = append(rows, mutate(make([]float32, dim)))
		}
		if q == nil || rows[0] == nil || rows[1] == nil {
			return
		}
		checkBounds(t, Encode(rowsOf(rows), dim), rows, q)
	})
}

// FuzzScan proves the assembly equal to the plain loop.
func FuzzScan(f *testing.F) {
	f.Add(uint64(1), 1, 1, []byte("P"))
	f.Add(uint64(2), 3, 2, []byte("#~[]"))
	f.Fuzz(func(t *testing.T, seed uint64, rows, groups int, codes []byte) {
		rows, groups = rows&15, 1+groups&7
		rng := rand.New(rand.NewPCG(seed, 8))
		n := make([]int16, groups*align)
		for i := range n {
			n[i] = int16(rng.IntN(1 << 16))
		}
		all := make([]byte, rows*len(n))
		for i := range all {
			all[i] = byte(rng.Uint32())
			if len(codes) > 0 && i%3 != 0 {
				all[i] = codes[i%len(codes)]
			}
		}
		got, want := make([]int32, rows), make([]int32, rows)
		scan(got, all, n)
		scanGo(want, all, n)
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		m := checkDigits(len(n))
		sums, checks := make([]int32, rows), make([]int32, rows)
		scanChecked(sums, checks, all, n, m)
		scanGo(got, all, m)
		if !slices.Equal(sums, want) || !slices.Equal(checks, got) || !Checked(all, len(n), got) {
			t.Errorf("%v, %v; want %v, %v", sums, checks, want, got)
		}
	})
}

// TestCheck: a check notices each flipped bit and exchanged bytes.
func TestCheck(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	b := Encode(rowsOf([][]float32{Unit(random(rng, 100, 1)), Unit(random(rng, 100, 1))}), 100)
	stride := Stride(100)
	if !Checked(b.Codes, stride, b.Check) {
		t.Fatal("the checks of a block are wrong")
	}
	for i := range b.Codes {
		for bit := range 8 {
			b.Codes[i] ^= 1 << bit
			if Checked(b.Codes, stride, b.Check) {
				t.Fatalf("byte %d, bit %d", i, bit)
			}
			b.Codes[i] ^= 1 << bit
		}
		if j := rng.IntN(len(b.Codes)); b.Codes[i] != b.Codes[j] {
			b.Codes[i], b.Codes[j] = b.Codes[j], b.Codes[i]
			if Checked(b.Codes, stride, b.Check) {
				t.Fatalf("bytes %d and %d", i, j)
			}
			b.Codes[i], b.Codes[j] = b.Codes[j], b.Codes[i]
		}
	}
}

func BenchmarkScan(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, bench := range []struct {
		name string
		scan func([]int32, []byte, []int16)
	}{{"simd", scan}, {"checked", func(sums []int32, codes []byte, n []int16) {
		scanChecked(sums, sums, codes, n, n)
	}}, {"go", scanGo}} {
		b.Run(bench.name, func(b *testing.B) {
			const rows, dim = 128, 1024
			codes, n, sums := make([]byte, rows*dim), make([]int16, dim), make([]int32, rows)
			for i := range codes {
				codes[i] = byte(rng.IntN(91) + lowest)
			}
			b.SetBytes(rows * dim)
			for b.Loop() {
				bench.scan(sums, codes, n)
			}
		})
	}
}

func BenchmarkScore(b *testing.B) {
	rng := rand.New(rand.NewPCG(6, 1))
	x, y := random(rng, 1024, 1), random(rng, 1024, 1)
	b.Run("float64", func(b *testing.B) {
		for b.Loop() {
			Score(x, y)
		}
	})
	b.Run("float32", func(b *testing.B) {
		for b.Loop() {
			Dot(x, y)
		}
	})
}
