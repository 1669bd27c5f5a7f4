package flat

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/vector"
)

// Exact search in two stages (see vector.Block for the bound and its proof).
//
// The first stage scans the codes of all segments, a quarter of the bytes of
// the vectors, and keeps each row whose upper bound reaches the k-th greatest
// lower bound seen so far; workers share that threshold. The second stage
// scores the rows that are left in the order of falling upper bounds, until the
// next upper bound is below the k-th exact score. Nothing that was not scored
// can then be among the k best, so the result equals a scan of all vectors.

const (
	parallelFrom = 4 << 20 // bytes of codes; below it a second goroutine costs more than it saves
	rescoreSplit = 16      // rows that a goroutine scores at once, at least
	maxWorkers   = 8
)

// candidate is a row that may be among the best.
type candidate struct {
	ref   int64
	upper float64
}

// Nearest returns the k chunks with the greatest cosine to q.
func (r *reader) Nearest(ctx context.Context, q record.Vector, k int, f store.Filter) ([]store.Scored, error) {
	if r.head.Vectors == 0 || k <= 0 {
		return nil, nil
	}
	if len(q) != r.head.Dim {
		return nil, fmt.Errorf("%s: the query has %d dimensions, the index has %d", r.f.name, len(q), r.head.Dim)
	}
	if err := q.Check(); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	allowed, err := r.allowed(f)
	if err != nil {
		return nil, err
	}
	k = min(k, r.head.Vectors)
	s := &search{r: r, ctx: ctx, q: q, query: vector.NewQuery(q), k: k, allowed: allowed}
	s.threshold.set(math.Inf(-1))
	if f.MinCosine > 0 {
		s.threshold.set(f.MinCosine)
	}
	found, err := s.scan()
	if err != nil {
		return nil, err
	}
	top, err := s.rescore(found)
	if err != nil {
		return nil, err
	}
	best := top.Sorted()
	if f.MinCosine > 0 {
		best = slices.DeleteFunc(best, func(h vector.Scored) bool { return h.Score < f.MinCosine })
	}
	return scored(best), nil
}

// search is one run of Nearest.
type search struct {
	r         *reader
	ctx       context.Context
	q         []float32
	query     *vector.Query
	k         int
	allowed   *ranges
	next      atomic.Int64 // segment to scan
	threshold threshold
}

// threshold is the greatest k-th lower bound that any worker has seen.
type threshold struct{ bits atomic.Uint64 }

func (t *threshold) set(x float64) { t.bits.Store(math.Float64bits(x)) }
func (t *threshold) get() float64  { return math.Float64frombits(t.bits.Load()) }

func (t *threshold) raise(x float64) {
	for {
		b := t.bits.Load()
		if math.Float64frombits(b) >= x || t.bits.CompareAndSwap(b, math.Float64bits(x)) {
			return
		}
	}
}

// scan is the first stage: it returns the candidates, greatest upper bound
// first.
func (s *search) scan() ([]candidate, error) {
	workers := make([]*scanWorker, s.workers())
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = &scanWorker{search: s, top: vector.NewTopK(s.k)}
		if i > 0 {
			wg.Go(workers[i].run)
		}
	}
	workers[0].run()
	wg.Wait()
	best := vector.NewTopK(s.k)
	var found []candidate
	for _, w := range workers {
		if w.err != nil {
			return nil, w.err
		}
		for _, lower := range w.top.Sorted() {
			best.Add(lower)
		}
		found = append(found, w.found...)
	}
	if best.Full() {
		s.threshold.raise(best.Worst().Score)
	}
	found = above(found, s.threshold.get())
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.upper, a.upper), cmp.Compare(a.ref, b.ref))
	})
	return found, nil
}

func (s *search) workers() int {
	if s.r.head.Vectors*vector.Stride(s.r.head.Dim) < parallelFrom {
		return 1
	}
	return max(1, min(runtime.GOMAXPROCS(0), maxWorkers, len(s.r.segments)))
}

func above(found []candidate, threshold float64) []candidate {
	return slices.DeleteFunc(found, func(c candidate) bool { return c.upper < threshold })
}

// scanWorker scans one segment after the other.
type scanWorker struct {
	*search
	codes   codesReader
	weights vector.Weights
	sums    []int32
	checks  []int32
	top     *vector.TopK // of lower bounds
	found   []candidate
	err     error
}

func (w *scanWorker) run() {
	for w.err == nil {
		seg := int(w.next.Add(1)) - 1
		if seg >= len(w.r.segments) {
			return
		}
		s := &w.r.segments[seg]
		first := w.r.first[seg]
		if s.vectors == 0 || !w.allowed.meets(first, first+int64(s.rows)) {
			continue
		}
		if w.err = w.ctx.Err(); w.err == nil {
			w.err = w.segment(seg, first)
		}
	}
}

