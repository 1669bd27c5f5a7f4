package flat_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/pkg/store/storetest"
	"kb/pkg/vector"
)

// documents makes documents of ten chunks from vectors; nil is a chunk without.
func documents(vectors []record.Vector) []*storetest.Doc {
	var docs []*storetest.Doc
	for part := range slices.Chunk(vectors, 10) {
		path := fmt.Sprintf("notes/%05d.md", len(docs))
		d := &storetest.Doc{Document: store.Document{Path: path, ID: record.DocumentID(path), Hash: "00"}}
		for i, v := range part {
			d.Chunks = append(d.Chunks, &record.Chunk{
				ID: record.ChunkID(d.ID, i+1, i, "x"), Document: d.ID, Path: path, Hash: "00",
				Seq: i + 1, Of: len(part), Start: i, End: i + 1, Text: "x", Vector: v,
			})
		}
		d.Finish()
		docs = append(docs, d)
	}
	return docs
}

// families are sets of vectors that strain a search in different ways.
func families(rng *rand.Rand, dim, n int) map[string][]record.Vector {
	random := func(scale float64) record.Vector {
		v := make([]float64, dim)
		for i := range v {
			v[i] = rng.NormFloat64() * scale
		}
		return storetest.Unit(v)
	}
	near := func(c record.Vector, by float64) record.Vector {
		v := make([]float64, dim)
		for i := range v {
			v[i] = float64(c[i]) + rng.NormFloat64()*by
		}
		return storetest.Unit(v)
	}
	out := map[string][]record.Vector{}
	centers := []record.Vector{random(1), random(1), random(1)}
	for i := range n {
		c := centers[i%3]
		out["random"] = append(out["random"], random(1))
		out["clustered"] = append(out["clustered"], near(c, 0.02))
		out["duplicates"] = append(out["duplicates"], slices.Clone(c))
		out["almost equal"] = append(out["almost equal"], near(centers[0], 1e-7))
		one := make(record.Vector, dim)
		one[rng.IntN(dim)] = float32(1 - 2*rng.IntN(2))
		out["axes"] = append(out["axes"], one)
		few := make([]float64, dim)
		few[rng.IntN(dim)] = 1
		for range dim / 8 {
			few[rng.IntN(dim)] = float64(rng.IntN(7)-3) / 2
		}
		few[rng.IntN(dim)] = 0.75 // or it may be zero
		out["hashed"] = append(out["hashed"], storetest.Unit(few))
		out["hashed and full"] = append(out["hashed and full"], storetest.Unit(few))
		if i%100 == 7 {
			out["hashed and full"][i] = random(1)
		}
		v := near(centers[0], 1e-3)
		switch {
		case i%7 == 0:
			v = nil
		case i%50 == 1:
			v = one // an outlier widens the steps of its dimension for all
		}
		out["outliers and gaps"] = append(out["outliers and gaps"], v)
	}
	return out
}

func TestNearestIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, dim := range []int{1, 7, 63, 64, 65, 100, 384, 1024} {
		n := 1100 // two segments
		if dim > 65 {
			n = 70_000 / dim
		}
		for name, vectors := range families(rng, dim, n) {
			docs := documents(vectors)
			ref := storetest.NewReference(docs...)
			path := filepath.Join(t.TempDir(), "index.jsonl.zst")
			storetest.Write(t, flat.New(path), store.Settings{Model: "m", Dim: dim, Analyzer: "ngram-2"}, docs...)
			for i, s := range []*flat.Store{flat.New(path), flat.New(path, flat.Resident(1<<40))} {
				r := storetest.Open(t, s)
				for _, k := range []int{1, 2, 10, 100, 5000} {
					q := ref.Chunks[1+rng.IntN(n-1)].Vector
					if k%2 == 0 || q == nil {
						q = families(rng, dim, 1)["random"][0]
					}
					got, err := r.Nearest(t.Context(), q, k, store.Filter{})
					if err != nil {
						t.Fatal(err)
					}
					if want := ref.Nearest(q, k, nil); !slices.Equal(got, want) {
						t.Fatalf("dim %d, %s, k %d, resident %v:\n%v\n%v", dim, name, k, i == 1, short(got), short(want))
					}
				}
			}
		}
	}
}

func short(s []store.Scored) []store.Scored { return s[:min(len(s), 12)] }

// TestKeepsBits: a vector of unit length comes back bit for bit, and is not
// changed by being written again.
func TestKeepsBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	docs := documents(families(rng, 100, 30)["random"])
	docs[0].Chunks[0].Vector[3] *= 1.0001 // no longer of unit length
	path := filepath.Join(t.TempDir(), "index.jsonl.zst")
	settings := store.Settings{Model: "m", Dim: 100, Analyzer: "ngram-2"}
	storetest.Write(t, flat.New(path), settings, docs...)
	r := storetest.Open(t, flat.New(path))
	i := 0
	for c, err := range r.Chunks(t.Context(), "", true) {
		if err != nil {
			t.Fatal(err)
		}
		if want := docs[i/10].Chunks[i%10].Vector; i > 0 && !slices.Equal(c.Vector, want) || i == 0 && !vector.IsUnit(c.Vector) {
			t.Fatalf("chunk %d: %v, want %v", i, c.Vector[:4], want[:4])
		}
		i++
	}
}
