package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"kb/pkg/record"
)

// Run searches for every question that comes in: a query record, or an object
// without a kind that has the question in "q" ("question" and "query" will do)
// and perhaps an "id"; its other fields travel on in the query record. Each gives its query record and its
// hits. Other records pass through. The first error ends the sequence.
func (s *Searcher) Run(ctx context.Context, in iter.Seq2[record.Record, error], p Params) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		n := 0
		for r, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			n++
			q, err := Question(r)
			if err != nil {
				yield(nil, fmt.Errorf("record %d: %w", n, err))
				return
			}
			if q == nil {
				if !yield(r, nil) {
					return
				}
				continue
			}
			if !s.one(ctx, q, p, n, yield) {
				return
			}
		}
	}
}

// one searches for one question and says whether to go on.
func (s *Searcher) one(ctx context.Context, q *record.Query, p Params, n int, yield func(record.Record, error) bool) bool {
	found, hits, err := s.Search(ctx, q, p)
	if errors.Is(err, ErrEmpty) {
		err = fmt.Errorf("record %d: %w", n, err)
	}
	if err != nil {
		yield(nil, err)
		return false
	}
	if !yield(found, nil) {
		return false
	}
	for _, h := range hits {
		if !yield(h, nil) {
			return false
		}
	}
	return true
}

// Question returns the query that a record is, or that an object without a
// kind makes by one of [record.QuestionFields]; nil for a record of another kind.
func Question(r record.Record) (*record.Query, error) {
	if q, ok := r.(*record.Query); ok {
		return q, nil
	}
	raw, ok := r.(*record.Raw)
	if !ok || raw.RecordKind != "" {
		return nil, nil
	}
	q := new(record.Query)
	if err := record.Decode(raw.Line, q); err != nil {
		return nil, err
	}
	for _, name := range record.QuestionFields() {
		i := slices.IndexFunc(q.Extra, func(f record.Field) bool { return f.Key == name })
		if i < 0 {
			continue
		}
		if err := json.Unmarshal(q.Extra[i].Value, &q.Text); err != nil {
			return nil, fmt.Errorf("field %q is not a string", name)
		}
		q.Extra = slices.Delete(slices.Clone(q.Extra), i, i+1)
		return q, nil
	}
	return nil, errors.New(`no question: want {"q": "…"} or a query record`)
}
