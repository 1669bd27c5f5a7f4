// Package search is the stage that finds the chunks for a question: by BM25,
// by vectors, or by both, fused by reciprocal rank.
//
// The mode "auto" is hybrid where the index has vectors and bm25 elsewhere.
// Nothing degrades silently: each query record says which legs ran and why one
// did not. A question that carries its own vector costs no request.
package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/text"
)

// Modes of a search.
const (
	ModeAuto   = "auto"
	ModeVector = "vector"
	ModeBM25   = "bm25"
	ModeHybrid = "hybrid"
)

// Defaults of [Params].
const (
	DefaultTopK       = 4
	DefaultCandidates = 20
)

// NotAsked is why the rerank leg of a search did not run: that is another
// stage's.
const NotAsked = "not asked for"

// NoneFiltered is how the warning, and the reason in the legs, begins where no
// document passes the filter.
const NoneFiltered = "no document of the index passes the filter"

// Errors that callers tell apart with errors.Is.
var (
	ErrEmpty     = errors.New("the question is empty")
	ErrNoVectors = errors.New("the index has no vectors; search it with mode bm25, or embed it")
)

// Params say how to search. The zero value is the default.
type Params struct {
	Mode       string  // see the Mode constants; "" is auto
	TopK       int     // hits to return at most; 0 is 4
	Candidates int     // hits that each leg brings; 0 is 20, never less than TopK
	MinScore   float64 // hits whose [Relevance] is below are dropped; 0: none
	Filter     store.Filter
}

// Validate says what is wrong with the parameters.
func (p Params) Validate() error {
	switch p.Mode {
	case "", ModeAuto, ModeVector, ModeBM25, ModeHybrid:
	default:
		return fmt.Errorf("unknown mode %q (auto, vector, bm25 or hybrid)", p.Mode)
	}
	if p.TopK < 0 {
		return fmt.Errorf("top-k is %d, but must be at least 1", p.TopK)
	}
	if p.Candidates < 0 {
		return fmt.Errorf("candidates is %d, but must be at least 1", p.Candidates)
	}
	_, err := store.NewMatcher(p.Filter)
	return err
}

func (p Params) withDefaults() Params {
	if p.Mode == "" {
		p.Mode = ModeAuto
	}
	if p.TopK == 0 {
		p.TopK = DefaultTopK
	}
	if p.Candidates == 0 {
		p.Candidates = DefaultCandidates
	}
	p.Candidates = max(p.Candidates, p.TopK)
	return p
}

// Options are what a [Searcher] is made of.
type Options struct {
	Reader   store.Reader
	Embedder model.Embedder   // of questions; nil where there is none
	Analyzer text.Analyzer    // nil: the one that the index names
	Warn     func(msg string) // may be nil
}

// Searcher searches one version of an index. It is safe for many goroutines
// at once.
type Searcher struct {
	reader   store.Reader
	info     store.Info
	embedder model.Embedder
	analyzer text.Analyzer
	warn     func(string)
	warned   sync.Once
	filtered sync.Once // warned of a filter
}

// New returns a searcher; it fails if it does not know the index's analyzer.
// It makes no request.
func New(o Options) (*Searcher, error) {
	s := &Searcher{reader: o.Reader, info: o.Reader.Info(), embedder: o.Embedder, analyzer: o.Analyzer, warn: o.Warn}
	if s.analyzer == nil {
		a, err := text.NewAnalyzer(s.info.Analyzer)
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		s.analyzer = a
	}
	if s.warn == nil {
		s.warn = func(string) {}
	}
	if s.info.Calibration != nil && s.calibration() == nil {
		s.warn("the index's floor of refusal was fitted to another version of the confidence: " +
			"the default one serves until kb eval --calibrate fits it again")
	}
	return s, nil
}

// Info describes the version of the index that is searched.
func (s *Searcher) Info() store.Info { return s.info }

// Close closes the reader.
func (s *Searcher) Close() error { return s.reader.Close() }

// Search answers one question. It returns a copy of q with what was searched
// and how, and the hits, best first; equal scores stand in the order of the
// documents, and of chunks with the same text only the best is there. Where
// both legs ran, each hit has both scores.
//
// An index whose fingerprint is not the embedder's gives a [*MismatchError] if
// the mode needs vectors. If the embedding request fails, mode auto searches
// by BM25, says so in the query's legs and warns once; the other modes fail.
func (s *Searcher) Search(ctx context.Context, q *record.Query, p Params) (*record.Query, []*record.Hit, error) {
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	if strings.TrimSpace(q.Text) == "" {
		return nil, nil, ErrEmpty
	}
	r := &run{Searcher: s, p: p.withDefaults(), query: s.describe(q)}
	if err := r.prepare(ctx, q); err != nil {
		return nil, nil, err
	}
	found, err := r.find(ctx)
	if err == nil && len(found) == 0 {
		err = r.blameFilter(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	r.miss(found)
	r.judge(found)
	return r.query, r.hits(found), nil
}

// describe copies a query without what an earlier search may have left in it.
func (s *Searcher) describe(q *record.Query) *record.Query {
	out := *q
	if out.ID == "" {
		out.ID = record.QueryID(q.Text)
	}
	out.Legs, out.Confidence, out.Signals, out.Terms, out.Identifiers, out.Missing = nil, nil, nil, nil, nil, nil
	out.Below, out.BestBelow = 0, 0
	out.Analyzer = s.analyzer.Name()
	out.Chunks, out.Documents, out.Index = s.info.Chunks, s.info.Documents, s.info.Version
	out.Floor = DefaultFloor
	if c := s.calibration(); c != nil {
		out.Floor = c.Floor
	}
	return &out
}
