package watch

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

const (
	quiet = 300 * time.Millisecond
	most  = 2 * time.Second
)

// settled says when settle returns, after the first hint, if more come at
// these times.
func settled(t *testing.T, hints []time.Duration) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		c := make(chan struct{}, 1)
		began := time.Now()
		go func() {
			for _, at := range hints {
				time.Sleep(at - time.Since(began))
				select {
				case c <- struct{}{}:
				default:
				}
			}
		}()
		settle(t.Context(), c, quiet, most)
		took = time.Since(began)
		time.Sleep(time.Minute) // until the last hint was given
	})
	return took
}

func TestSettle(t *testing.T) {
	ms := func(ns ...int) (d []time.Duration) {
		for _, n := range ns {
			d = append(d, time.Duration(n)*time.Millisecond)
		}
		return d
	}
	for name, c := range map[string]struct {
		hints []time.Duration
		want  int
	}{
		"one change":        {nil, 300},
		"a save in steps":   {ms(1, 2, 5), 305},
		"late in the quiet": {ms(290, 580), 880},
		"after the quiet":   {ms(310), 300},
		"without an end":    {ms(250, 500, 750, 1000, 1250, 1500, 1750, 2000, 2250), 2000},
	} {
		if got, want := settled(t, c.hints), ms(c.want)[0]; got != want {
			t.Errorf("%s: settled after %s, want %s", name, got, want)
		}
	}
}

// Whatever comes, it returns at the end of the first time without a hint, or
// at the greatest delay.
func TestSettleIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var hints []time.Duration
		for range r.IntN(30) {
			hints = append(hints, time.Duration(r.Int64N(int64(3*time.Second)))|1) // odd, so that none comes just as a time ends
		}
		slices.Sort(hints)
		want := quiet
		for _, at := range hints {
			if at < want {
				want = at + quiet
			}
		}
		if got := settled(t, hints); got != min(want, most) {
			t.Fatalf("hints at %v: settled after %s, want %s", hints, got, min(want, most))
		}
	}
}
