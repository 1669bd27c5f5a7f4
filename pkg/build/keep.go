package build

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"kb/pkg/embed"
	"kb/pkg/index"
	"kb/pkg/record"
)

// keeper lets a build whose vectors cost requests keep those that it has when
// it ends early: because the model cannot be asked any more, or because it is
// interrupted. Its stream ends there, like a pipe that is cut, and the index
// takes the documents that came whole, and removes nothing.
type keeper struct {
	ctx context.Context // of the build
	why error           // why it ended early; nil while it did not
}

// index is the context for the index, which outlives the interruption.
func (k *keeper) index() context.Context { return context.WithoutCancel(k.ctx) }

// until is the stream up to where the build ends early.
func (k *keeper) until(in iter.Seq2[record.Record, error]) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for r, err := range in {
			if err != nil && k.ends(err) || !yield(r, err) {
				return
			}
		}
	}
}

func (k *keeper) ends(err error) bool {
	var failed *embed.AskError
	if k.ctx.Err() != nil {
		k.why = k.ctx.Err()
	} else if errors.As(err, &failed) {
		k.why = failed
	}
	return k.why != nil
}

// warnKept says what a build that ended early has left in the index, or why
// that is nothing.
func (b *builder) warnKept(r index.Result, err error) {
	n := r.Created + r.Updated
	switch {
	case b.o.Warn == nil:
	case err != nil && !errors.Is(err, index.ErrNothing):
		b.o.Warn(fmt.Sprintf("the vectors that came are not kept: %v", err))
	case r.Written && n > 0:
		b.o.Warn(fmt.Sprintf("%d of the documents had all their vectors and are kept; the next build asks for the rest", n))
	}
}
