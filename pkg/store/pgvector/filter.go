package pgvector

import (
	"context"

	"kb/pkg/store"
)

// passed are the documents of a version that pass a filter. A nil *passed lets
// everything pass.
type passed struct {
	docs   []bool // by path
	ids    []int64
	chunks int64
	l      *layout
}

// passing evaluates a filter over the documents of the version. Globs, tags and
// dates mean the same in all stores, so it is Go that reads them; the database
// gets the ids of the documents that pass.
func (r *reader) passing(ctx context.Context, f store.Filter) (*passed, error) {
	m, err := store.NewMatcher(f)
	if err != nil {
		return nil, err
	}
	if m.All() {
		return nil, nil
	}
	l, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	docs, err := r.documents(ctx)
	if err != nil {
		return nil, err
	}
	p := &passed{l: l, docs: make([]bool, len(docs))}
	for i := range docs {
		if m.Match(docs[i].Path, docs[i].Meta) {
			p.docs[i] = true
			p.ids = append(p.ids, l.docs[i].id)
			p.chunks += l.docs[i].chunks
		}
	}
	return p, nil
}

func (p *passed) has(ref int64) bool { return p == nil || p.docs[p.l.doc(ref)] }
