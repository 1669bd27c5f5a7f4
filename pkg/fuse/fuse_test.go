package fuse

import (
	"slices"
	"testing"
)

func TestRRF(t *testing.T) {
	got := RRF(
		Ranking[int]{Weight: 1, Keys: []int{7, 3, 5}},
		Ranking[int]{Weight: 0.5, Keys: []int{5, 9}},
		Ranking[int]{Weight: 0, Keys: []int{2, 1}},
	)
	want := []Ranked[int]{
		{5, 1/63.0 + 0.5/61},
		{7, 1 / 61.0},
		{3, 1 / 62.0},
		{9, 0.5 / 62},
		{1, 0},
		{2, 0},
	}
	if !slices.Equal(got, want) {
		t.Errorf("RRF = %v, want %v", got, want)
	}
	if none := RRF[int](); len(none) != 0 {
		t.Errorf("nothing fused is %v", none)
	}
	for range 20 { // equal scores stand by key, whatever the order of a map
		tie := RRF(Ranking[string]{Weight: 1, Keys: []string{"b", "a"}}, Ranking[string]{Weight: 1, Keys: []string{"a", "b"}})
		if tie[0].Key != "a" {
			t.Fatalf("tie went to %q", tie[0].Key)
		}
	}
}
