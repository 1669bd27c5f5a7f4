package eval

import (
	"math"

	"kb/pkg/store"
)

// The vectors' part of the confidence is a logistic regression of one signal,
// by how much the nearest chunk stands out from the others: both kinds of
// questions have the same weight, and a little ridge keeps the slope finite
// where the signal tells them apart without error. Newton's method, one pass
// over the questions a step; it converges in less than ten.

// Signals of a query record that the fit reads; see package search.
const (
	signalLexical  = "lexical"
	signalStandout = "standout"
)

const (
	newtonSteps = 25
	ridge       = 0.005 // for the slope of the signal in standard deviations
)

// fitted is the vectors' part; nil where there is none.
type fitted struct{ store.Calibration }

// fitStandout fits the vectors' part to judgments by a semantic embedder; nil
// if they are by none, or if nearer chunks do not speak for an answer.
func fitStandout(judgments []*Judgment) *fitted {
	var x []float64
	var yes []bool
	for _, j := range judgments {
		if lead, ok := j.signals[signalStandout]; ok {
			x, yes = append(x, lead), append(yes, j.Answerable)
		}
	}
	mean, deviation := moments(x)
	if deviation == 0 {
		return nil
	}
	for i := range x {
		x[i] = (x[i] - mean) / deviation
	}
	base, slope := logistic(x, yes)
	if !(slope > 0) {
		return nil
	}
	s := new(fitted)
	s.Slope, s.Middle = slope/deviation, mean-deviation*base/slope
	return s
}

// apply returns the judgments with the confidence that searches will have.
func (s *fitted) apply(judgments []*Judgment) []*Judgment {
	if s == nil {
		return judgments
	}
	out := make([]*Judgment, len(judgments))
	for i, j := range judgments {
		out[i] = j
		lead, ok := j.signals[signalStandout]
		if !ok {
			continue
		}
		again := *j
		c := max(j.signals[signalLexical], s.Standout(lead))
		again.Confidence = &c
		out[i] = &again
	}
	return out
}

// logistic returns a and b of 1 / (1 + exp(-a - b·x)), the chance of yes.
func logistic(x []float64, yes []bool) (a, b float64) {
	positive := 0
	for _, y := range yes {
		if y {
			positive++
		}
	}
	if positive == 0 || positive == len(yes) {
		return 0, 0
	}
	for range newtonSteps {
		ga, gb, haa, hab, hbb := 0.0, -ridge*b, 0.0, 0.0, ridge
		for i := range x {
			p, target, weight := 1/(1+math.Exp(-a-float64(b*x[i]))), 0.0, 0.5/float64(len(yes)-positive)
			if yes[i] {
				target, weight = 1, 0.5/float64(positive)
			}
			g, h := weight*(target-p), weight*p*(1-p)
			ga, gb = ga+g, gb+float64(g*x[i])
			haa, hab, hbb = haa+h, hab+float64(h*x[i]), hbb+float64(h*x[i]*x[i])
		}
		det := float64(haa*hbb) - float64(hab*hab)
		if !(det > 1e-12) {
			break
		}
		a += (float64(ga*hbb) - float64(gb*hab)) / det
		b += (float64(gb*haa) - float64(ga*hab)) / det
	}
	return a, b
}

func moments(x []float64) (mean, deviation float64) {
	if len(x) == 0 {
		return 0, 0
	}
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		deviation += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(deviation / float64(len(x)))
}
