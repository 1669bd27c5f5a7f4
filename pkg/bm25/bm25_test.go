package bm25

import (
	"math"
	"testing"
)

func TestAgainstTheFormula(t *testing.T) {
	// N = 10, df = 2: ln(1 + 8.5/2.5) = 1.4816; tf 3, length 8, average 10.
	if got := IDF(10, 2); math.Abs(got-1.4816045409) > 1e-9 {
		t.Errorf("idf %v", got)
	}
	want := 1.4816045409 * 3 * 1.9 / (3 + 0.9*(1-0.5+0.5*0.8))
	if got := Text([]string{"a"}, []float64{IDF(10, 2)}, []string{"a", "b", "a", "c", "a", "d", "e", "f"}, 10); math.Abs(got-want) > 1e-9 {
		t.Errorf("score %v, want %v", got, want)
	}
}

func TestBounds(t *testing.T) {
	idf := []float64{IDF(100, 0), IDF(100, 50), IDF(100, 100)}
	for i := 1; i < len(idf); i++ {
		if idf[i] >= idf[i-1] || idf[i] < 0 {
			t.Errorf("idf is %v: it must fall with df and not below 0", idf)
		}
	}
	if s := Term(idf[0], 1<<30, 1, 10); s >= Ideal(idf[:1]) {
		t.Errorf("%v is not below the ideal %v", s, Ideal(idf[:1]))
	}
	for _, x := range []float64{IDF(0, 0), IDF(-1, 5), Term(1, 0, 5, 10), Term(1, 1, 5, 0), Ideal(nil)} {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			t.Errorf("got %v", x)
		}
	}
}
