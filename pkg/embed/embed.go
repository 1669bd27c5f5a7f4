// Package embed is the stage that gives chunks, and questions, their vectors.
//
// Records leave in the order in which they came. Texts are collected into
// batches, a few batches are asked for at a time, and a text is asked for
// once: chunks of equal text share a vector, a vector that an index has
// already is taken from there (see [Reuse]), and a chunk that carries one of
// the same model is left alone.
package embed

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"kb/pkg/model"
	"kb/pkg/record"
)

// DefaultConcurrency is how many requests are under way at once: enough to
// hide the way to a server and back, few enough for the smallest rate limit.
const DefaultConcurrency = 2

// Options of [Run].
type Options struct {
	Embedder    model.Embedder
	Reuse       Reuse                    // vectors that are paid for already; may be nil; an io.Closer is closed when the sequence ends
	Batch       int                      // texts in one request; 0, or more than the embedder takes, is the embedder's
	Concurrency int                      // requests at once; 0 is [DefaultConcurrency]
	Warn        func(msg string)         // a record that got no vector, by its place in the file; may be nil
	Progress    func(done, requests int) // after each record that left; may be nil
	Stats       *Stats                   // counted into while the sequence runs; may be nil
}

// Stats counts what [Run] did. A run with Failed > 0 was a partial one.
type Stats struct {
	Chunks    int // that left
	Queries   int // that left
	Kept      int // carried a vector of this model already
	Reused    int // took a vector that an index had
	Shared    int // took the vector of an equal text of this run
	Requested int // texts that the model was asked for
	Requests  int // calls of the embedder
	Failed    int // chunks and queries that have no vector now
}

// ErrNoText is the reason of a chunk of white space; it is never sent.
var ErrNoText = errors.New("no text to embed")

// AskError means that the model could not be asked for a batch. The records
// ahead of it have left, with their vectors.
type AskError struct {
	Texts int    // in the batch
	First string // where the first of them stands
	Err   error
}

func (e *AskError) Error() string {
	return fmt.Sprintf("batch of %d from %s: %v", e.Texts, e.First, e.Err)
}
func (e *AskError) Unwrap() error { return e.Err }

// Run gives a vector to each chunk and query of a sequence and passes
// everything else through. A chunk is embedded as [record.Chunk.FullText]; a
// text that the model refuses leaves its chunk without a vector, with the
// reason in its field error. Records are not changed in place. The sequence
// ends with an error when in does, or with an [*AskError] when the model cannot
// be asked any more; everything before it has left by then. When the caller breaks out of the
// loop, requests that are under way are abandoned, and none is running when
// the loop has ended.
//
// Memory is bounded: two batches for each request under way, a cache of
// vectors of 32 MB (4 MB where they cost no request), and 16 MB of records that
// wait behind a chunk. A batch is asked for when it is full, when the input
// ends, or when too much waits behind it.
func Run(ctx context.Context, in iter.Seq2[record.Record, error], o Options) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		s := newStage(ctx, o, yield)
		defer s.close()
		for r, err := range in {
			if err != nil {
				if s.drain(true) {
					yield(nil, err)
				}
				return
			}
			s.add(r)
			if !s.drain(false) {
				return
			}
		}
		s.drain(true)
	}
}
