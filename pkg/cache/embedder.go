package cache

import (
	"context"
	"errors"
	"time"

	"kb/pkg/model"
	"kb/pkg/record"
)

// VectorTTL is how long a vector is kept: a model does not change, so this
// only bounds what is never asked for again.
const VectorTTL = 30 * 24 * time.Hour

// Embedder returns e with a cache in front. A text is the same text only for
// the same model, base URL and prefix.
func Embedder(e model.Embedder, c Cache) model.Embedder { return &embedder{e, c} }

type embedder struct {
	model.Embedder
	cache Cache
}

func (e *embedder) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([]record.Vector, error) {
	keys := e.keys(purpose, texts)
	values, err := e.cache.Get(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := make([]record.Vector, len(texts))
	var ask []string
	var at []int // where the asked ones belong
	for i := range texts {
		if out[i] = vector(values[i]); out[i] == nil {
			ask, at = append(ask, texts[i]), append(at, i)
		}
	}
	if len(ask) == 0 {
		return out, ctx.Err()
	}
	vectors, err := e.Embedder.Embed(ctx, purpose, ask)
	var partial *model.PartialError
	if err != nil && !errors.As(err, &partial) {
		return nil, err
	}
	var entries []Entry
	for j, v := range vectors {
		if out[at[j]] = v; v != nil {
			entries = append(entries, Entry{keys[at[j]], v.Bytes()})
		}
	}
	if err := e.cache.Set(ctx, entries, VectorTTL); err != nil {
		return nil, err
	}
	if partial != nil {
		return out, moved(partial, at)
	}
	return out, nil
}

func (e *embedder) keys(purpose model.Purpose, texts []string) []string {
	info := e.Info()
	prefix := info.DocumentPrefix
	kind := "document"
	if purpose == model.Query {
		prefix, kind = info.QueryPrefix, "query"
	}
	keys := make([]string, len(texts))
	for i, t := range texts {
		keys[i] = Key("vector", info.Model, info.BaseURL, kind, prefix, t)
	}
	return keys
}

// vector reads a cached value; nil if there is none, or if it is not one.
func vector(value []byte) record.Vector {
	v, err := record.VectorFromBytes(value)
	if err != nil || v.Check() != nil {
		return nil
	}
	return v
}

// moved gives the reasons the places that their texts have in the caller's list.
func moved(e *model.PartialError, at []int) error {
	reasons := make(map[int]error, len(e.Reasons))
	for j, reason := range e.Reasons {
		reasons[at[j]] = reason
	}
	return &model.PartialError{Reasons: reasons}
}
