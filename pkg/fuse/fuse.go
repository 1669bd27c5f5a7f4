// Package fuse merges rankings whose scores do not compare.
package fuse

import (
	"cmp"
	"slices"
)

// K is the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher
// 2009): the greater, the less the first ranks stand out.
const K = 60

// Ranking is one list to merge, best first, each key at most once.
type Ranking[T cmp.Ordered] struct {
	Weight float64
	Keys   []T
}

// Ranked is a key and its fused score.
type Ranked[T cmp.Ordered] struct {
	Key   T
	Score float64
}

// RRF merges rankings by weighted reciprocal rank fusion: each adds
// weight / (K + rank) to the score of its keys, ranks counting from 1. The
// result is sorted by score, greatest first, ties by key. Keys of a ranking
// without weight take part with a score of 0.
func RRF[T cmp.Ordered](rankings ...Ranking[T]) []Ranked[T] {
	scores := map[T]float64{}
	for _, r := range rankings {
		for i, key := range r.Keys {
			scores[key] += r.Weight / float64(K+i+1)
		}
	}
	out := make([]Ranked[T], 0, len(scores))
	for key, score := range scores {
		out = append(out, Ranked[T]{key, score})
	}
	slices.SortFunc(out, func(a, b Ranked[T]) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	})
	return out
}
