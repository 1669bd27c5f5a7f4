package pgvector

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/vector"
)

const (
	// spare is how many hits more than asked for are fetched, as the database
	// ranks in float32 and the result in float64.
	spare = 8
	// slack is how far a cosine of the database may be from the true one.
	slack = 1e-5
	// maxHalf is how many dimensions an HNSW graph of halfvec may have.
	maxHalf = 4000
)

// Nearest ranks by the exact cosine of what the database found: with all
// vectors compared where they are few, or exact=1 says so; else from the HNSW
// graph, whose scan goes on until enough hits pass the filter. Where it gives
// up before that, all vectors that pass are compared.
func (r *reader) Nearest(ctx context.Context, q record.Vector, k int, f store.Filter) ([]store.Scored, error) {
	pass, err := r.passing(ctx, f)
	if err != nil {
		return nil, err
	}
	if r.v.info.Vectors == 0 || k <= 0 || pass != nil && pass.chunks == 0 {
		return nil, ctx.Err()
	}
	if len(q) != r.v.info.Dim {
		return nil, fmt.Errorf("%s: the query has %d dimensions, the index %d", r.store.name, len(q), r.v.info.Dim)
	}
	k = min(k, r.v.info.Vectors)
	s := nearest{r: r, q: q, k: k, pass: pass, min: f.MinCosine}
	among := int64(r.v.info.Vectors)
	if pass != nil {
		among = min(among, pass.chunks)
	}
	if !r.store.opt.exact && r.v.approximatable && among > int64(r.store.opt.exactBelow) {
		hits, enough, err := s.run(ctx, s.approximate()...)
		if err != nil || enough {
			return hits, err
		}
	}
	return s.exactly(ctx)
}

// nearest is one search.
type nearest struct {
	r    *reader
	q    record.Vector
	k    int
	pass *passed
	min  float64
}

// run runs statements whose last one yields numbers and vectors, and ranks
// them. enough says that no more was to be found.
func (s *nearest) run(ctx context.Context, statements ...statement) (hits []store.Scored, enough bool, err error) {
	found, err := s.r.query(ctx, "searching vectors", statements...)
	if err != nil {
		return nil, false, err
	}
	hits, err = s.rank(ctx, found)
	return hits, len(found) >= s.k, err
}

// exactly compares with all vectors. Where as many as were fetched have the
// score of the last one that counts, their order is that of the refs, which
// the database does not know: then all with this score are fetched.
func (s *nearest) exactly(ctx context.Context) ([]store.Scored, error) {
	found, err := s.r.query(ctx, "searching vectors", s.exact(` ORDER BY vector <#> $1::vector LIMIT `+itoa(s.k+spare)))
	if err != nil {
		return nil, err
	}
	if n := len(found); n == s.k+spare && string(found[s.k-1][2]) == string(found[n-1][2]) {
		tied := math.Float64frombits(binary.BigEndian.Uint64(found[n-1][2]))
		if found, err = s.r.query(ctx, "searching vectors", s.exact(` AND vector <#> $1::vector <= `+number(tied))); err != nil {
			return nil, err
		}
	}
	return s.rank(ctx, found)
}

// rank scores the vectors of rows, number and vector, and returns the best.
func (s *nearest) rank(ctx context.Context, found rows) ([]store.Scored, error) {
	l, err := s.r.layout(ctx)
	if err != nil {
		return nil, err
	}
	top := vector.NewTopK(s.k)
	for _, row := range found {
		v, err := decodeVector(row[1])
		if err != nil || len(v) != len(s.q) {
			return nil, s.r.damaged(fmt.Errorf("the vector of chunk number %d cannot be read", int64At(row[0])))
		}
		ref, ok := l.ref(int64At(row[0]))
		score := vector.Score(v, s.q)
		if ok && (s.min <= 0 || score >= s.min) {
			top.Add(vector.Scored{Row: ref, Score: score})
		}
	}
	return scored(top), nil
}

// visible is the condition that a vector belongs to a document of this version
// and passes the filter. The documents that are not of this version are few, so
// it is those that are looked up.
func (s *nearest) visible() string {
	where := ` doc NOT IN (SELECT id FROM ` + s.r.store.table("documents") + ` WHERE (born > $2::bigint OR dead <= $2::bigint) AND id >= $3::bigint)`
	if s.pass != nil {
		where += ` AND doc = ANY($4::bigint[])`
	}
	return where
}

func (s *nearest) params() []string {
	params := []string{vectorText(s.q), itoa(s.r.v.generation), itoa(s.r.v.first)}
	if s.pass != nil {
		params = append(params, intArray(s.pass.ids))
	}
	return params
}

// exact compares with all vectors; rest is what follows the condition.
func (s *nearest) exact(rest string) statement {
	where := s.visible()
	if s.min > 0 {
		where += ` AND -(vector <#> $1::vector) >= ` + number(s.min-slack)
	}
	return statement{`SELECT number, vector, vector <#> $1::vector FROM ` + s.r.store.numbered("vectors", s.r.v.vectorsTable) + ` WHERE` + where + rest, s.params()}
}

// number is a literal.
func number(x float64) string {
	return `(` + strconv.FormatFloat(x, 'g', -1, 64) + `)::float8`
}

// approximate asks the graph. Settings hold for this one round trip.
func (s *nearest) approximate() []statement {
	settings := stmt(`SELECT set_config('hnsw.ef_search', $1, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
		set_config('hnsw.max_scan_tuples', $2, true)`, itoa(max(s.r.store.opt.efSearch, min(s.k+spare, 1000))), itoa(maxScan))
	half := `halfvec(` + itoa(len(s.q)) + `)`
	return []statement{settings, {`SELECT number, vector FROM ` + s.r.store.numbered("vectors", s.r.v.vectorsTable) +
		` WHERE` + s.visible() + ` ORDER BY vector::` + half + ` <=> $1::` + half + ` LIMIT ` + itoa(s.k+spare), s.params()}}
}

// maxScan is how many vectors the scan of a graph looks at, at most, for hits
// that pass a filter. Comparing all is as fast beyond that.
const maxScan = 20_000

// vectorText is a vector as a literal.
func vectorText(v record.Vector) string {
	out := []byte{'['}
	for i, x := range v {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, float64(x), 'g', -1, 32)
	}
	return string(slices.Concat(out, []byte{']'}))
}
