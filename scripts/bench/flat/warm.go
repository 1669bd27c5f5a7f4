package main

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/pkg/vector"
	"kb/scripts/bench/data"
)

const (
	k       = 10
	clients = 8
	rounds  = 9 // of all queries
)

// warmed are searches of one process, in ms.
type warmed struct {
	Load       float64
	Kb, Vek    spread
	Clients    spread // one of several at once
	PerSecond  float64
	Mismatches int // queries for which the two disagree
}

// spread describes a series of times.
type spread struct{ Min, Median, P95 float64 }

func spreadOf(times []float64) spread {
	slices.Sort(times)
	return spread{times[0], times[len(times)/2], times[len(times)*95/100]}
}

// warm searches an index that is kept in memory, in turns with a scan of the
// same vectors as float32 in two goroutines.
func warm(ctx context.Context, dim, rows int, index, file string) (*warmed, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := data.Floats(raw)
	raw = nil
	began := time.Now()
	r, err := flat.New(index, flat.Resident(1<<40)).Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := &warmed{Load: ms(time.Since(began))}
	queries := make([]record.Vector, data.Queries)
	g := data.NewVectors(dim)
	for i := range queries {
		queries[i] = g.Query(i, rows/data.ChunksADocument)
	}
	var kb, vek []float64
	for range rounds {
		for _, q := range queries {
			began := time.Now()
			hits, err := r.Nearest(ctx, q, k, store.Filter{})
			if err != nil {
				return nil, err
			}
			kb = append(kb, ms(time.Since(began)))
			began = time.Now()
			want := bruteForce(all, q, rows)
			vek = append(vek, ms(time.Since(began)))
			if !slices.EqualFunc(hits, want, func(a store.Scored, b vector.Scored) bool { return int64(a.Ref) == b.Row }) {
				out.Mismatches++
			}
		}
	}
	out.Kb, out.Vek = spreadOf(kb), spreadOf(vek)
	return out, out.many(ctx, r, queries)
}

// many measures several clients that search without a pause.
func (w *warmed) many(ctx context.Context, r store.Reader, queries []record.Vector) error {
	times := make([][]float64, clients)
	errs := make([]error, clients)
	var wg sync.WaitGroup
	began := time.Now()
	for c := range clients {
		wg.Go(func() {
			for i := range 3 * len(queries) {
				began := time.Now()
				if _, errs[c] = r.Nearest(ctx, queries[(i+c*7)%len(queries)], k, store.Filter{}); errs[c] != nil {
					return
				}
				times[c] = append(times[c], ms(time.Since(began)))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	all := slices.Concat(times...)
	w.Clients = spreadOf(all)
	w.PerSecond = float64(len(all)) / time.Since(began).Seconds()
	return nil
}

// bruteForce scores all rows with vek.
func bruteForce(all, q []float32, rows int) []vector.Scored {
	tops := make([]*vector.TopK, workers())
	var wg sync.WaitGroup
	for w := range tops {
		tops[w] = vector.NewTopK(k)
		wg.Go(func() {
			for i, end := rows*w/len(tops), rows*(w+1)/len(tops); i < end; i++ {
				s := float64(vector.Dot(q, all[i*len(q):(i+1)*len(q)]))
				if !tops[w].Full() || s > tops[w].Worst().Score {
					tops[w].Add(vector.Scored{Row: int64(i), Score: s})
				}
			}
		})
	}
	wg.Wait()
	best := vector.NewTopK(k)
	for _, t := range tops {
		for _, s := range t.Sorted() {
			best.Add(s)
		}
	}
	return best.Sorted()
}
