package openai

import (
	"context"
	"errors"
	"fmt"

	"kb/pkg/model"
)

// send makes one request for the texts and stores what came.
func (j *job) send(ctx context.Context, at []int, tries int) error {
	e := j.e
	var body []byte
	err := e.retry(ctx, tries, func() (err error) {
		body, err = e.ask(ctx, j.request(at))
		return err
	})
	if err != nil {
		return err
	}
	answer, err := e.vectors(body, len(at))
	if err != nil {
		return err
	}
	for i, a := range answer {
		if a.err != nil {
			j.reasons[at[i]] = fmt.Errorf("%s: %w", e.endpoint, a.err)
			continue
		}
		if err := e.checkDim(len(a.vector)); err != nil {
			return err
		}
		j.vectors[at[i]] = a.vector
	}
	return nil
}

// request is the body of a call.
func (j *job) request(at []int) map[string]any {
	e, p := j.e, j.e.provider
	input := make([]string, len(at))
	for i, n := range at {
		input[i] = j.texts[n]
	}
	body := map[string]any{"model": e.info.Model, "input": input}
	if p.format != "" && !e.plain.Load() {
		body["encoding_format"] = p.format
	}
	if e.cfg.Dimensions > 0 {
		body[p.dimensions] = e.cfg.Dimensions
	}
	if p.purpose != "" {
		body[p.purpose] = p.document
		if j.purpose == model.Query {
			body[p.purpose] = p.query
		}
	}
	return body
}

// ask makes the call, and once more without encoding_format where the server
// does not know the field.
func (e *Embedder) ask(ctx context.Context, body map[string]any) ([]byte, error) {
	answer, err := e.client.call(ctx, e.endpoint, body)
	var api *APIError
	if body["encoding_format"] == nil || !errors.As(err, &api) || !api.refuses("encoding_format") {
		return answer, err
	}
	delete(body, "encoding_format")
	if answer, err = e.client.call(ctx, e.endpoint, body); err == nil {
		e.plain.Store(true)
	}
	return answer, err
}

// checkDim holds all vectors of a run to one dimension.
func (e *Embedder) checkDim(dim int) error {
	if want := e.cfg.Dimensions; want > 0 && dim != want {
		return e.fail(e.endpoint, "the server returned vectors of %d dimensions, %d were asked for", dim, want)
	}
	if e.dim.CompareAndSwap(0, int64(dim)) {
		return nil
	}
	if first := int(e.dim.Load()); dim != first {
		return e.fail(e.endpoint, "the server returned a vector of %d dimensions after one of %d; nothing of this batch is kept", dim, first)
	}
	return nil
}
