package bm25

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestIDF(t *testing.T) {
	for _, c := range []struct {
		n, df int
		want  float64
	}{
		{10, 1, math.Log(1 + 9.5/1.5)},
		{10, 10, math.Log(1 + 0.5/10.5)},
		{10, 0, math.Log(1 + 10.5/0.5)},
		{0, 0, math.Log(2)},
		{3, 9, math.Log(1 + 0.5/3.5)}, // no index says so, but nothing breaks
	} {
		if got := IDF(c.n, c.df); !near(got, c.want) {
			t.Errorf("IDF(%d, %d) = %v, want %v", c.n, c.df, got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	terms, idf := []string{"a", "b", "c"}, []float64{1, 2, 4}
	got := Text(terms, idf, []string{"b", "a", "b", "x"}, 8)
	norm := K1 * (1 - B + B*4/8.0)
	want := 1*(K1+1)/(1+norm) + 2*2*(K1+1)/(2+norm)
	if !near(got, want) {
		t.Errorf("Text = %v, want %v", got, want)
	}
	if got := Text(terms, idf, nil, 0); got != 0 {
		t.Errorf("an empty text scores %v", got)
	}
	if got := Ideal(idf); !near(got, 7*(K1+1)) {
		t.Errorf("Ideal = %v", got)
	}
	for _, x := range []float64{IDF(-1, 5), Term(1, 0, 5, 10), Term(1, 1, 5, 0), Ideal(nil)} {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			t.Errorf("odd arguments give %v", x)
		}
	}
	if endless := Term(4, 1<<40, 1, 8); endless > 4*(K1+1) || endless < 4*(K1+1)-1e-6 {
		t.Errorf("an endless term scores %v, not the ideal", endless)
	}
}
