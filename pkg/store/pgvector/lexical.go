package pgvector

import (
	"context"

	"kb/pkg/bm25"
	"kb/pkg/store"
	"kb/pkg/vector"
)

// Lexical fetches the postings of the terms and scores them here, in the order
// of the terms, as the flat store does: the scores are the same bits. What is
// fetched is 3 to 4 bytes for each chunk that holds a term.
func (r *reader) Lexical(ctx context.Context, terms []string, k int, f store.Filter) (store.Lexical, error) {
	pass, err := r.passing(ctx, f)
	if err != nil {
		return store.Lexical{}, err
	}
	out := store.Lexical{N: r.v.info.Chunks, DF: make(map[string]int, len(terms))}
	if out.N > 0 {
		out.AvgLen = float64(r.v.tokens) / float64(out.N)
	}
	lists, err := r.postings(ctx, terms)
	if err != nil {
		return store.Lexical{}, err
	}
	var scores []float64
	if k > 0 && len(terms) > 0 {
		scores = make([]float64, out.N)
	}
	done := make(map[string]bool, len(terms))
	for _, term := range terms {
		if done[term] {
			continue
		}
		done[term] = true
		list := lists[termKey(term)]
		out.DF[term] = len(list)
		idf := bm25.IDF(out.N, len(list))
		for _, p := range list {
			if scores != nil {
				scores[p.number] += bm25.Term(idf, p.tf, p.length, out.AvgLen)
			}
		}
	}
	top := vector.NewTopK(k)
	for ref, score := range scores {
		if score > 0 && (!top.Full() || score > top.Worst().Score) && pass.has(int64(ref)) {
			top.Add(vector.Scored{Row: int64(ref), Score: score})
		}
	}
	out.Hits = scored(top)
	return out, nil
}

// scored are the best rows, which are refs, greatest score first.
func scored(top *vector.TopK) []store.Scored {
	var out []store.Scored
	for _, s := range top.Sorted() {
		out = append(out, store.Scored{Ref: store.Ref(s.Row), Score: s.Score})
	}
	return out
}

// postings returns the postings of each term, by its key, for the chunks of
// this version, with refs in place of numbers.
func (r *reader) postings(ctx context.Context, terms []string) (map[string][]posting, error) {
	var wanted []string
	for _, term := range terms {
		if key := termKey(term); key != "" {
			wanted = append(wanted, key)
		}
	}
	if len(wanted) == 0 || r.v.info.Chunks == 0 {
		return nil, ctx.Err()
	}
	l, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	found, err := r.query(ctx, "searching words", stmt(`SELECT term, data FROM `+r.store.numbered("postings", r.v.postingsTable)+
		` WHERE term = ANY($1::text[]) ORDER BY term, first`, textArray(wanted)))
	if err != nil {
		return nil, err
	}
	lists := make(map[string][]posting, len(terms))
	walk := walker{l: l}
	before := ""
	for _, row := range found {
		term := string(row[0])
		if term != before {
			walk.at, before = 0, term
		}
		list := lists[term]
		err := decodePostings(row[1], func(p posting) {
			if ref, ok := walk.ref(p.number); ok {
				p.number = ref
				list = append(list, p)
			}
		})
		if err != nil {
			return nil, r.damaged(err)
		}
		lists[term] = list
	}
	return lists, nil
}
