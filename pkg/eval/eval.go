// Package eval is the stage that says whether retrieval is good: it puts the
// questions of a file to one or more ways of finding, judges the hits, and
// reports the figures by mode and by tag.
//
// A way of finding is a function, so this package knows nothing of the other
// stages. Whether a question is refused is decided as the answer stage decides
// it before it calls a model: there is no hit, or the confidence is known and
// below the floor.
package eval

import (
	"context"
	"fmt"
	"iter"
	"time"

	"kb/pkg/record"
)

// Depth is how far down the list MRR and nDCG look. [Options.K] may be deeper.
const Depth = 10

// Find returns what an answer to the question would draw on, best first: the
// query with its confidence and floor, and at least [Options.Depth] hits where
// there are as many.
type Find func(ctx context.Context, question string) (*record.Query, []*record.Hit, error)

// Mode is a named way of finding.
type Mode struct {
	Name string
	Find Find
}

// Options say what to evaluate.
type Options struct {
	Questions []*Question
	Modes     []Mode
	K         int                   // hits that an answer sees: the K of Hit@K
	Now       func() time.Time      // for the latency; nil: it is not measured
	Progress  func(done, total int) // may be nil
}

// Depth is how many hits are looked at.
func (o Options) Depth() int { return max(o.K, Depth) }

// Run judges every question in every mode: all questions of the first mode in
// the order of the file, then those of the next. The first error ends the
// sequence, since figures over a part of the questions would mislead.
func Run(ctx context.Context, o Options) iter.Seq2[*Judgment, error] {
	return func(yield func(*Judgment, error) bool) {
		done, total := 0, len(o.Modes)*len(o.Questions)
		for _, m := range o.Modes {
			for _, q := range o.Questions {
				j, err := o.one(ctx, m, q)
				if !yield(j, err) || err != nil {
					return
				}
				if done++; o.Progress != nil {
					o.Progress(done, total)
				}
			}
		}
	}
}

func (o Options) one(ctx context.Context, m Mode, q *Question) (*Judgment, error) {
	began := o.now()
	found, hits, err := m.Find(ctx, q.Text)
	took := o.now().Sub(began)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%s in mode %s: %w", q.Label, m.Name, err)
	}
	j := judge(q, found, hits[:min(len(hits), o.Depth())])
	j.Mode, j.latency = m.Name, took
	return j, nil
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Time{}
	}
	return o.Now()
}
