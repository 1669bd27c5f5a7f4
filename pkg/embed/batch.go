package embed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"kb/pkg/model"
	"kb/pkg/record"
)

// slot is the vector of one text, shared by all records of that text.
type slot struct {
	batch  *batch // nil if the answer is known without a request
	vector record.Vector
	reused bool  // the index had it
	err    error // why there is none
}

// batch is one request. Its slots and err may be read once done is closed.
type batch struct {
	purpose model.Purpose
	first   record.Record // for the message, if the request fails
	texts   []string
	slots   []*slot
	err     error
	done    chan struct{}
}

func newBatch(purpose model.Purpose, first record.Record) *batch {
	return &batch{purpose: purpose, first: first, done: make(chan struct{})}
}

func (b *batch) add(text string) *slot {
	made := &slot{batch: b}
	b.texts = append(b.texts, text)
	b.slots = append(b.slots, made)
	return made
}

func (b *batch) finished() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// fill makes the request.
func (b *batch) fill(ctx context.Context, e model.Embedder) {
	vectors, err := e.Embed(ctx, b.purpose, b.texts)
	var partial *model.PartialError
	switch {
	case err != nil && !errors.As(err, &partial):
		b.err = err
	case len(vectors) != len(b.slots):
		b.err = fmt.Errorf("the embedder gave %d vectors for %d texts", len(vectors), len(b.slots))
	default:
		for i, s := range b.slots {
			s.vector = vectors[i]
			if partial != nil {
				s.err = partial.Reasons[i]
			}
			if len(s.vector) == 0 && s.err == nil {
				s.err = errors.New("the embedder gave no vector")
			}
		}
	}
	b.texts = nil
}

// caller runs batches, a few at a time.
type caller struct {
	ctx      context.Context
	cancel   context.CancelFunc
	embedder model.Embedder
	turns    chan struct{}
	begun    chan struct{} // closed when the batch launched last had its turn
	wg       sync.WaitGroup
	count    atomic.Int64
	failure  atomic.Pointer[error] // the first; nothing is sent after it
}

func newCaller(ctx context.Context, o Options) *caller {
	c := &caller{embedder: o.Embedder, turns: make(chan struct{}, o.Concurrency)}
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.begun = make(chan struct{})
	close(c.begun)
	return c
}

// launch runs a batch when it is its turn: batches begin in the order in which
// they were launched, as their records leave in that order.
func (c *caller) launch(b *batch) {
	before, begun := c.begun, make(chan struct{})
	c.begun = begun
	c.wg.Go(func() {
		defer close(b.done)
		<-before
		select {
		case c.turns <- struct{}{}:
			defer func() { <-c.turns }()
		case <-c.ctx.Done():
		}
		close(begun)
		if failure := c.failure.Load(); failure != nil {
			b.err = *failure
			return
		}
		if b.err = context.Cause(c.ctx); b.err != nil {
			return
		}
		b.fill(c.ctx, c.embedder)
		c.count.Add(1)
		if b.err != nil {
			c.failure.CompareAndSwap(nil, &b.err)
		}
	})
}

// answered is how many requests have come back.
func (c *caller) answered() int { return int(c.count.Load()) }

// close abandons what is under way and waits until nothing runs.
func (c *caller) close() {
	c.cancel()
	c.wg.Wait()
}
