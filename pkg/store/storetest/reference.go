package storetest

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	"kb/pkg/bm25"
	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/text"
)

// Reference is the plain answer to every question that a store is asked: a
// list of chunks, scored one by one.
type Reference struct {
	Docs   []*Doc
	Chunks []*record.Chunk // in the order of refs
	doc    []*Doc          // of each chunk
}

// NewReference orders the documents by path and their chunks by seq.
func NewReference(docs ...*Doc) *Reference {
	r := &Reference{Docs: slices.Clone(docs)}
	slices.SortFunc(r.Docs, func(a, b *Doc) int { return cmp.Compare(a.Path, b.Path) })
	for _, d := range r.Docs {
		for _, c := range d.Chunks {
			r.Chunks = append(r.Chunks, c)
			r.doc = append(r.doc, d)
		}
	}
	return r
}

// Score is the cosine of a query and a chunk, in float64.
func Score(q, v record.Vector) float64 {
	sum := 0.0
	for i := range q {
		sum += float64(float64(q[i]) * float64(v[i]))
	}
	return sum
}

// Nearest scores every chunk.
func (r *Reference) Nearest(q record.Vector, k int, pass func(*Doc) bool) []store.Scored {
	var all []store.Scored
	for i, c := range r.Chunks {
		if len(c.Vector) > 0 && (pass == nil || pass(r.doc[i])) {
			all = append(all, store.Scored{Ref: store.Ref(i), Score: Score(q, c.Vector)})
		}
	}
	return best(all, k)
}

// Lexical scores every chunk.
func (r *Reference) Lexical(t testing.TB, terms []string, k int, pass func(*Doc) bool) store.Lexical {
	analyzer, err := text.NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	out := store.Lexical{N: len(r.Chunks), DF: map[string]int{}}
	tokens := make([][]string, len(r.Chunks))
	total := 0
	for i, c := range r.Chunks {
		tokens[i] = analyzer.Tokens(c.FullText())
		total += len(tokens[i])
	}
	if out.N > 0 {
		out.AvgLen = float64(total) / float64(out.N)
	}
	idf := make([]float64, len(terms))
	for i, term := range terms {
		for _, tok := range tokens {
			if slices.Contains(tok, term) {
				out.DF[term]++
			}
		}
		idf[i] = bm25.IDF(out.N, out.DF[term])
	}
	var all []store.Scored
	for i := range r.Chunks {
		score := bm25.Text(terms, idf, tokens[i], out.AvgLen)
		if score > 0 && (pass == nil || pass(r.doc[i])) {
			all = append(all, store.Scored{Ref: store.Ref(i), Score: score})
		}
	}
	out.Hits = best(all, k)
	return out
}

func best(all []store.Scored, k int) []store.Scored {
	slices.SortFunc(all, func(a, b store.Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Ref, b.Ref))
	})
	return all[:min(k, len(all))]
}

// line is a record as JSON, to compare records by.
func line(t testing.TB, r record.Record) string {
	t.Helper()
	b, err := record.Append(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// document is a document as JSON, with canonical meta data: a store that keeps
// them in a database may order the fields.
func document(t testing.TB, d store.Document) string {
	t.Helper()
	d.Meta = canonical(t, d.Meta)
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func canonical(t testing.TB, raw json.RawMessage) json.RawMessage {
	t.Helper()
	if len(raw) == 0 {
		return nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func chunk(t testing.TB, c *record.Chunk) string {
	t.Helper()
	copied := *c
	copied.Meta = canonical(t, c.Meta)
	return line(t, &copied)
}
