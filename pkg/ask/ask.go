// Package ask is search, rerank and answer as one call: what the commands,
// the server and an agent's tool do with a question.
package ask

import (
	"context"

	"kb/pkg/answer"
	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/rerank"
	"kb/pkg/search"
)

// Options say how to answer a question.
type Options struct {
	Searcher *search.Searcher
	Reranker model.Reranker // nil: the order of the search stands
	Answer   answer.Options
	// Search.TopK is how many passages the answer may draw on;
	// Search.Candidates is how many hits are reranked for them.
	// Search.MinScore applies to the score that orders the passages.
	Search search.Params
	Cache  *Cache // nil: every answer is written anew
	// Agent lets the chat model look for the passages itself, in several
	// searches. Looked is told each of them; may be nil.
	Agent  bool
	Looked func(query string, hits int)
}

func asQuery(question string) *record.Query {
	return &record.Query{ID: record.QueryID(question), Text: question}
}

// Reply implements [Answerer]: it answers one question by itself. Errors are
// those of the three stages; see [answer.Answer] for those that come with an
// answer.
func (o Options) Reply(ctx context.Context, q *record.Query, emit func(delta string)) (*record.Answer, error) {
	// The time of a file may decide whether it passes a filter by date, and is
	// nothing that the version of the index shows.
	if f := o.Search.Filter; o.Cache != nil && f.Since+f.Until == "" {
		return o.Cache.ask(ctx, q, o, emit)
	}
	return answerAnew(ctx, q, o, emit)
}

func answerAnew(ctx context.Context, q *record.Query, o Options, emit func(delta string)) (*record.Answer, error) {
	// The answer stage applies the limit, as its refusal names what came nearest.
	limit := o.Search.MinScore
	o.Search.MinScore = 0
	var queries []string
	var hits []*record.Hit
	var err error
	if o.Agent {
		q, hits, queries, err = o.gather(ctx, q)
	} else {
		q, hits, err = find(ctx, q, o)
	}
	if err != nil {
		return nil, err
	}
	if o.Reranker == nil || search.Reranked(q.Legs) {
		o.Answer.MinScore = limit // else it was meant for other scores
	}
	a, err := answer.Answer(ctx, q, hits, o.Answer, emit)
	if a != nil {
		a.Searches = queries
	}
	return a, err
}

// Find returns the passages that an answer would draw on.
func Find(ctx context.Context, question string, o Options) (*record.Query, []*record.Hit, error) {
	return find(ctx, asQuery(question), o)
}

func find(ctx context.Context, q *record.Query, o Options) (*record.Query, []*record.Hit, error) {
	p := o.Search
	if o.Reranker != nil {
		p.TopK, p.MinScore = max(p.Candidates, p.TopK), 0
	}
	q, hits, err := o.Searcher.Search(ctx, q, p)
	if err != nil || o.Reranker == nil {
		return q, hits, err
	}
	return rerank.Rerank(ctx, q, hits, rerank.Options{
		Reranker: o.Reranker, TopK: o.Search.TopK, MinScore: o.Search.MinScore, Warn: o.Answer.Warn,
	})
}
