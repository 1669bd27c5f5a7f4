// Package data generates what the benchmark measures with: vectors that look
// like those of a language model, and texts cut from the Go source tree. The
// same seed gives the same numbers on every machine, so that runs compare.
//
// A vector is the unit of mean + topic + document + noise, with squares of
// lengths of 0.3, 0.25, 0.15 and 0.3: chunks of a document have a cosine of
// 0.7, of a topic 0.55, others 0.3. There are 300 topics and 20 chunks a
// document. Each dimension has a spread of its own (log-normal), and in 4 of
// them the mean is far from zero, as real models have it.
package data

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

const (
	// ChunksADocument is how many consecutive rows form a document.
	ChunksADocument = 20
	// Queries is how many there are: thirds that belong to a document, to a
	// topic only, and to nothing (the hard case for a bound).
	Queries  = 30
	topics   = 300
	seed     = 0x6b62
	outliers = 4
)

// Vectors generates vectors of one dimension.
type Vectors struct {
	Dim    int
	spread []float64
	mean   []float64
	topics [][]float64
}

// NewVectors prepares the generator.
func NewVectors(dim int) *Vectors {
	g := &Vectors{Dim: dim}
	rng := rand.New(rand.NewPCG(seed, uint64(dim)))
	g.spread = make([]float64, dim)
	for j := range g.spread {
		g.spread[j] = math.Exp(0.4 * rng.NormFloat64())
	}
	mean := g.noise(rng, 1)
	for range outliers {
		mean[rng.IntN(dim)] *= 8
	}
	g.mean = scale(mean, math.Sqrt(0.3)/norm(mean))
	for range topics {
		g.topics = append(g.topics, add(g.mean, g.noise(rng, 0.25)))
	}
	return g
}

// noise is a random vector whose length has about the given square.
func (g *Vectors) noise(rng *rand.Rand, square float64) []float64 {
	v := make([]float64, g.Dim)
	for j := range v {
		v[j] = rng.NormFloat64() * g.spread[j]
	}
	return scale(v, math.Sqrt(square)/norm(v))
}

// Document writes the vectors of one document into dst, one after the other.
func (g *Vectors) Document(dst []float32, doc int) {
	rng := rand.New(rand.NewPCG(seed+1, uint64(doc)))
	center := g.document(rng)
	for i := range ChunksADocument {
		unit(dst[i*g.Dim:(i+1)*g.Dim], add(center, g.noise(rng, 0.3)))
	}
}

func (g *Vectors) document(rng *rand.Rand) []float64 {
	return add(g.topics[rng.IntN(topics)], g.noise(rng, 0.15))
}

// Query returns the i-th query of an index that has as many documents.
func (g *Vectors) Query(i, documents int) []float32 {
	rng := rand.New(rand.NewPCG(seed+2, uint64(i)))
	var v []float64
	switch i % 3 {
	case 0:
		v = g.document(rand.New(rand.NewPCG(seed+1, uint64(rng.IntN(documents)))))
	case 1:
		v = g.document(rng)
	default:
		v = add(g.mean, g.noise(rng, 0.4))
	}
	out := make([]float32, g.Dim)
	unit(out, add(v, g.noise(rng, 0.3)))
	return out
}

// Bytes are the vectors as little-endian float32.
func Bytes(v []float32) []byte {
	out := make([]byte, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(x))
	}
	return out
}

// Floats reads what Bytes wrote.
func Floats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func add(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = a[i] + b[i]
	}
	return out
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x * x)
	}
	return math.Sqrt(sum)
}

func scale(v []float64, by float64) []float64 {
	for i := range v {
		v[i] *= by
	}
	return v
}

func unit(dst []float32, v []float64) {
	n := norm(v)
	for i, x := range v {
		dst[i] = float32(x / n)
	}
}
