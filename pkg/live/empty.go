package live

import (
	"context"
	"iter"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/text"
)

// empty is the index before the first build.
type empty struct{}

func (empty) Info() store.Info {
	return store.Info{Settings: store.Settings{Analyzer: text.DefaultAnalyzer}}
}

func (empty) Documents(context.Context) iter.Seq2[store.Document, error] {
	return func(func(store.Document, error) bool) {}
}

func (empty) Skipped(context.Context) iter.Seq2[record.Skipped, error] {
	return func(func(record.Skipped, error) bool) {}
}

func (empty) Roots(context.Context) iter.Seq2[record.Root, error] {
	return func(func(record.Root, error) bool) {}
}

func (empty) Chunks(context.Context, string, bool) iter.Seq2[*record.Chunk, error] {
	return func(func(*record.Chunk, error) bool) {}
}

func (empty) Fetch(context.Context, []store.Ref, bool) ([]*record.Chunk, error) { return nil, nil }

func (empty) Nearest(context.Context, record.Vector, int, store.Filter) ([]store.Scored, error) {
	return nil, nil
}

func (empty) Lexical(_ context.Context, terms []string, _ int, _ store.Filter) (store.Lexical, error) {
	return store.Lexical{DF: make(map[string]int, len(terms))}, nil
}

func (empty) Close() error { return nil }
