package rerank

import (
	"context"
	"iter"

	"kb/pkg/record"
)

// Run reranks the hits of each question in a stream: a query record and the
// hits behind it. Hits without a query record are ranked by Options.Query and
// get one ahead of them; without that, the error is [ErrNoQuestion]. Other
// records pass through, those between the hits of a question behind them.
func Run(ctx context.Context, in iter.Seq2[record.Record, error], o Options) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		g := group{ctx: ctx, o: o, yield: yield}
		for r, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			if !g.take(r) {
				return
			}
		}
		g.flush()
	}
}

// group is one question while its hits come in.
type group struct {
	ctx   context.Context
	o     Options
	yield func(record.Record, error) bool
	query *record.Query
	id    string // what its hits call it
	hits  []*record.Hit
	rest  []record.Record // other records that came meanwhile
}

// take adds one record and says whether to go on.
func (g *group) take(r record.Record) bool {
	switch r := r.(type) {
	case *record.Query:
		if !g.flush() {
			return false
		}
		g.query, g.id = r, r.ID
	case *record.Hit:
		if g.query == nil || r.Query != "" && g.id != r.Query {
			if !g.flush() {
				return false
			}
			if g.o.Query == "" {
				g.yield(nil, ErrNoQuestion)
				return false
			}
			g.query, g.id = &record.Query{ID: r.Query, Text: g.o.Query}, r.Query
			if r.Query == "" {
				g.query.ID = record.QueryID(g.o.Query)
			}
		}
		g.hits = append(g.hits, r)
	default:
		if g.query == nil {
			return g.yield(r, nil)
		}
		g.rest = append(g.rest, r)
	}
	return true
}

// flush ends the question.
func (g *group) flush() bool {
	if g.query == nil {
		return true
	}
	q, hits, err := Rerank(g.ctx, g.query, g.hits, g.o)
	rest := g.rest
	g.query, g.hits, g.rest = nil, nil, nil
	if err != nil {
		g.yield(nil, err)
		return false
	}
	if !g.yield(q, nil) {
		return false
	}
	for _, h := range hits {
		if !g.yield(h, nil) {
			return false
		}
	}
	for _, r := range rest {
		if !g.yield(r, nil) {
			return false
		}
	}
	return true
}
