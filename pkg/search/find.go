package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"kb/pkg/bm25"
	"kb/pkg/fuse"
	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/vector"
)

const (
	// exactWeight bounds the weight of the vector leg where the question is
	// nothing but identifiers that the index knows: a code is looked up, not
	// understood, and nothing that only the vectors bring may go before a chunk
	// that holds it.
	exactWeight = 0.05
	// noise is the cosine below which a lexical embedder has seen nothing but
	// collisions: hits without a common word are dropped there. Two texts
	// without a common feature reach it about once in a million.
	noise = 0.10
	// deeper and rounds say how often, and by how much, a search is repeated
	// because chunks with the same text took the places of others.
	deeper = 4
	rounds = 4
)

// candidate is a chunk on its way to become a hit.
type candidate struct {
	ref    store.Ref
	score  float64
	scores record.Scores
	chunk  *record.Chunk
	tokens []string // of the chunk, where they were needed
}

// find ranks the candidates and drops repeated texts.
func (r *run) find(ctx context.Context) ([]*candidate, error) {
	for round, k := 1, r.p.Candidates; ; round, k = round+1, k*deeper {
		full, err := r.collect(ctx, k, round > 1)
		if err != nil {
			return nil, err
		}
		ranked, err := r.complete(ctx, r.rank())
		if err != nil {
			return nil, err
		}
		found := distinct(ranked)
		if len(found) >= r.p.TopK || len(found) == len(ranked) || !full || round == rounds {
			r.query.Legs = r.legs()
			return found, nil
		}
	}
}

// blameFilter says so where nothing was found because no document passes the
// filter.
func (r *run) blameFilter(ctx context.Context) error {
	m, err := store.NewMatcher(r.p.Filter)
	if err != nil || m.All() {
		return err
	}
	for d, err := range r.reader.Documents(ctx) {
		if err != nil || m.Match(d.Path, d.Meta) {
			return err
		}
	}
	why := NoneFiltered + " (" + r.p.Filter.String() + ")"
	for i := range r.query.Legs {
		if leg := &r.query.Legs[i]; leg.Why != NotAsked {
			leg.Ran, leg.Why = false, why
		}
	}
	r.filtered.Do(func() { r.warn(why) })
	return nil
}

// collect runs the legs for k hits each; full says whether one of them may
// have more.
func (r *run) collect(ctx context.Context, k int, again bool) (full bool, err error) {
	if again && len(r.terms) > 0 {
		if err := r.search(ctx, k); err != nil {
			return false, err
		}
	}
	if r.query.Mode == ModeHybrid && len(r.query.Identifiers) > 0 && !r.exact {
		holders, err := r.reader.Lexical(ctx, r.query.Identifiers, k, r.p.Filter)
		if err != nil {
			return false, err
		}
		r.named = holding(r.lexical.Hits, holders.Hits)
	}
	if r.vector != nil {
		if r.nearest, err = r.reader.Nearest(ctx, r.vector, k, r.near()); err != nil {
			return false, err
		}
	}
	return len(r.lexical.Hits) >= k || len(r.nearest) >= k, nil
}

// holding puts the chunks that hold an identifier in the order of the whole
// question, then those that are not among its best.
func holding(lexical, holders []store.Scored) []store.Scored {
	rest := make(map[store.Ref]bool, len(holders))
	for _, h := range holders {
		rest[h.Ref] = true
	}
	var out []store.Scored
	for _, hits := range [][]store.Scored{lexical, holders} {
		for _, h := range hits {
			if rest[h.Ref] {
				out = append(out, h)
				delete(rest, h.Ref)
			}
		}
	}
	return out
}

const (
	// chance is how many standard deviations above 0 a lexical cosine must be
	// at least.
	chance = 2.5
	// fewChunks can all be ranked at no cost, and a reranker may know what
	// those are good for that share no word with the question.
	fewChunks = 512
)

// near is the filter of the vector leg. Texts without a common word have a
// cosine of 0 to a lexical embedder, give or take what collisions of features
// make (a standard deviation of 1/√dimensions): nothing below 2.5 of these
// is found. That also spares the store from ranking thousands of such chunks
// for a rare word, for it cannot tell them apart by their codes.
func (r *run) near() store.Filter {
	f := r.p.Filter
	if !r.semantic && r.info.Vectors > fewChunks {
		f.MinCosine = chance / math.Sqrt(float64(len(r.vector)))
	}
	return f
}

// rank puts the chunks of the legs that take part in order.
func (r *run) rank() []*candidate {
	byRef := map[store.Ref]*candidate{}
	at := func(ref store.Ref) *candidate {
		c := byRef[ref]
		if c == nil {
			c = &candidate{ref: ref}
			byRef[ref] = c
		}
		return c
	}
	if r.query.Mode != ModeVector {
		for _, h := range r.lexical.Hits {
			c := at(h.Ref)
			c.score, c.scores.BM25 = h.Score, &h.Score
		}
	}
	for _, h := range r.named {
		at(h.Ref)
	}
	for _, h := range r.nearest {
		c := at(h.Ref)
		c.score, c.scores.Vector = h.Score, &h.Score
	}
	if r.query.Mode == ModeHybrid {
		for _, f := range r.fused() {
			c := byRef[f.Key]
			c.score, c.scores.RRF = f.Score, &f.Score
		}
	}
	out := make([]*candidate, 0, len(byRef))
	for _, c := range byRef {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.ref, b.ref))
	})
	return out
}

