package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/flat"
)

// sample makes judgments with these confidences; a negative one is not known.
func sample(answerable bool, confidences ...float64) []*Judgment {
	var out []*Judgment
	for i, c := range confidences {
		j := &Judgment{Mode: "m", Question: fmt.Sprintf("%v %d", answerable, i), Answerable: answerable, Floor: 0.1, Hits: []Found{{Path: "x"}}}
		if c >= 0 {
			j.Confidence = &c
		}
		out = append(out, j)
	}
	return out
}

func steps(from, to float64, n int) []float64 {
	var out []float64
	for i := range n {
		out = append(out, from+(to-from)*float64(i)/float64(n-1))
	}
	return out
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		name     string
		yes, no  []float64
		floor    float64
		balanced float64
	}{
		{"apart", []float64{0.5, 0.9}, []float64{0.1, 0.3}, 0.4, 1},
		{"one of ten falsely refused", steps(0.2, 0.9, 10), []float64{0.1, 0.21, 0.22}, 0.25, 0.95},
		{"not one of three", []float64{0.2, 0.8, 0.9}, []float64{0.1, 0.3, 0.4}, 0.15, 2. / 3},
		{"the lowest of equals", []float64{0.2, 0.8}, []float64{0.1, 0.3}, 0.15, 0.75},
		{"the wrong way round", []float64{0.1, 0.2}, []float64{0.8, 0.9}, 0.05, 0.5},
		{"all the same", []float64{0.5, 0.5}, []float64{0.5, 0.5}, 0.25, 0.5},
		{"nothing below zero", []float64{0, 0.5}, []float64{0, 0.5}, 0, 0.5},
		{"close together", []float64{0.12345679}, []float64{0.12345678}, 0.12345679, 1},
		{"not known is never refused", []float64{-1, 0.9}, []float64{-1, 0.1}, 0.5, 0.75},
	} {
		js := append(sample(true, c.yes...), sample(false, c.no...)...)
		floor := fit(js)
		if floor != c.floor || math.Abs(at(js, floor).Balanced-c.balanced) > 1e-12 {
			t.Errorf("%s: floor %g with %g, want %g with %g", c.name, floor, at(js, floor).Balanced, c.floor, c.balanced)
		}
	}
}

// TestFitIsBest compares the sweep with all floors that make a difference.
func TestFitIsBest(t *testing.T) {
	x := uint32(1)
	random := func(n int) []float64 {
		var out []float64
		for range n {
			x = x*1664525 + 1013904223
			out = append(out, float64(x>>24)/256)
		}
		return out
	}
	for range 50 {
		js := append(sample(true, random(12)...), sample(false, random(9)...)...)
		js[3].Hits = nil
		best := at(js, 0).Balanced
		for _, j := range js {
			if p := at(js, *j.Confidence); p.FalseRefusals <= mostFalse {
				best = max(best, p.Balanced)
			}
		}
		if got := at(js, fit(js)).Balanced; got < best-rounding {
			t.Fatalf("fitted %g, best %g", got, best)
		}
	}
}

func TestCalibrate(t *testing.T) {
	js := append(sample(true, steps(0.5, 0.9, 40)...), sample(false, steps(0, 0.4, 40)...)...)
	js = append(js, sample(false, -1)...)
	c, err := Calibrate(js, false)
	if err != nil {
		t.Fatal(err)
	}
	if c.Floor != 0.45 || c.Unknown != 1 || c.Questions != 81 || c.Answerable != 40 || c.Now.Floor != 0.1 {
		t.Errorf("%+v", c)
	}
	// separable, but for one that no floor refuses: each fold says so
	if c.Held.FalseRefusals != 0 || *c.Held.Precision != 1 || math.Abs(c.Held.Recall-40./41) > 1e-12 {
		t.Errorf("cross-validated: %+v", c.Held)
	}
	if n := len(c.Curve); n != 20 || c.Curve[9].Floor != 0.45 {
		t.Errorf("%d points of the curve: %+v", n, c.Curve)
	}
	again, err := Calibrate(js, false)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(c) {
		t.Errorf("another time: %v, %v", again, err)
	}
}

