package fuse

import (
	"fmt"
	"testing"
)

func TestRRF(t *testing.T) {
	got := RRF(
		Ranking[string]{Weight: 1, Keys: []string{"a", "b", "c"}},
		Ranking[string]{Weight: 0.2, Keys: []string{"c", "d"}},
		Ranking[string]{Weight: 0, Keys: []string{"z", "y"}})
	order := ""
	for _, r := range got {
		order += r.Key
	}
	if order != "cabdyz" { // 1/63 + 0.2/61 beats 1/61; equal scores by key
		t.Errorf("got %s: %v", order, got)
	}
	if want := 1.0/63 + 0.2/61; got[0].Score != want {
		t.Errorf("c scores %v, want %v", got[0].Score, want)
	}
	if again := fmt.Sprint(RRF[string]()); again != "[]" {
		t.Errorf("nothing fused is %s", again)
	}
}
