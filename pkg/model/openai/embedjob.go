package openai

import (
	"context"
	"errors"
	"fmt"

	"kb/pkg/model"
	"kb/pkg/record"
)

// A batch that the server refuses is dealt with in three steps. If it refused
// the number of texts, the number is cut to what it named, or halved, and kept
// for the rest of the run. If it refused a text, the batch is bisected, which
// costs 2 log2 n requests and one text. Whether it was a text is asked of the
// server where its error does not say so: if a harmless text is refused
// as well, the fault lies with the configuration and the job ends.

// bisectTries is how often a part of a refused batch is tried: the whole was
// tried often enough.
const bisectTries = 2

// job is one call of Embed.
type job struct {
	e       *Embedder
	purpose model.Purpose
	texts   []string // with prefix
	vectors []record.Vector
	reasons map[int]error
}

func (j *job) run(ctx context.Context, rest []int) error {
	for len(rest) > 0 {
		at := rest[:j.fit(rest)]
		err := j.send(ctx, at, j.e.cfg.Tries)
		if api := tooMany(err, len(at)); api != nil {
			j.e.shrink(api.limit(len(at)))
			continue
		}
		if textFault(err) {
			err = j.isolate(ctx, at, err)
		}
		if err != nil {
			return err
		}
		rest = rest[len(at):]
	}
	return nil
}

// fit is how many of the texts go into the next request.
func (j *job) fit(rest []int) int {
	n := min(len(rest), j.e.Batch())
	tokens := 0
	for i, at := range rest[:n] {
		if tokens += estimate(j.texts[at]); tokens > j.e.provider.tokens && i > 0 {
			return i
		}
	}
	return n
}

func (e *Embedder) shrink(to int) {
	for {
		old := e.limit.Load()
		if int64(to) >= old || e.limit.CompareAndSwap(old, int64(to)) {
			return
		}
	}
}

func tooMany(err error, sent int) *APIError {
	var api *APIError
	if sent > 1 && errors.As(err, &api) && api.tooMany() {
		return api
	}
	return nil
}

// textFault says whether err may be about a text rather than about the request.
func textFault(err error) bool {
	if errors.Is(err, errNumbers) {
		return true
	}
	var api *APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.Status {
	case 400, 413, 422, 424, 500:
		return true
	}
	return false
}

// certainly says whether err is about a text without doubt.
func certainly(err error) bool {
	var api *APIError
	return errors.Is(err, errNumbers) || errors.As(err, &api) && (api.tooLong() || api.notFinite())
}

// isolate finds the texts that made the server refuse a batch.
func (j *job) isolate(ctx context.Context, at []int, cause error) error {
	if !certainly(cause) {
		probe := &job{e: j.e, purpose: j.purpose, texts: []string{"test"}, vectors: make([]record.Vector, 1), reasons: map[int]error{}}
		if err := probe.send(ctx, []int{0}, 1); err != nil {
			return cause
		}
	}
	return j.bisect(ctx, at, cause)
}

func (j *job) bisect(ctx context.Context, at []int, cause error) error {
	if len(at) == 1 {
		j.reasons[at[0]] = advise(cause)
		return nil
	}
	for _, half := range [][]int{at[:len(at)/2], at[len(at)/2:]} {
		err := j.send(ctx, half, bisectTries)
		if textFault(err) {
			err = j.bisect(ctx, half, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// advise adds the hint to an error that ends as the reason of one text.
func advise(err error) error {
	var api *APIError
	if errors.As(err, &api) && api.Hint() != "" {
		return fmt.Errorf("%w; %s", err, api.Hint())
	}
	return err
}
