package search

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kb/pkg/bm25"
	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/text"
	"kb/pkg/vector"
)

// run is the search for one question.
type run struct {
	*Searcher
	p     Params
	query *record.Query

	vector   record.Vector // of the question; nil where the vector leg does not run
	by       string        // its model
	weight   float64       // of the vector leg in the fusion
	semantic bool          // see [model.Embedder]
	whyNot   string        // why the vector leg does not run
	wordless string        // why the lexical leg does not run; "" where it does

	text     string // the question with the words that the index knows as one, see [text.Join]
	terms    []string
	idf      []float64
	exact    bool     // the question is nothing but identifiers that the index knows
	known    int      // how many identifiers of it the index knows, be they in many chunks,
	unknown  []string // and those that it does not know
	names    []string // what it knows of what the question names,
	strange  []string // and what else the question names, see [text.Names]
	nameless bool     // all identifiers of the question are missing
	lexical  store.Lexical
	named    []store.Scored // chunks that hold the identifiers, in a question that has other words, too
	nearest  []store.Scored
}

func (r *run) prepare(ctx context.Context, q *record.Query) error {
	if r.terms = r.analyzer.QueryTerms(q.Text); len(r.terms) == 0 {
		r.wordless = "the question has no letter or digit"
	} else if text.OnlyStopWords(q.Text) && r.p.Mode != ModeVector {
		r.terms, r.wordless, r.whyNot = nil, onlyStopWords, onlyStopWords
		r.query.Mode = r.mode()
		return nil
	}
	needs, why, err := r.needsVector(r.p.Mode, len(q.Vector) > 0 || r.embedder != nil)
	if err != nil {
		return err
	}
	r.whyNot = why
	if needs {
		if err := r.embed(ctx, q); err != nil {
			return err
		}
	}
	r.query.Mode = r.mode()
	return r.refine(ctx)
}

const onlyStopWords = "the question has only stop words"

// mode is the mode that runs.
func (r *run) mode() string {
	switch {
	case r.p.Mode != ModeAuto:
		return r.p.Mode
	case r.vector != nil:
		return ModeHybrid
	}
	return ModeBM25
}

// embed sets the question's vector, or why there is none.
func (r *run) embed(ctx context.Context, q *record.Query) error {
	if len(q.Vector) > 0 {
		return r.useOwn(q)
	}
	if err := r.guard(); err != nil {
		return err
	}
	if !r.embedder.Semantic() && len(r.terms) == 0 {
		r.whyNot = r.wordless
		return nil
	}
	v, err := r.request(ctx, q.Text)
	switch {
	case err == nil:
		r.vector, r.by = v, r.embedder.Info().Model
		r.weight, r.semantic = r.embedder.Weight(), r.embedder.Semantic()
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case r.p.Mode != ModeAuto:
		return fmt.Errorf("the question could not be embedded: %w", err)
	}
	r.whyNot = "the question could not be embedded: " + err.Error()
	r.warned.Do(func() { r.warn(r.whyNot + "; searching by bm25 alone") })
	return nil
}

// useOwn takes the vector that the question came with.
func (r *run) useOwn(q *record.Query) error {
	own := model.Info{Model: q.Model, BaseURL: q.BaseURL, QueryPrefix: q.QueryPrefix, DocumentPrefix: q.DocumentPrefix}
	if q.Model == "" {
		return errors.New("the question has a vector, but does not say of which model")
	}
	if index := Fingerprint(r.info.Settings); index != own {
		return &MismatchError{Index: index, Config: own}
	}
	v, err := r.checked(q.Vector)
	if err != nil {
		return fmt.Errorf("the question's vector: %w", err)
	}
	r.vector, r.by, r.weight, r.semantic = v, q.Model, 1, true
	if e := r.embedder; e != nil && e.Info() == own {
		r.weight, r.semantic = e.Weight(), e.Semantic()
	}
	return nil
}

func (r *run) request(ctx context.Context, question string) (record.Vector, error) {
	vectors, err := r.embedder.Embed(ctx, model.Query, []string{question})
	if partial := new(model.PartialError); errors.As(err, &partial) && partial.Reasons[0] != nil {
		err = partial.Reasons[0]
	}
	if err != nil {
		return nil, err
	}
	if len(vectors) != 1 {
		return nil, fmt.Errorf("%d vectors came for one question", len(vectors))
	}
	return r.checked(vectors[0])
}

// checked returns v at unit length, or why it cannot be searched with.
func (r *run) checked(v record.Vector) (record.Vector, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	if len(v) != r.info.Dim {
		return nil, fmt.Errorf("it has %d dimensions, the index %d", len(v), r.info.Dim)
	}
	if vector.IsUnit(v) {
		return v, nil
	}
	return vector.Unit(v), nil
}

// refine asks the index once for its terms, and leaves out those that
// identifiers make superfluous. Terms are known where BM25 is part of the
// ranking, or needed to judge it.
func (r *run) refine(ctx context.Context) error {
	if r.semantic && r.query.Mode == ModeVector {
		r.terms = nil
	}
	if len(r.terms) == 0 {
		return nil
	}
	asked := len(r.terms)
	for _, j := range text.Joints(r.query.Text) {
		r.terms = append(r.terms, j.Term)
	}
	r.terms = append(r.terms, text.CodeParts(r.query.Text)...)
	if err := r.search(ctx, r.p.Candidates); err != nil {
		return err
	}
	known := func(t string) bool { return r.lexical.DF[t] > 0 }
	r.terms, r.text = r.terms[:asked], text.Join(r.query.Text, known)
	if a, ok := r.analyzer.(text.Refiner); ok {
		q := a.Refine(r.text, known)
		r.exact, r.known, r.unknown = q.Exact == len(q.Terms), len(q.Identifiers), q.Unknown
		r.name(q.Identifiers)
		r.query.Identifiers = slices.DeleteFunc(slices.Clone(r.names), func(t string) bool { return r.lexical.DF[t] > fewHolders })
		if !slices.Equal(q.Terms, r.terms) {
			r.terms = q.Terms
			if err := r.search(ctx, r.p.Candidates); err != nil {
				return err
			}
		}
	}
	r.query.Terms = make(map[string]float64, len(r.terms))
	for _, t := range r.terms {
		idf := bm25.IDF(r.lexical.N, r.lexical.DF[t])
		r.idf = append(r.idf, idf)
		r.query.Terms[t] = idf
	}
	return nil
}

func (r *run) search(ctx context.Context, k int) (err error) {
	r.lexical, err = r.reader.Lexical(ctx, r.terms, k, r.p.Filter)
	return err
}

// legs are what the query record says of the search.
func (r *run) legs() []record.Leg {
	lexical := record.Leg{Name: "bm25", Ran: r.query.Mode != ModeVector && r.wordless == "", Why: r.wordless}
	near := record.Leg{Name: "vector", Ran: r.vector != nil, Why: r.whyNot}
	if lexical.Ran {
		lexical.By, lexical.Hits = r.analyzer.Name(), len(r.lexical.Hits)
	}
	if r.query.Mode == ModeVector {
		lexical.Why = "mode vector"
	}
	if near.Ran {
		near.By, near.Hits = r.by, len(r.nearest)
	}
	if lexical.Ran && near.Ran {
		lexical.Weight, near.Weight = 1, r.vectorWeight()
	}
	return []record.Leg{lexical, near, {Name: "rerank", Why: NotAsked}}
}
