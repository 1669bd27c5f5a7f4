package search

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"kb/pkg/bm25"
	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/text"
	"kb/pkg/vector"
)

// memory is an index in memory, by the definitions and without any cleverness.
type memory struct {
	info   store.Info
	chunks []*record.Chunk
	tokens [][]string
	avg    float64
}

func newMemory(s store.Settings, chunks ...*record.Chunk) *memory {
	m := &memory{info: store.Info{Settings: s, Version: "v1", Chunks: len(chunks)}, chunks: chunks}
	a, err := text.NewAnalyzer(s.Analyzer)
	if err != nil {
		panic(err)
	}
	total, paths := 0, map[string]bool{}
	for _, c := range chunks {
		tokens := a.Tokens(c.FullText())
		m.tokens = append(m.tokens, tokens)
		total += len(tokens)
		paths[c.Path] = true
		if len(c.Vector) > 0 {
			m.info.Vectors++
			m.info.Dim = len(c.Vector)
		}
	}
	m.avg = float64(total) / float64(max(len(chunks), 1))
	m.info.Documents = len(paths)
	return m
}

func (m *memory) Info() store.Info { return m.info }
func (m *memory) Close() error     { return nil }

func (m *memory) Fetch(_ context.Context, refs []store.Ref, vectors bool) ([]*record.Chunk, error) {
	var out []*record.Chunk
	for _, ref := range refs {
		c := *m.chunks[ref]
		if !vectors {
			c.Vector = nil
		}
		out = append(out, &c)
	}
	return out, nil
}

func (m *memory) Nearest(_ context.Context, q record.Vector, k int, f store.Filter) ([]store.Scored, error) {
	return m.best(k, f, func(i int) (float64, bool) {
		if len(m.chunks[i].Vector) == 0 {
			return 0, false
		}
		score := vector.Score(m.chunks[i].Vector, q)
		return score, f.MinCosine <= 0 || score >= f.MinCosine
	})
}

func (m *memory) Lexical(_ context.Context, terms []string, k int, f store.Filter) (store.Lexical, error) {
	out := store.Lexical{N: len(m.chunks), AvgLen: m.avg, DF: map[string]int{}}
	for _, t := range terms {
		out.DF[t] = 0
		for _, tokens := range m.tokens {
			if slices.Contains(tokens, t) {
				out.DF[t]++
			}
		}
	}
	idf := make([]float64, len(terms))
	for i, t := range terms {
		idf[i] = bm25.IDF(out.N, out.DF[t])
	}
	var err error
	out.Hits, err = m.best(k, f, func(i int) (float64, bool) {
		score := bm25.Text(terms, idf, m.tokens[i], m.avg)
		return score, score > 0
	})
	return out, err
}

func (m *memory) best(k int, f store.Filter, score func(i int) (float64, bool)) ([]store.Scored, error) {
	match, err := store.NewMatcher(f)
	if err != nil {
		return nil, err
	}
	var out []store.Scored
	for i, c := range m.chunks {
		if s, ok := score(i); ok && match.Match(c.Path, c.Meta) {
			out = append(out, store.Scored{Ref: store.Ref(i), Score: s})
		}
	}
	slices.SortStableFunc(out, func(a, b store.Scored) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(k, len(out))], nil
}

func (m *memory) Documents(context.Context) iter.Seq2[store.Document, error] { return nil }
func (m *memory) Skipped(context.Context) iter.Seq2[record.Skipped, error]   { return nil }
func (m *memory) Roots(context.Context) iter.Seq2[record.Root, error]        { return nil }
func (m *memory) Chunks(context.Context, string, bool) iter.Seq2[*record.Chunk, error] {
	return nil
}
