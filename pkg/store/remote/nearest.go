package remote

import (
	"context"
	"fmt"
	"slices"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/vector"
)

const (
	// exhaustive is up to how many vectors every one is scored.
	exhaustive = 2000
	// leastFetch and mostFetch are how many vectors a search asks for before it
	// asks for each by its key.
	leastFetch, mostFetch = 64, 8192
	// nearTie is how far a score of the engine may be from the true one.
	nearTie = 1e-5
)

// Nearest returns the k chunks with the greatest cosine to q.
func (r *reader) Nearest(ctx context.Context, q record.Vector, k int, f store.Filter) ([]store.Scored, error) {
	if r.m.Vectors == 0 || k <= 0 {
		return nil, nil
	}
	if len(q) != r.m.Settings.Dim {
		return nil, fmt.Errorf("%s: the query has %d dimensions, the index has %d", r.Name(), len(q), r.m.Settings.Dim)
	}
	if err := q.Check(); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	d, err := r.directory(ctx)
	if err != nil {
		return nil, err
	}
	pass, n, err := d.allowed(f)
	if err != nil || n == 0 {
		return nil, err
	}
	s := &search{reader: r, dir: d, q: q, k: min(k, n), pass: pass, passing: n, scores: map[int]float64{}}
	if n <= exhaustive || r.exact {
		err = s.all(ctx)
	} else {
		err = s.some(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.best(ctx, f.MinCosine)
}

// search is one search for near vectors.
type search struct {
	*reader
	dir     *directory
	q       record.Vector
	k       int
	pass    []bool // documents; nil for all
	passing int    // their chunks with vectors
	scores  map[int]float64
}

// take notes what the engine found and says how many of it count.
func (s *search) take(near []Near) {
	for _, n := range near {
		ref, ok := s.dir.ref(n.Key)
		if !ok {
			continue
		}
		if doc, _ := s.dir.place(ref); s.pass == nil || s.pass[doc] {
			s.scores[ref] = n.Score
		}
	}
}

// some asks for more and more of what is near, until k of it count.
func (s *search) some(ctx context.Context) error {
	limits := s.engine.Limits()
	most := mostFetch
	if limits.Nearest > 0 {
		most = min(most, limits.Nearest)
	}
	n := max(leastFetch, 2*s.k, int(2*float64(s.k)*float64(s.m.Vectors)/float64(s.passing)))
	for n <= most {
		near, err := s.engine.Nearest(ctx, s.m.Table, s.q, n, nil)
		if err != nil {
			return err
		}
		if s.take(near); len(s.scores) >= s.k {
			return nil
		}
		if len(near) < n {
			break
		}
		n *= 4
	}
	return s.all(ctx)
}

// all scores every vector that passes. Those that the engine did not find are
// scored here.
func (s *search) all(ctx context.Context) error {
	if most := s.engine.Limits().Nearest; s.pass == nil && (most == 0 || s.m.Vectors <= most) {
		n := s.m.Vectors + exhaustive
		if most > 0 {
			n = min(n, most)
		}
		near, err := s.engine.Nearest(ctx, s.m.Table, s.q, n, nil)
		if err != nil {
			return err
		}
		s.take(near)
	}
	_, missing := s.missing()
	for keys := range slices.Chunk(missing, exhaustive/2) {
		near, err := s.engine.Nearest(ctx, s.m.Table, s.q, len(keys), keys)
		if err != nil {
			return err
		}
		s.take(near)
	}
	if len(s.scores) == s.passing {
		return nil
	}
	refs, _ := s.missing()
	return s.score(ctx, refs)
}

// missing are the vectors that pass and have no score.
func (s *search) missing() (refs []int, keys []string) {
	for doc, e := range s.dir.docs {
		if s.pass != nil && !s.pass[doc] {
			continue
		}
		for chunk := range e.Chunks {
			ref := s.dir.first[doc] + chunk
			if _, ok := s.scores[ref]; !ok && e.hasVector(chunk) {
				refs, keys = append(refs, ref), append(keys, e.vectorKey(chunk))
			}
		}
	}
	return refs, keys
}

// score scores vectors in float64.
func (s *search) score(ctx context.Context, refs []int) error {
	for refs := range slices.Chunk(refs, getAtOnce) {
		keys := make([]string, len(refs))
		for i, ref := range refs {
			doc, chunk := s.dir.place(ref)
			keys[i] = s.dir.docs[doc].vectorKey(chunk)
		}
		vectors, err := s.vectors(ctx, keys)
		if err != nil {
			return err
		}
		for i, ref := range refs {
			s.scores[ref] = vector.Score(s.q, vectors[i])
		}
	}
	return nil
}

// best returns the k best of what was found, scored again.
func (s *search) best(ctx context.Context, least float64) ([]store.Scored, error) {
	top := vector.NewTopK(s.k)
	for ref, score := range s.scores {
		top.Add(vector.Scored{Row: int64(ref), Score: score})
	}
	if !top.Full() {
		return nil, s.damaged(fmt.Errorf("%d of %d vectors were found", len(s.scores), s.k))
	}
	floor := top.Worst().Score - 2*nearTie
	if least > 0 {
		floor = max(floor, least-nearTie)
	}
	var near []int
	for ref, score := range s.scores {
		if score >= floor {
			near = append(near, ref)
		}
	}
	if err := s.score(ctx, near); err != nil {
		return nil, err
	}
	top = vector.NewTopK(s.k)
	for _, ref := range near {
		if score := s.scores[ref]; least <= 0 || score >= least {
			top.Add(vector.Scored{Row: int64(ref), Score: score})
		}
	}
	return scored(top), nil
}
