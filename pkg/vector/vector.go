// Package vector is kb's numeric kernel: dot products, unit length, the k
// best of a stream, and a compact code of vectors whose error is proven, so
// that a search over the codes plus a few exact scores gives the same result
// as exact scores of everything.
//
// Vectors are []float32 of unit length, so the dot product of two of them is
// their cosine.
package vector

import (
	"math"

	"github.com/viterin/vek/vek32"
)

// Dot is the dot product in float32, with SIMD where the machine has it. Its
// last bits differ between machines; [Score] is the same everywhere. Vectors
// of different lengths have the dot product of their common part.
func Dot(a, b []float32) float32 {
	n := min(len(a), len(b))
	if n == 0 {
		return 0
	}
	return vek32.Dot(a[:n], b[:n])
}

// DotError bounds |Dot(a,b) − Score(a,b)| for vectors of n elements, relative
// to the product of their lengths: n+8 roundings of float32, in any order of
// summation (Higham, Accuracy and Stability of Numerical Algorithms, 3.1).
func DotError(n int) float64 { return float64(n+8) * 0x1p-24 * 1.01 }

// Score is the dot product in float64, summed in the order of the elements
// and without fused operations, so it has the same bits on every machine.
func Score(a, b []float32) float64 {
	b = b[:min(len(a), len(b))]
	sum := 0.0
	for i, y := range b {
		sum += float64(float64(a[i]) * float64(y))
	}
	return sum
}

// Norm is the length of v.
func Norm(v []float32) float64 { return math.Sqrt(Score(v, v)) }

// unitError is how far the square of a length may be from 1 for a vector that
// counts as one of unit length: twice the rounding of its elements to float32.
const unitError = 2.5e-7

// IsUnit says whether v has unit length, as far as float32 can express it.
func IsUnit(v []float32) bool { return math.Abs(Score(v, v)-1) <= unitError }

// Unit returns v with unit length: v itself where it has unit length already,
// so that its bits are kept, else a copy that was divided in float64. It
// returns nil for a vector that has no direction: zero, or not finite.
func Unit(v []float32) []float32 {
	if IsUnit(v) {
		return v
	}
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	if largest == 0 || math.IsNaN(largest) || math.IsInf(largest, 0) {
		return nil
	}
	sum := 0.0
	for _, x := range v {
		y := float64(x) / largest
		sum += float64(y * y)
	}
	length := math.Sqrt(sum)
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / largest / length)
	}
	return out
}
