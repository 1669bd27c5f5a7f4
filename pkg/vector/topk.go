package vector

import "slices"

// Scored is a row and its score.
type Scored struct {
	Row   int64
	Score float64
}

// Before orders by score, greatest first, and equal scores by row.
func (a Scored) Before(b Scored) bool {
	return a.Score > b.Score || a.Score == b.Score && a.Row < b.Row
}

// TopK keeps the k best of a stream in a heap with the worst on top: O(log k)
// for a row that enters, one comparison for all others. The result does not
// depend on the order of the stream.
type TopK struct {
	k    int
	heap []Scored
}

// NewTopK returns an empty collection of at most k rows. Memory grows with
// what is added, not with k.
func NewTopK(k int) *TopK { return &TopK{k: max(k, 0)} }

// Full says whether k rows are there, so that a row must beat [TopK.Worst].
func (t *TopK) Full() bool { return len(t.heap) == t.k }

// Worst is the last of the rows that are kept; there must be one.
func (t *TopK) Worst() Scored { return t.heap[0] }

// Add offers one row.
func (t *TopK) Add(s Scored) {
	switch {
	case len(t.heap) < t.k:
		t.heap = append(t.heap, s)
		t.up(len(t.heap) - 1)
	case t.k > 0 && s.Before(t.heap[0]):
		t.heap[0] = s
		t.down(0)
	}
}

// Sorted returns the rows, best first. The collection is used up.
func (t *TopK) Sorted() []Scored {
	slices.SortFunc(t.heap, func(a, b Scored) int {
		if a.Before(b) {
			return -1
		}
		return 1
	})
	return t.heap
}

func (t *TopK) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.heap[parent].Before(t.heap[i]) {
			return
		}
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		i = parent
	}
}

func (t *TopK) down(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
			if t.heap[worst].Before(t.heap[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}
