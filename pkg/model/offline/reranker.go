package offline

import (
	"context"
	"maps"
	"slices"

	"kb/pkg/bm25"
	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/text"
)

// Reranker orders hits by what BM25 knows and a little more:
//
//	score = bm25 / ideal + 0.10 · window + 0.10 · cosine
//
// ideal is the BM25 score that no passage can exceed, window the greatest
// share of the question's idf that any 80 tokens in a row hold, cosine the
// vector leg's score where it ran. The sum is at most 1.2. Cost: one pass over
// the tokens of each hit.
//
// A question about an identifier (ERR-5023) is about that: there the score is
// the mean of the sum and of the share of the question's identifiers that the
// hit holds, which puts those that hold it before all that hold only the other
// words, unless they hold nearly all of these.
//
// MRR of hybrid search before and after, and of BM25 alone, on three question
// sets: XQuAD zh .956, .962, .960; CMRC 2018 .972, .976, .976; XQuAD en .965,
// .963, .966. The share of the terms in the whole passage instead of the
// window loses 0.07 on long questions.
//
// Cosines of a semantic embedder are not on the scale of a lexical one: those
// of E5 all lie between 0.7 and 0.9. They are spread from 0 to 1 over the hits
// and weigh 0.20. With multilingual-e5-small on the 87 questions of
// eval/questions.jsonl that have an answer, Hit@1, Hit@4 and MRR are .793 .874
// .835 with the cosine as it is, .793 .897 .843 spread with 0.20, .759 .885
// .821 with 0.50, .736 .897 .808 by the fusion alone.
type Reranker struct{}

const (
	windowTokens = 80
	windowWeight = 0.10
	cosineWeight = 0.10
	spreadWeight = 0.20
	// semanticWeight is how much a ranking by vectors weighs in the fusion at
	// least, if it is that of a semantic embedder.
	semanticWeight = 0.5
)

// NewReranker returns the offline reranker; it has no state.
func NewReranker() *Reranker { return &Reranker{} }

// Name identifies the method and its version.
func (*Reranker) Name() string { return "kb-rerank-2" }

// Rerank scores every hit. It takes the idf of the terms from q and the BM25
// score and the cosine from the hits; where the question has no terms, or a
// hit no BM25 score, it computes them from the hits themselves.
func (*Reranker) Rerank(ctx context.Context, q *record.Query, hits []*record.Hit) ([]model.Score, error) {
	analyzer, err := text.NewAnalyzer(q.Analyzer)
	if err != nil {
		return nil, err
	}
	p := newPool(analyzer, q, hits)
	scores := make([]model.Score, len(hits))
	for i, h := range hits {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		scores[i] = model.Score{Index: i, Score: p.score(i, h)}
	}
	return scores, nil
}

// pool is a question and all of its hits.
type pool struct {
	terms  []string
	idf    []float64
	ideal  float64
	mass   float64  // Σ idf
	named  []string // identifiers of the question that the index knows
	tokens [][]string
	avg    float64 // tokens of a hit
	own    bool    // the idf comes from the hits: their BM25 scores do not fit it

	semantic       bool    // the cosines are those of a semantic embedder
	lowest, spread float64 // of the cosines: the least, and how far the greatest is above it
}

func newPool(a text.Analyzer, q *record.Query, hits []*record.Hit) *pool {
	p := &pool{own: len(q.Terms) == 0, named: q.Identifiers, semantic: slices.ContainsFunc(q.Legs, func(l record.Leg) bool {
		return l.Name == "vector" && l.Ran && l.Weight >= semanticWeight
	})}
	p.lowest, p.spread = cosines(hits)
	total := 0
	for _, h := range hits {
		c := record.Chunk{Title: h.Title, Headings: h.Headings, Text: h.Text}
		tokens := a.Tokens(c.FullText())
		p.tokens = append(p.tokens, tokens)
		total += len(tokens)
	}
	if len(hits) > 0 {
		p.avg = float64(total) / float64(len(hits))
	}
	if p.own {
		p.terms = a.QueryTerms(q.Text)
		p.idf = p.countIDF()
	} else {
		p.terms = slices.Sorted(maps.Keys(q.Terms))
		for _, t := range p.terms {
			p.idf = append(p.idf, q.Terms[t])
		}
	}
	p.ideal = bm25.Ideal(p.idf)
	for _, x := range p.idf {
		p.mass += x
	}
	return p
}

// cosines are the least cosine of the hits and how far the greatest is above it.
func cosines(hits []*record.Hit) (lowest, spread float64) {
	greatest := -1.0
	lowest = 1
	for _, h := range hits {
		if c := h.Scores.Vector; c != nil {
			lowest, greatest = min(lowest, *c), max(greatest, *c)
		}
	}
	return lowest, greatest - lowest
}

// countIDF weighs the terms by how many of the hits hold them.
func (p *pool) countIDF() []float64 {
	df := make([]int, len(p.terms))
	for _, tokens := range p.tokens {
		for i, tf := range bm25.Frequencies(p.terms, tokens) {
			if tf > 0 {
				df[i]++
			}
		}
	}
	idf := make([]float64, len(df))
	for i, n := range df {
		idf[i] = bm25.IDF(len(p.tokens), n)
	}
	return idf
}

func (p *pool) score(i int, h *record.Hit) float64 {
	score := 0.0
	if p.ideal > 0 {
		score = p.bm25(i, h)/p.ideal + float64(windowWeight*p.window(p.tokens[i]))
	}
	switch cosine := h.Scores.Vector; {
	case cosine == nil:
	case !p.semantic:
		score += float64(cosineWeight * *cosine)
	case p.spread > 0:
		score += float64(spreadWeight * (*cosine - p.lowest) / p.spread)
	}
	if len(p.named) > 0 {
		score = (score + p.identified(i)) / 2
	}
	return score
}

// identified is the share of the question's identifiers that a hit holds.
func (p *pool) identified(i int) float64 {
	held := 0
	for _, tf := range bm25.Frequencies(p.named, p.tokens[i]) {
		if tf > 0 {
			held++
		}
	}
	return float64(held) / float64(len(p.named))
}

func (p *pool) bm25(i int, h *record.Hit) float64 {
	if h.Scores.BM25 != nil && !p.own {
		return *h.Scores.BM25
	}
	return bm25.Text(p.terms, p.idf, p.tokens[i], p.avg)
}

// window is the greatest share of the idf that is found in windowTokens
// tokens in a row, each term counting once.
func (p *pool) window(tokens []string) float64 {
	at := make(map[string]int, len(p.terms))
	for i, t := range p.terms {
		at[t] = i
	}
	inside := make([]int, len(p.terms))
	mass, best := 0.0, 0.0
	for i, t := range tokens {
		if k, ok := at[t]; ok {
			if inside[k]++; inside[k] == 1 {
				mass += p.idf[k]
			}
		}
		if i >= windowTokens {
			if k, ok := at[tokens[i-windowTokens]]; ok {
				if inside[k]--; inside[k] == 0 {
					mass -= p.idf[k]
				}
			}
		}
		best = max(best, mass)
	}
	return best / p.mass
}
