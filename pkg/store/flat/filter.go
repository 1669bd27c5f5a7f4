package flat

import (
	"sort"

	"kb/pkg/store"
)

// ranges are the refs that pass a filter: half-open, rising, not touching. A
// nil *ranges lets everything pass.
type ranges struct{ from, to []int64 }

// allowed evaluates a filter over the documents.
func (r *reader) allowed(f store.Filter) (*ranges, error) {
	m, err := store.NewMatcher(f)
	if err != nil {
		return nil, err
	}
	if m.All() {
		return nil, nil
	}
	d, err := r.docs()
	if err != nil {
		return nil, err
	}
	rs := &ranges{}
	for i := range d.list {
		if doc := &d.list[i]; m.Match(doc.Path, doc.Meta) {
			rs.add(d.first[i], d.first[i+1])
		}
	}
	return rs, nil
}

func (rs *ranges) add(from, to int64) {
	switch n := len(rs.to); {
	case from == to:
	case n > 0 && rs.to[n-1] == from:
		rs.to[n-1] = to
	default:
		rs.from, rs.to = append(rs.from, from), append(rs.to, to)
	}
}

// meets says whether some ref in [from, to) passes.
func (rs *ranges) meets(from, to int64) bool {
	if rs == nil {
		return true
	}
	i := sort.Search(len(rs.to), func(i int) bool { return rs.to[i] > from })
	return i < len(rs.to) && rs.from[i] < to
}

func (rs *ranges) has(ref int64) bool { return rs.meets(ref, ref+1) }
