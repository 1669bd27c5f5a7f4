package ask

import (
	"context"
	"errors"

	"kb/pkg/answer"
	"kb/pkg/record"
)

// gather finds the passages by letting the model search ([answer.Gather]). A
// model that calls no tool gets what the question itself finds, with a warning.
func (o Options) gather(ctx context.Context, q *record.Query) (*record.Query, []*record.Hit, []string, error) {
	own, hits, err := find(ctx, q, o)
	if err != nil {
		return nil, nil, nil, err
	}
	queries, gathered, err := answer.Gather(ctx, q.Text, answer.Gathering{
		Generator: o.Answer.Generator,
		Rand:      o.Answer.Rand,
		Looked:    o.Looked,
		Search: func(ctx context.Context, query string) ([]*record.Hit, error) {
			_, hits, err := find(ctx, asQuery(query), o)
			return hits, err
		},
	})
	if errors.Is(err, answer.ErrNoTools) {
		if o.Answer.Warn != nil {
			o.Answer.Warn(err.Error() + "; answering from what the question itself finds")
		}
		return own, hits, nil, nil
	}
	if err != nil {
		return nil, nil, nil, err
	}
	// The confidence is that of the question as it was asked, and says nothing
	// about what was found by other words.
	searched := *own
	searched.Confidence = nil
	return &searched, gathered, queries, nil
}
