package main

import (
	"context"
	"fmt"
	"slices"

	"kb/pkg/ask"
	"kb/pkg/eval"
	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/search"
	"kb/pkg/store"
)

// Modes of kb eval beside those of a search.
const (
	modeRerank = "hybrid+rerank"
	modeAll    = "all"
)

// finder is an open index and the ways to search it that are evaluated.
type finder struct {
	store    store.Store
	info     store.Info
	paths    []string        // of the documents
	chunks   map[string]bool // their ids, where questions list passages
	searcher *search.Searcher
	modes    []eval.Mode
}

func (f *finder) close()       { f.searcher.Close() }
func (f *finder) last() string { return f.modes[len(f.modes)-1].Name }

// evalMode is how a mode of kb eval searches.
type evalMode struct {
	name, search string
	rerank       bool
}

// evalModes are the ways that a mode stands for, the best last.
func evalModes(name string, vectors bool) ([]evalMode, error) {
	four := []evalMode{
		{search.ModeVector, search.ModeVector, false},
		{search.ModeBM25, search.ModeBM25, false},
		{search.ModeHybrid, search.ModeHybrid, false},
		{modeRerank, search.ModeHybrid, true},
	}
	if name == modeAll {
		return four, nil
	}
	if name == search.ModeAuto {
		// search would fall back to bm25 when a question cannot be embedded,
		// and the figures would be those of something else
		auto := evalMode{search.ModeAuto, search.ModeBM25, true}
		if vectors {
			auto.search = search.ModeHybrid
		}
		return []evalMode{auto}, nil
	}
	i := slices.IndexFunc(four, func(m evalMode) bool { return m.name == name })
	if i < 0 {
		return nil, usagef("unknown mode %q (bm25, vector, hybrid, hybrid+rerank, auto or all)", name)
	}
	return four[i : i+1], nil
}

func (s *settings) openFinder(ctx context.Context, flags evalFlags, questions []*eval.Question, warn func(string)) (*finder, error) {
	f := &finder{}
	if err := f.look(ctx, s, questions); err != nil {
		return nil, err
	}
	modes, err := evalModes(flags.mode, f.info.Vectors > 0)
	if err != nil {
		return nil, err
	}
	var reranker model.Reranker
	if slices.ContainsFunc(modes, func(m evalMode) bool { return m.rerank }) {
		if reranker, err = s.reranker(warn); err != nil {
			return nil, err
		}
	}
	if err := f.open(ctx, s, modes, warn); err != nil {
		return nil, err
	}
	// no deeper than the search of an answer looks
	depth := min(eval.Options{K: flags.topK}.Depth(), max(flags.candidates, flags.topK))
	for _, m := range modes {
		o := ask.Options{Searcher: f.searcher, Search: search.Params{Mode: m.search, TopK: depth, Candidates: flags.candidates}}
		if m.rerank {
			o.Reranker = reranker
		}
		f.modes = append(f.modes, eval.Mode{Name: m.name, Find: evalFind(o)})
	}
	return f, nil
}

// open opens the index for the modes, with an embedder if one needs it.
func (f *finder) open(ctx context.Context, s *settings, modes []evalMode, warn func(string)) (err error) {
	p := search.Params{Mode: search.ModeBM25}
	if slices.ContainsFunc(modes, func(m evalMode) bool { return m.search != search.ModeBM25 }) {
		p.Mode = search.ModeHybrid
	}
	f.searcher, err = s.searcher(ctx, p, warn)
	return err
}

// look reads what the index is made of.
func (f *finder) look(ctx context.Context, s *settings, questions []*eval.Question) (err error) {
	if f.store, err = s.openStore(); err != nil {
		return err
	}
	r, err := f.store.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	f.info = r.Info()
	if f.info.Chunks == 0 {
		return withHint(fmt.Errorf("%s: the index is empty", f.store.Name()), `fill it with "kb build FOLDER"`)
	}
	for d, err := range r.Documents(ctx) {
		if err != nil {
			return err
		}
		f.paths = append(f.paths, d.Path)
	}
	if !slices.ContainsFunc(questions, func(q *eval.Question) bool { return len(q.Passages) > 0 }) {
		return nil
	}
	f.chunks = make(map[string]bool, f.info.Chunks)
	for c, err := range r.Chunks(ctx, "", false) {
		if err != nil {
			return err
		}
		f.chunks[c.ID] = true
	}
	return nil
}

// evalFind is [ask.Find], but a reranker that fails is an error: without it
// the figures would be those of another mode.
func evalFind(o ask.Options) eval.Find {
	return func(ctx context.Context, question string) (*record.Query, []*record.Hit, error) {
		q, hits, err := ask.Find(ctx, question, o)
		if err != nil || o.Reranker == nil || len(hits) == 0 {
			return q, hits, err
		}
		for _, leg := range q.Legs {
			if leg.Name == "rerank" && !leg.Ran {
				return nil, nil, fmt.Errorf("%s could not rerank: %s", leg.By, leg.Why)
			}
		}
		return q, hits, nil
	}
}
