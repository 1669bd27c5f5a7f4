package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kb/pkg/answer"
	"kb/pkg/cache"
	"kb/pkg/record"
	"kb/pkg/search"
)

// AnswerTTL is how long an answer is kept for the same question.
const AnswerTTL = 24 * time.Hour

// Cache keeps whole answers, so that the same question costs no request
// again: none for its embedding, for reranking, or for the answer. The key
// holds the version of the index, so a changed note never gets an old answer,
// the question, and every setting that the answer depends on.
type Cache struct {
	Cache cache.Cache
	// Settings are those that [Options] does not show: base URLs, what else
	// goes into requests, and the program's version, which stands for its
	// prompts and checks.
	Settings string
}

// ask is [answerAnew] with the cache in front.
func (c *Cache) ask(ctx context.Context, q *record.Query, o Options, emit func(string)) (*record.Answer, error) {
	var start time.Time
	if o.Answer.Now != nil {
		start = o.Answer.Now()
	}
	key, err := c.key(q, o)
	if err != nil {
		return nil, err
	}
	values, err := c.Cache.Get(ctx, []string{key})
	if err != nil {
		return nil, err
	}
	if a := readAnswer(values[0]); a != nil {
		a.Query = q.ID
		if o.Answer.Now != nil {
			a.LatencyMS = o.Answer.Now().Sub(start).Milliseconds()
		}
		return repeat(q, a, o, emit)
	}
	a, err := answerAnew(ctx, q, o, emit)
	if !lasting(a, err, o) {
		return a, err
	}
	line, encodeErr := record.Append(nil, a)
	if encodeErr != nil {
		return a, encodeErr
	}
	if setErr := c.Cache.Set(ctx, []cache.Entry{{Key: key, Value: line}}, AnswerTTL); setErr != nil {
		return a, setErr
	}
	return a, err
}

// lasting says whether an answer is the one to give next time, too: not if its
// claims could not be verified, or its passages not be reranked, this time.
func lasting(a *record.Answer, err error, o Options) bool {
	return a != nil && a.Complete && (err == nil || errors.Is(err, answer.ErrUnsupported)) &&
		(o.Reranker == nil || search.Reranked(a.Legs))
}

// repeat gives an answer that was written before.
func repeat(q *record.Query, a *record.Answer, o Options, emit func(string)) (*record.Answer, error) {
	a.Cached, a.Usage = true, nil
	if o.Answer.Found != nil {
		found := *q
		found.Legs, found.Confidence, found.Floor, found.Chunks, found.Documents = a.Legs, a.Confidence, a.Floor, a.Chunks, a.Documents
		o.Answer.Found(&found, a.Passages)
	}
	if emit != nil {
		emit(a.Text)
	}
	if o.Answer.Strict {
		return a, answer.Unsupported(a)
	}
	return a, nil
}

func (c *Cache) key(q *record.Query, o Options) (string, error) {
	reranker := ""
	if o.Reranker != nil {
		reranker = o.Reranker.Name()
	}
	params, err := json.Marshal(o.Search)
	if err != nil {
		return "", err
	}
	return cache.Key("answer", o.Searcher.Info().Version, q.Text, string(q.Vector.Bytes()), string(params), reranker,
		o.Answer.Generator.Name(), fmt.Sprint(o.Answer.MaxContext, o.Answer.MinScore, o.Answer.Verify, o.Agent), c.Settings), nil
}

// readAnswer reads a cached value; nil if there is none, or if it is not one.
func readAnswer(value []byte) *record.Answer {
	a := new(record.Answer)
	if value == nil || record.Decode(value, a) != nil || a.Text == "" {
		return nil
	}
	return a
}
