package answer

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"kb/pkg/record"
)

// Run answers the queries of a stream: each [*record.Query] with the
// [*record.Hit] records behind it gives one [*record.Answer], or with
// Options.Stream [*record.Delta] records and a [*record.Done]. An answer is
// written as soon as the next query or the end shows that its hits are there.
// Records of other kinds go through.
//
// An answer that is incomplete, or with Options.Strict not borne out, is
// written like any other and the questions behind it are answered; its error
// comes at the end. Other errors end the stream.
func Run(ctx context.Context, in iter.Seq2[record.Record, error], opt Options) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := &runner{ctx: ctx, cancel: cancel, opt: opt, yield: yield}
		for rec, err := range in {
			if err != nil {
				r.fail(err)
				return
			}
			if !r.take(rec) {
				return
			}
		}
		if r.finish() && len(r.faults) > 0 {
			yield(nil, errors.Join(r.faults...))
		}
	}
}

// runner groups hits by their query.
type runner struct {
	ctx     context.Context
	cancel  context.CancelFunc
	opt     Options
	yield   func(record.Record, error) bool
	stopped bool // the consumer wants no more

	query  *record.Query
	hits   []*record.Hit
	faults []error
}

// take handles one record and says whether to go on.
func (r *runner) take(rec record.Record) bool {
	switch rec := rec.(type) {
	case *record.Query:
		if !r.finish() {
			return false
		}
		r.query = rec
		return true
	case *record.Hit:
		return r.hit(rec)
	}
	return r.send(rec)
}

func (r *runner) hit(h *record.Hit) bool {
	if r.query == nil {
		if r.opt.Question == "" {
			return r.fail(&OrphanError{Hit: h.ID})
		}
		r.query = &record.Query{ID: h.Query, Text: r.opt.Question}
		if h.Query == "" {
			r.query.ID = record.QueryID(r.opt.Question)
		}
	}
	if h.Query != "" && h.Query != r.query.ID {
		return r.fail(&OrphanError{Hit: h.ID, Query: h.Query, Behind: r.query.ID})
	}
	r.hits = append(r.hits, h)
	return true
}

// OrphanError is a hit that does not stand behind its query.
type OrphanError struct {
	Hit, Query, Behind string // ids
}

func (e *OrphanError) Error() string {
	if e.Behind == "" && e.Hit == "" {
		return "a hit comes without a query record, so there is no question to answer"
	}
	if e.Behind == "" {
		return fmt.Sprintf("hit %s comes without a query record, so there is no question to answer", e.Hit)
	}
	return fmt.Sprintf("hit %s belongs to query %s, but stands behind query %s", e.Hit, e.Query, e.Behind)
}

// Hint says what to do next.
func (e *OrphanError) Hint() string {
	if e.Behind == "" {
		return `keep the query record that kb search writes ahead of the hits, or name the question: kb answer --query "…"`
	}
	return "keep the hits of each query behind its query record"
}

// finish answers the query at hand and says whether to go on.
func (r *runner) finish() bool {
	q, hits := r.query, r.hits
	r.query, r.hits = nil, nil
	if q == nil {
		return true
	}
	var emit func(string)
	if r.opt.Stream {
		emit = func(delta string) { r.send(&record.Delta{Query: q.ID, Text: delta}) }
	}
	a, err := Answer(r.ctx, q, hits, r.opt, emit)
	if r.stopped {
		return false
	}
	if a == nil {
		return r.fail(fmt.Errorf("answering %q: %w", q.Text, err))
	}
	if err != nil {
		r.faults = append(r.faults, fmt.Errorf("answer to %q: %w", q.Text, err))
	}
	if r.opt.Stream {
		return r.send(&record.Done{Answer: *a}) && r.alive()
	}
	return r.send(a) && r.alive()
}

// alive ends the stream once it is cancelled, with all that was answered
// before written out.
func (r *runner) alive() bool {
	if err := r.ctx.Err(); err != nil {
		return r.fail(errors.Join(append(r.faults, err)...))
	}
	return true
}

// send hands a record on; when the consumer has had enough, the model is told
// to stop.
func (r *runner) send(rec record.Record) bool {
	if r.stopped || !r.yield(rec, nil) {
		r.stopped = true
		r.cancel()
		return false
	}
	return true
}

// fail ends the stream with an error.
func (r *runner) fail(err error) bool {
	if !r.stopped {
		r.yield(nil, err)
		r.stopped = true
	}
	return false
}
