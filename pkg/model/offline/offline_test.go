package offline

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"kb/pkg/model"
	"kb/pkg/model/modeltest"
	"kb/pkg/record"
)

func cosine(a, b record.Vector) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestEmbedder(t *testing.T) {
	e := NewEmbedder()
	texts := []string{"the heron stands in the reeds", "a heron in reeds", "the kettle is on the stove", "软件开发", "軟件開發", " \n"}
	vectors, err := e.Embed(t.Context(), model.Document, texts)
	partial, ok := err.(*model.PartialError)
	if !ok || len(partial.Reasons) != 1 || partial.Reasons[5] == nil || vectors[5] != nil {
		t.Fatalf("white space: %v", err)
	}
	for i, v := range vectors[:5] {
		if math.Abs(cosine(v, v)-1) > 1e-6 {
			t.Errorf("vector %d has length² %v", i, cosine(v, v))
		}
	}
	if near, far := cosine(vectors[0], vectors[1]), cosine(vectors[0], vectors[2]); near < far+0.2 {
		t.Errorf("shared words give %v, none %v", near, far)
	}
	if same := cosine(vectors[3], vectors[4]); same < 0.999 {
		t.Errorf("Simplified and Traditional differ: %v", same)
	}
	alone, err := e.Embed(t.Context(), model.Document, texts[:1])
	if err != nil || !slices.Equal(alone[0], vectors[0]) {
		t.Error("the vector of a text depends on its batch")
	}
}

// The bytes of a vector are part of the index: they are the same on every
// machine, and change only with the embedder's name.
func TestVectorsAreTheSameEverywhere(t *testing.T) {
	e := NewEmbedder()
	v, err := e.Embed(t.Context(), model.Document, []string{"Rotate keys with rotate_keys, 每 90 天一次。"})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(v[0].Bytes())
	got := e.Info().Model + " " + hex.EncodeToString(sum[:8])
	if want := "kb-hash-1-2048 7dec45eb2d1d6a4f"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestConformance(t *testing.T) {
	modeltest.Embedder(t, NewEmbedder())
	q := &record.Query{ID: "q", Text: "where does the heron stand?", Analyzer: "ngram-2"}
	modeltest.Reranker(t, NewReranker(), q, []*record.Hit{
		{ID: "a", Text: "The kettle is on the stove."}, {ID: "b", Text: "A heron stands in the reeds."}})
	modeltest.Generator(t, NewExtractor(), model.Request{
		Question: q.Text, Terms: map[string]float64{"heron": 2, "stand": 1},
		Passages: []record.Passage{{N: 1, Text: "A heron stands in the reeds."}}})
}
