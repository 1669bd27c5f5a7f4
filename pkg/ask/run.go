package ask

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"kb/pkg/record"
	"kb/pkg/search"
)

// Answerer answers one question; emit, which may be nil, gets the text as it
// comes. [Options] answer a question by itself, a
// [Conversation] within its session.
type Answerer interface {
	Reply(ctx context.Context, q *record.Query, emit func(delta string)) (*record.Answer, error)
}

// Run answers each question of a stream (see [search.Question]) with an
// answer, or when it is to be streamed with deltas and a done record. Other
// records pass through. An answer that is incomplete, or not borne out though
// it must be, is written and the questions behind it are answered; its error
// comes at the end. Other errors end the stream.
func Run(ctx context.Context, in iter.Seq2[record.Record, error], by Answerer, streamed bool) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		s := &stream{ctx: ctx, cancel: cancel, by: by, streamed: streamed, yield: yield, open: true}
		for r, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			if !s.take(r) {
				return
			}
		}
		if len(s.faults) > 0 {
			yield(nil, errors.Join(s.faults...))
		}
	}
}

type stream struct {
	ctx      context.Context
	cancel   context.CancelFunc
	by       Answerer
	streamed bool
	yield    func(record.Record, error) bool
	open     bool // the consumer wants more
	n        int  // records so far
	faults   []error
}

// take handles one record and says whether to go on.
func (s *stream) take(r record.Record) bool {
	s.n++
	q, err := search.Question(r)
	if err != nil {
		s.yield(nil, fmt.Errorf("record %d: %w", s.n, err))
		return false
	}
	if q == nil {
		return s.send(r)
	}
	if q.ID == "" {
		q.ID = record.QueryID(q.Text)
	}
	return s.answer(q)
}

func (s *stream) answer(q *record.Query) bool {
	var emit func(string)
	if s.streamed {
		emit = func(delta string) { s.send(&record.Delta{Query: q.ID, Text: delta}) }
	}
	a, err := s.by.Reply(s.ctx, q, emit)
	switch {
	case !s.open:
		return false
	case a == nil && errors.Is(err, search.ErrEmpty):
		s.yield(nil, fmt.Errorf("record %d: %w", s.n, err))
		return false
	case a == nil:
		s.yield(nil, err)
		return false
	case err != nil:
		s.faults = append(s.faults, err)
	}
	if s.streamed {
		return s.send(&record.Done{Answer: *a})
	}
	return s.send(a)
}

// send hands a record on; when the consumer has had enough, the model is told
// to stop.
func (s *stream) send(r record.Record) bool {
	if s.open && !s.yield(r, nil) {
		s.open = false
		s.cancel()
	}
	return s.open
}