// fused merges the legs. Chunks that hold an identifier of the question are a
// ranking of their own: beside a lexical embedder, one that is among the best 20
// of both lexical rankings gets at least 2/80, and one without the identifier at
// most 1.2/61.
func (r *run) fused() []fuse.Ranked[store.Ref] {
	return fuse.RRF(
		fuse.Ranking[store.Ref]{Weight: 1, Keys: refs(r.lexical.Hits)},
		fuse.Ranking[store.Ref]{Weight: 1, Keys: refs(r.named)},
		fuse.Ranking[store.Ref]{Weight: r.vectorWeight(), Keys: refs(r.nearest)},
	)
}

func (r *run) vectorWeight() float64 {
	if r.exact {
		return min(r.weight, exactWeight)
	}
	return r.weight
}

func refs(hits []store.Scored) []store.Ref {
	out := make([]store.Ref, len(hits))
	for i, h := range hits {
		out[i] = h.Ref
	}
	return out
}

// complete fetches the chunks and computes the score of the other leg for
// those that only one of them brought.
func (r *run) complete(ctx context.Context, ranked []*candidate) ([]*candidate, error) {
	fetch := func(vectors bool) error {
		var some []*candidate
		for _, c := range ranked {
			if vectors == (r.vector != nil && c.scores.Vector == nil) {
				some = append(some, c)
			}
		}
		return r.fetch(ctx, some, vectors)
	}
	if err := fetch(false); err != nil {
		return nil, err
	}
	if err := fetch(true); err != nil {
		return nil, err
	}
	for _, c := range ranked {
		r.fillScores(c)
	}
	if r.vector != nil && !r.semantic && r.query.Mode == ModeHybrid && !slices.ContainsFunc(ranked, relevant) {
		return nil, nil
	}
	return ranked, nil
}

// relevant says whether a hit shares a word with the question: if none does,
// a lexical search found nothing, as in a short text a single collision makes
// a cosine beyond noise for a question of one word. If one does, the others
// stay, as a reranker may see in them what words do not show. Where no words
// were looked for, the cosine decides.
func relevant(c *candidate) bool {
	if c.scores.BM25 != nil {
		return *c.scores.BM25 > 0
	}
	return c.scores.Vector != nil && *c.scores.Vector >= noise
}

func (r *run) fetch(ctx context.Context, some []*candidate, vectors bool) error {
	if len(some) == 0 {
		return nil
	}
	wanted := make([]store.Ref, len(some))
	for i, c := range some {
		wanted[i] = c.ref
	}
	chunks, err := r.reader.Fetch(ctx, wanted, vectors)
	if err != nil {
		return err
	}
	for i, c := range some {
		c.chunk = chunks[i]
	}
	return nil
}

func (r *run) fillScores(c *candidate) {
	if r.vector != nil && c.scores.Vector == nil && len(c.chunk.Vector) == len(r.vector) {
		cosine := vector.Score(c.chunk.Vector, r.vector)
		c.scores.Vector = &cosine
	}
	if c.scores.BM25 == nil && len(r.terms) > 0 {
		score := bm25.Text(r.terms, r.idf, r.tokensOf(c), r.lexical.AvgLen)
		c.scores.BM25 = &score
	}
}

func (r *run) tokensOf(c *candidate) []string {
	if c.tokens == nil {
		c.tokens = r.analyzer.Tokens(c.chunk.FullText())
	}
	return c.tokens
}

// distinct keeps the best of the candidates with the same text.
func distinct(ranked []*candidate) []*candidate {
	seen := make(map[string]bool, len(ranked))
	out := make([]*candidate, 0, len(ranked))
	for _, c := range ranked {
		if key := strings.TrimSpace(c.chunk.Text); !seen[key] {
			seen[key] = true
			out = append(out, c)
		}
	}
	return out
}

// hits are the best candidates as records.
func (r *run) hits(found []*candidate) []*record.Hit {
	hits := []*record.Hit{}
	for _, c := range found {
		if len(hits) == r.p.TopK {
			break
		}
		k := c.chunk
		hit := &record.Hit{
			Query: r.query.ID, Rank: len(hits) + 1, Score: c.score, Scores: c.scores,
			ID: k.ID, Document: k.Document, Path: k.Path, Title: k.Title, Headings: k.Headings,
			Page: k.Page, Line: k.Line, Seq: k.Seq, Text: k.Text, Meta: k.Meta, Extra: k.Extra,
		}
		if !r.belowLimit(hit) {
			hits = append(hits, hit)
		}
	}
	return hits
}

// belowLimit says whether a hit is less relevant than asked for, and counts it
// in the query.
func (r *run) belowLimit(h *record.Hit) bool {
	relevance := Relevance(r.query, h)
	if r.p.MinScore == 0 || relevance >= r.p.MinScore {
		return false
	}
	if Unrelated(h) {
		return true // to fill the list
	}
	if r.query.Below++; r.query.Below == 1 || relevance > r.query.BestBelow {
		r.query.BestBelow = relevance
	}
	return true
}