func (w *scanWorker) segment(seg int, first int64) error {
	s := &w.r.segments[seg]
	if cap(w.sums) < s.rows {
		w.sums, w.checks = make([]int32, s.rows), make([]int32, s.rows)
	}
	if b := w.r.resident.block(seg); b != nil {
		w.query.Weigh(&w.weights, b.Base, b.Step)
		w.weights.Scan(w.sums[:s.rows], b.Codes)
		w.take(first, w.sums[:s.rows], b.Err)
		return nil
	}
	checksum, err := w.r.codesChecksum(s)
	if err != nil {
		return w.r.f.damaged(w.r.table.start, err)
	}
	err = w.codes.run(w.r.f, s.codes, s.rows, w.r.head.Dim, checksum, func(base, step []float32) {
		w.query.Weigh(&w.weights, base, step)
	}, func(rows codeRows) bool {
		n := len(rows.err)
		ok := w.weights.ScanChecked(w.sums[:n], w.checks[:n], rows.codes, rows.check)
		w.take(first+int64(rows.first), w.sums[:n], rows.err)
		return ok
	})
	if err != nil {
		return w.r.f.damaged(s.codes, err)
	}
	return nil
}

// take takes those of the rows from ref on that may be among the best.
func (w *scanWorker) take(ref int64, sums []int32, errs []float32) {
	limit := w.threshold.get()
	for i, e := range errs {
		lower, upper := w.weights.Bounds(sums[i], e)
		if upper < limit || e == vector.NoVector || !w.allowed.has(ref+int64(i)) {
			continue
		}
		w.found = append(w.found, candidate{ref + int64(i), upper})
		w.top.Add(vector.Scored{Row: ref + int64(i), Score: lower})
		if w.top.Full() && w.top.Worst().Score > limit {
			limit = w.top.Worst().Score
			w.threshold.raise(limit)
		}
	}
	if len(w.found) > 4*w.k+4096 {
		w.found = above(w.found, w.threshold.get())
	}
}

// rescore is the second stage.
func (s *search) rescore(found []candidate) (*vector.TopK, error) {
	top := vector.NewTopK(s.k)
	for {
		floor := math.Inf(-1)
		if top.Full() {
			floor = top.Worst().Score
		}
		if found = above(found, floor); len(found) == 0 {
			return top, nil
		}
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		var batch []candidate
		batch, found = s.batch(found)
		scores, err := s.scores(batch, floor)
		if err != nil {
			return nil, err
		}
		for i, c := range batch {
			top.Add(vector.Scored{Row: c.ref, Score: scores[i]})
		}
	}
}

// batch splits the next candidates, those with the greatest upper bounds, from
// the rest. From a file come with them all that share a frame of vectors with one
// of them: reading it takes many times as long as scoring a row, and so it is not
// read again.
func (s *search) batch(found []candidate) (batch, rest []candidate) {
	n := min(len(found), max(rescoreSplit*s.workers(), s.k))
	if s.r.resident != nil {
		return found[:n], found[n:]
	}
	read := make(map[vectorFrame]bool, n)
	for _, c := range found[:n] {
		read[s.r.vectorFrame(c.ref)] = true
	}
	batch, rest = slices.Clone(found[:n]), found[n:n]
	for _, c := range found[n:] {
		if read[s.r.vectorFrame(c.ref)] {
			batch = append(batch, c)
		} else {
			rest = append(rest, c)
		}
	}
	return batch, rest
}

// scores returns the exact scores of a batch, which it sorts by ref. A score
// that is certainly below the floor may come out as -Inf.
func (s *search) scores(batch []candidate, floor float64) ([]float64, error) {
	slices.SortFunc(batch, func(a, b candidate) int { return cmp.Compare(a.ref, b.ref) })
	scores := make([]float64, len(batch))
	parts := min(s.workers(), ceil(len(batch), rescoreSplit))
	if s.r.resident != nil {
		parts = 1
	}
	errs := make([]error, parts)
	part := func(p int) {
		from, to := p*len(batch)/parts, (p+1)*len(batch)/parts
		errs[p] = s.score(batch[from:to], scores[from:to], floor)
	}
	var wg sync.WaitGroup
	for p := 1; p < parts; p++ {
		wg.Go(func() { part(p) })
	}
	part(0)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return scores, nil
}

func (s *search) score(batch []candidate, scores []float64, floor float64) error {
	if s.r.resident != nil {
		s.scoreResident(batch, scores, floor)
		return nil
	}
	c := s.r.cursor()
	defer s.r.release(c)
	for i, b := range batch {
		row, err := c.row(b.ref)
		if err != nil {
			return err
		}
		if row.X == nil {
			return s.r.f.damaged(c.vector.offset, fmt.Errorf("chunk %d has codes and no vector", b.ref))
		}
		scores[i] = row.Score(s.q)
	}
	return nil
}

// scoreResident asks the float32 product first, which is 25 times faster than
// the exact one and rules out most candidates.
func (s *search) scoreResident(batch []candidate, scores []float64, floor float64) {
	slack := vector.DotError(len(s.q)) * vector.Norm(s.q)
	for i, b := range batch {
		v := s.r.resident.vector(b.ref, s.r)
		if scores[i] = math.Inf(-1); float64(vector.Dot(s.q, v))+slack >= floor {
			scores[i] = vector.Score(s.q, v)
		}
	}
}
