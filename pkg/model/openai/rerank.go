package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"kb/pkg/model"
	"kb/pkg/record"
)

// Reranker is a rerank endpoint of one of the shapes in style.go. It may be
// used by many goroutines at once.
type Reranker struct {
	*client
	style    style
	endpoint URL
	limit    atomic.Int64 // documents in one request
}

// defaultDocumentTokens fits, with a question, into the 512 tokens of the
// smaller rerankers and of llama-server's default batch.
const defaultDocumentTokens = 400

// NewReranker checks the configuration; it makes no call.
func NewReranker(cfg Config) (*Reranker, error) {
	c, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	s, err := styleOf(cfg.Style, c.url)
	if err != nil {
		return nil, err
	}
	r := &Reranker{client: c, style: s, endpoint: s.endpoint(c.url)}
	limit := providerOf(c.url.Host()).documents
	if s == styleTEI {
		limit = 32
	}
	r.limit.Store(int64(or(cfg.Batch, limit)))
	return r, nil
}

// Name is the model's, or the URL where no model was named.
func (r *Reranker) Name() string { return pick(r.cfg.Model, r.endpoint.String()) }

// Rerank implements [model.Reranker]: scores, the greatest first, of equal ones
// the earlier hit. Hits are sent with their title and headings. Those that the
// server leaves out, or that hold no text, have no score; no scores at all is
// an error. If the server refuses a document as too long, all are cut to
// DocumentTokens and sent once more.
func (r *Reranker) Rerank(ctx context.Context, q *record.Query, hits []*record.Hit) ([]model.Score, error) {
	var at []int
	documents := make([]string, len(hits))
	for i, h := range hits {
		c := record.Chunk{Title: h.Title, Headings: h.Headings, Text: h.Text}
		if documents[i] = strings.ReplaceAll(c.FullText(), "\x00", ""); strings.TrimSpace(documents[i]) != "" {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return nil, nil
	}
	scores, err := r.all(ctx, q.Text, documents, at)
	var api *APIError
	if errors.As(err, &api) && api.tooLong() {
		budget := or(r.cfg.DocumentTokens, defaultDocumentTokens)
		r.cfg.Warn(fmt.Sprintf("%v; trying again with documents cut to %d tokens", err, budget))
		for i := range documents {
			documents[i] = cutTokens(documents[i], budget)
		}
		scores, err = r.all(ctx, q.Text, documents, at)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(scores, func(a, b model.Score) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Index, b.Index))
	})
	return scores, nil
}

// all asks for the documents in as many requests as the server's limit needs.
// A cross-encoder scores each document by itself, so the scores of several
// requests compare.
func (r *Reranker) all(ctx context.Context, query string, documents []string, at []int) ([]model.Score, error) {
	var out []model.Score
	for len(at) > 0 {
		part := at[:min(len(at), int(r.limit.Load()))]
		scores, err := r.some(ctx, query, documents, part)
		if api := tooMany(err, len(part)); api != nil {
			r.limit.Store(int64(api.limit(len(part))))
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, scores...)
		at = at[len(part):]
	}
	return out, nil
}

func (r *Reranker) some(ctx context.Context, query string, documents []string, at []int) ([]model.Score, error) {
	texts := make([]string, len(at))
	for i, n := range at {
		texts[i] = documents[n]
	}
	var body []byte
	err := r.retry(ctx, r.cfg.Tries, func() (err error) {
		body, err = r.call(ctx, r.endpoint, r.style.request(r.cfg.Model, query, texts))
		return err
	})
	if err != nil {
		return nil, err
	}
	scores, err := parseScores(body, len(texts))
	if err != nil {
		if _, fault := parseFault(body); fault {
			return nil, r.apiError(r.endpoint, 200, nil, body)
		}
		return nil, r.fail(r.endpoint, "%w", err)
	}
	for i, s := range scores {
		scores[i].Index = at[s.Index]
	}
	return scores, nil
}