func TestWorse(t *testing.T) {
	held, now := Point{Balanced: 0.8}, Point{Floor: 0.2, Balanced: 0.9}
	for _, c := range []struct {
		name string
		c    Calibration
		want bool
	}{
		{"the default does better", Calibration{Floor: 0.3, Held: held, Now: now}, true},
		{"and as well", Calibration{Floor: 0.3, Held: now, Now: now}, false},
		{"the same floor", Calibration{Floor: 0.2, Held: held, Now: now}, false},
		{"one that was fitted", Calibration{Floor: 0.3, Held: held, Now: now, Calibrated: true}, false},
		{"one that refuses too much", Calibration{Floor: 0.3, Held: held, Now: Point{Floor: 0.2, Balanced: 0.9, FalseRefusals: 0.11}}, false},
	} {
		if got := c.c.Worse(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestCalibrateTwice has the same questions fit the same floor, which is stored
// again: its figures then are those of questions that it was fitted on.
func TestCalibrateTwice(t *testing.T) {
	js := append(sample(true, steps(0.25, 0.9, 40)...), sample(false, steps(0, 0.45, 40)...)...)
	first, err := Calibrate(js, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range js {
		j.Floor = first.Floor
	}
	second, err := Calibrate(js, true)
	if err != nil || second.Floor != first.Floor || second.Now.Balanced <= second.Held.Balanced || second.Worse() {
		t.Errorf("%+v, then %+v, worse %v: %v", first, second, second.Worse(), err)
	}
}

func TestCalibrateWithTooLittle(t *testing.T) {
	many := steps(0.5, 0.9, 40)
	if _, err := Calibrate(append(sample(true, many...), sample(false, 0.1, 0.2)...), false); err == nil || !strings.Contains(err.Error(), "at least 10 of each") {
		t.Errorf("two questions to refuse: %v", err)
	}
	unknown := append(sample(true, make([]float64, 20)...), sample(false, make([]float64, 20)...)...)
	for _, j := range unknown {
		j.Confidence = nil
	}
	if _, err := Calibrate(unknown, false); !errors.Is(err, ErrNoConfidence) {
		t.Errorf("nothing known: %v", err)
	}
}

// A semantic embedder: words know nothing, but the nearest chunk of a question
// with an answer stands out. What that means is fitted with the floor.
func TestCalibrateVectors(t *testing.T) {
	js := append(sample(true, make([]float64, 40)...), sample(false, make([]float64, 40)...)...)
	for i, j := range js {
		lead := 0.02 + 0.001*float64(i%40) // 0.02 to 0.059, or
		if j.Answerable {
			lead += 0.03 // 0.05 to 0.089
		}
		j.Confidence, j.signals = nil, map[string]float64{signalLexical: 0, signalStandout: lead}
	}
	js[0].signals = map[string]float64{signalLexical: 0.99, signalStandout: 0} // found by its words
	c, err := Calibrate(js, false)
	if err != nil {
		t.Fatal(err)
	}
	if c.Unknown != 0 || c.Middle < 0.04 || c.Middle > 0.07 || c.Slope < 50 || c.Held.Balanced < 0.8 || c.Held.FalseRefusals > 0.3 {
		t.Errorf("%+v", c)
	}
	for i, j := range js { // nearer chunks say nothing
		j.signals = map[string]float64{signalLexical: 0, signalStandout: float64(i % 2)}
	}
	if _, err := Calibrate(js, false); !errors.Is(err, ErrNoConfidence) {
		t.Errorf("vectors that tell nothing: %v", err)
	}
}

func TestSaveChangesTheFloorAlone(t *testing.T) {
	ctx := context.Background()
	st := flat.New(filepath.Join(t.TempDir(), "i.zst"))
	c := &Calibration{Floor: 0.3, Slope: 50, Middle: 0.04, Questions: 50, Held: Point{Recall: 0.8, FalseRefusals: 0.02}}
	if _, err := c.Save(ctx, st, "v", "c-1"); !errors.Is(err, ErrChanged) {
		t.Errorf("without an index: %v", err)
	}
	tx, err := st.Begin(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	chunk := &record.Chunk{ID: "c", Document: "d", Path: "a.md", Title: "a", Hash: "h", Seq: 1, Of: 1, Text: "heron"}
	doc := store.Document{Path: "a.md", ID: "d", Hash: "h", Title: "a", Chunks: 1, Sum: store.Sum([]*record.Chunk{chunk})}
	if err := tx.Put(ctx, doc, []*record.Chunk{chunk}); err != nil {
		t.Fatal(err)
	}
	tx.SetRoots([]record.Root{{Path: "notes", Documents: 1}})
	tx.SetSkipped([]record.Skipped{{Path: "b.pdf", Reason: "a scan"}})
	before, err := tx.Commit(ctx, store.Settings{Analyzer: "ngram-2"})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := c.Save(ctx, st, "another", "c-1"); !errors.Is(err, ErrChanged) {
		t.Errorf("another version: %v", err)
	}
	after, err := c.Save(ctx, st, before.Version, "c-1")
	if err != nil {
		t.Fatal(err)
	}
	want := store.Calibration{Confidence: "c-1", Slope: 50, Middle: 0.04, Floor: 0.3, Questions: 50, Recall: 0.8, FalseRatio: 0.02}
	if after.Calibration == nil || *after.Calibration != want || after.Documents != 1 || after.Chunks != 1 {
		t.Errorf("%+v, calibration %+v", after, after.Calibration)
	}
	r, err := st.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	kept := 0
	for _, err := range r.Roots(ctx) {
		if kept++; err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range r.Skipped(ctx) {
		if kept++; err != nil {
			t.Fatal(err)
		}
	}
	if kept != 2 || r.Info().Calibration.Floor != 0.3 {
		t.Errorf("%d of the root and the skipped file are left, floor %+v", kept, r.Info().Calibration)
	}
}
