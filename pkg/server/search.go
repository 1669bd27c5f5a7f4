package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kb/pkg/ask"
	"kb/pkg/live"
	"kb/pkg/record"
	"kb/pkg/search"
)

// Limits on what one question may ask for.
const (
	maxQuestion   = 4000 // characters
	maxTopK       = 100
	maxCandidates = 1000
	maxFilters    = 100 // paths, and tags
)

// search finds hits: what kb search writes, or kb rerank behind it.
func (s *server) search(w http.ResponseWriter, r *http.Request) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return failf(http.StatusBadRequest, "the parameters cannot be read: %v (%% is written %%25, and ; %%3B)", err)
	}
	q, err := parseSearch(query)
	if err != nil {
		return err
	}
	return s.with(r.Context(), func(l *live.Lease) error {
		opt := s.Ask
		opt.Searcher = l.Searcher()
		if opt.Search, err = q.params(s.Ask.Search); err != nil {
			return err
		}
		if !q.rerank {
			opt.Reranker = nil
		}
		found, hits, err := ask.Find(r.Context(), q.Question, opt)
		if err != nil {
			return err
		}
		return respondHits(w, found, hits)
	})
}

func respondHits(w http.ResponseWriter, q *record.Query, hits []*record.Hit) error {
	q.Vector = nil // of no use to a client
	body, err := record.Append([]byte(`{"query":`), q)
	if err != nil {
		return err
	}
	body = append(body, `,"hits":[`...)
	for i, h := range hits {
		if i > 0 {
			body = append(body, ',')
		}
		if body, err = record.Append(body, h); err != nil {
			return err
		}
	}
	writeBody(w, http.StatusOK, append(body, "]}"...))
	return nil
}

// question is what a client asks, and how.
type question struct {
	Question   string   `json:"question"`
	Q          string   `json:"q,omitempty"` // other names of the question, see settle
	Query      string   `json:"query,omitempty"`
	Mode       string   `json:"mode"`
	TopK       *int     `json:"top_k"`
	Candidates *int     `json:"candidates"`
	MinScore   *float64 `json:"min_score"`
	Path       []string `json:"path"`
	Tag        []string `json:"tag"`
	Since      string   `json:"since"`
	Until      string   `json:"until"`
	Strict     bool     `json:"strict"`
	Session    string   `json:"session"`

	rerank bool
}

// settle puts the question, by whichever of its names it came, into Question.
func (q *question) settle() {
	q.Question, q.Q, q.Query = cmp.Or(q.Question, q.Q, q.Query), "", ""
}

// params are those of the search, over the server's own.
func (q *question) params(p search.Params) (search.Params, error) {
	if err := q.check(); err != nil {
		return p, err
	}
	if q.Mode != "" {
		p.Mode = q.Mode
	}
	if q.TopK != nil {
		p.TopK = *q.TopK
	}
	if q.Candidates != nil {
		p.Candidates = *q.Candidates
	}
	if q.MinScore != nil {
		p.MinScore = *q.MinScore
	}
	if q.Path != nil {
		p.Filter.Paths = q.Path
	}
	if q.Tag != nil {
		p.Filter.Tags = q.Tag
	}
	if q.Since != "" {
		p.Filter.Since = q.Since
	}
	if q.Until != "" {
		p.Filter.Until = q.Until
	}
	if err := p.Validate(); err != nil {
		return p, failf(http.StatusBadRequest, "%v", err)
	}
	return p, nil
}

func (q *question) check() error {
	within := func(name string, v *int, limit int) error {
		if v != nil && (*v < 1 || *v > limit) {
			return failf(http.StatusBadRequest, "%s is %d; it may be 1 to %d", name, *v, limit)
		}
		return nil
	}
	if err := within("top_k", q.TopK, maxTopK); err != nil {
		return err
	}
	if err := within("candidates", q.Candidates, maxCandidates); err != nil {
		return err
	}
	switch n := utf8.RuneCountInString(q.Question); {
	case strings.TrimSpace(q.Question) == "":
		return failf(http.StatusBadRequest, "the question is empty")
	case !utf8.ValidString(q.Question):
		return failf(http.StatusBadRequest, "the question is not UTF-8")
	case n > maxQuestion:
		return failf(http.StatusRequestEntityTooLarge, "the question has %d characters; it may have %d", n, maxQuestion)
	case len(q.Path) > maxFilters || len(q.Tag) > maxFilters:
		return failf(http.StatusBadRequest, "more than %d paths or tags", maxFilters)
	}
	return nil
}

// parseSearch reads the question from the URL.
func parseSearch(v url.Values) (*question, error) {
	known := []string{"q", "question", "query", "mode", "top_k", "candidates", "min_score", "path", "tag", "since", "until", "rerank"}
	for name, values := range v {
		switch {
		case !slices.Contains(known, name):
			return nil, failf(http.StatusBadRequest, "there is no parameter %q; there are %s", name, strings.Join(known, ", "))
		case len(values) > 1 && name != "path" && name != "tag":
			return nil, failf(http.StatusBadRequest, "%s is there %d times", name, len(values))
		}
	}
	q := &question{Question: cmp.Or(v.Get("q"), v.Get("question"), v.Get("query")), Mode: v.Get("mode"), Path: v["path"], Tag: v["tag"], Since: v.Get("since"), Until: v.Get("until")}
	for _, err := range []error{
		parseInto(v, "top_k", strconv.Atoi, &q.TopK),
		parseInto(v, "candidates", strconv.Atoi, &q.Candidates),
		parseInto(v, "min_score", parseFloat, &q.MinScore),
	} {
		if err != nil {
			return nil, err
		}
	}
	var rerank *bool
	err := parseInto(v, "rerank", strconv.ParseBool, &rerank)
	q.rerank = rerank != nil && *rerank
	return q, err
}

func parseFloat(s string) (float64, error) {
	var f *float64
	if err := json.Unmarshal([]byte(s), &f); err != nil || f == nil { // neither NaN nor infinity nor null
		return 0, fmt.Errorf("not a number")
	}
	return *f, nil
}

// parseInto sets dst to the value of a parameter that is there.
func parseInto[T any](v url.Values, name string, parse func(string) (T, error), dst **T) error {
	text := v.Get(name)
	if text == "" {
		return nil
	}
	value, err := parse(text)
	if err != nil {
		return failf(http.StatusBadRequest, "%s is %q, which it may not be", name, text)
	}
	*dst = &value
	return nil
}
