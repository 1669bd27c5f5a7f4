package openai

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"kb/pkg/model"
	"kb/pkg/record"
)

// Embedder is a model behind POST {base}/embeddings. It may be used by many
// goroutines at once.
type Embedder struct {
	*client
	info     model.Info
	provider provider
	endpoint URL
	limit    atomic.Int64 // texts in one request; shrinks to what the server takes
	dim      atomic.Int64 // of the first vector; 0 before
	plain    atomic.Bool  // the server refused encoding_format
	cut      sync.Once    // the warning about texts longer than the model's window
}

// NewEmbedder checks the configuration; it makes no call.
func NewEmbedder(cfg Config) (*Embedder, error) {
	if strings.TrimSpace(cfg.Model) == "" {
		return nil, errors.New("embedding needs the name of a model")
	}
	c, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	e := &Embedder{client: c, provider: providerOf(c.url.Host()), endpoint: c.url.join("/embeddings")}
	e.info = model.Info{Model: cfg.Model, BaseURL: c.url.String()}
	e.info.QueryPrefix, e.info.DocumentPrefix = prefixes(cfg.Model)
	if cfg.QueryPrefix != nil {
		e.info.QueryPrefix = *cfg.QueryPrefix
	}
	if cfg.DocumentPrefix != nil {
		e.info.DocumentPrefix = *cfg.DocumentPrefix
	}
	e.limit.Store(int64(or(cfg.Batch, e.provider.batch)))
	return e, nil
}

// Info identifies the model.
func (e *Embedder) Info() model.Info { return e.info }

// Weight is that of a semantic model.
func (e *Embedder) Weight() float64 { return 1 }

// Semantic is true.
func (e *Embedder) Semantic() bool { return true }

// Batch is how many texts one request may carry, as far as is known by now.
func (e *Embedder) Batch() int { return int(e.limit.Load()) }

// errNoText is a text that is never sent: servers differ in what they do with
// it, and none gives a vector that means something.
var errNoText = errors.New("no text to embed")

// Embed implements [model.Embedder]. It sends as many requests as the limits
// of the server ask for, one after the other.
func (e *Embedder) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([]record.Vector, error) {
	j := &job{e: e, purpose: purpose, texts: make([]string, len(texts)), vectors: make([]record.Vector, len(texts)), reasons: map[int]error{}}
	prefix := e.info.DocumentPrefix
	if purpose == model.Query {
		prefix = e.info.QueryPrefix
	}
	var rest []int
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			j.reasons[i] = errNoText
			continue
		}
		j.texts[i] = prefix + t
		e.checkLength(j.texts[i])
		rest = append(rest, i)
	}
	if err := j.run(ctx, rest); err != nil {
		return nil, err
	}
	if len(j.reasons) > 0 {
		return j.vectors, &model.PartialError{Reasons: j.reasons}
	}
	return j.vectors, nil
}

// checkLength warns, once, of a text that the server may cut without a word.
func (e *Embedder) checkLength(text string) {
	if limit := window(e.info.Model); limit > 0 && fewest(text) > limit {
		e.cut.Do(func() {
			e.cfg.Warn(fmt.Sprintf("%s reads %d tokens of a text, and a chunk is longer: many servers cut it without an error; use smaller chunks (kb chunk --size)", e.info.Model, limit))
		})
	}
}
