package remote

import (
	"context"
	"fmt"
	"slices"

	"kb/pkg/bm25"
	"kb/pkg/store"
	"kb/pkg/vector"
)

// Lexical returns the k best chunks for the terms by BM25.
func (r *reader) Lexical(ctx context.Context, terms []string, k int, f store.Filter) (store.Lexical, error) {
	out := store.Lexical{N: r.m.Chunks, DF: make(map[string]int, len(terms))}
	if out.N > 0 {
		out.AvgLen = float64(r.m.Tokens) / float64(out.N)
	}
	d, err := r.directory(ctx)
	if err != nil {
		return out, err
	}
	pass, _, err := d.allowed(f)
	if err != nil {
		return out, err
	}
	var distinct []string
	for _, t := range terms {
		if !slices.Contains(distinct, t) {
			distinct = append(distinct, t)
		}
	}
	found, err := r.find(ctx, d, distinct)
	if err != nil {
		return out, err
	}
	scores := make([]float64, out.N)
	for i, term := range distinct {
		out.DF[term] = len(found[i])
		idf := bm25.IDF(out.N, len(found[i]))
		for _, p := range found[i] {
			scores[p.ref] += bm25.Term(idf, int(p.tf), int(d.lens[p.ref]), out.AvgLen)
		}
	}
	top := vector.NewTopK(k)
	for doc := range d.docs {
		for ref := d.first[doc]; ref < d.first[doc+1] && (pass == nil || pass[doc]); ref++ {
			if scores[ref] > 0 {
				top.Add(vector.Scored{Row: int64(ref), Score: scores[ref]})
			}
		}
	}
	out.Hits = scored(top)
	return out, nil
}

func scored(top *vector.TopK) []store.Scored {
	var out []store.Scored
	for _, s := range top.Sorted() {
		out = append(out, store.Scored{Ref: store.Ref(s.Row), Score: s.Score})
	}
	return out
}

// posting is a chunk that lives and holds a term so many times.
type posting struct{ ref, tf int32 }

// find returns the postings of each term.
func (r *reader) find(ctx context.Context, d *directory, wanted []string) ([][]posting, error) {
	type place struct{ seg, row int }
	var rows []blob
	seen := map[place]int{}
	for i, s := range d.segs {
		for _, term := range wanted {
			at := place{i, s.find(term)}
			if _, ok := seen[at]; !ok && at.row >= 0 {
				seen[at] = len(rows)
				rows = append(rows, s.postingsBlob(at.row))
			}
		}
	}
	contents, err := r.blobs(ctx, rows)
	if err != nil {
		return nil, err
	}
	out := make([][]posting, len(wanted))
	for i, s := range d.segs {
		for j, term := range wanted {
			row, ok := seen[place{i, s.find(term)}]
			if !ok {
				continue
			}
			refs := d.refs[i]
			err := postings(listOf(contents[row], term), len(refs), func(chunk, tf int) {
				if refs[chunk] >= 0 {
					out[j] = append(out[j], posting{refs[chunk], int32(tf)})
				}
			})
			if err != nil {
				return nil, r.damaged(fmt.Errorf("row %s: postings of %q: %w", rows[row].Key, term, err))
			}
		}
	}
	return out, nil
}

// listOf is the list of a term in a row of postings; nil if it has none.
func listOf(content []byte, term string) []byte {
	for t, data := range terms(content) {
		if t == term {
			return data
		}
	}
	return nil
}
