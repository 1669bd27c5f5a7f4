package storetest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"kb/pkg/record"
	"kb/pkg/store"
)

// Doc is a document with its chunks, as a store takes them.
type Doc struct {
	store.Document
	Chunks []*record.Chunk
}

// Generator makes documents that look like notes: a few topics, documents of
// some chunks that resemble each other, Chinese and English words of very
// different frequency. Vectors have what those of a language model have: a
// common direction (unrelated chunks have a cosine of 0.3), topics (0.55), and
// documents (0.7). The same seed gives the same documents.
type Generator struct {
	Dim    int  // of the vectors; 0 for chunks without
	Chunks int  // of a document, at most; 0 is 6
	Words  int  // of a chunk; 0 is 30
	Sparse bool // of the vectors five in six elements are 0
	rng    *rand.Rand
	mean   []float64
	topics [][]float64
}

// NewGenerator returns a generator of vectors of a dimension.
func NewGenerator(seed uint64, dim int) *Generator {
	g := &Generator{Dim: dim, rng: rand.New(rand.NewPCG(seed, 0x6b62))}
	g.mean = g.noise(dim, 0.55)
	for range 300 {
		g.topics = append(g.topics, add(g.mean, g.noise(dim, 0.5)))
	}
	return g
}

func (g *Generator) noise(n int, size float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = g.rng.NormFloat64() * size / math.Sqrt(float64(n))
	}
	return v
}

// Settings are those of an index of the generated documents.
func (g *Generator) Settings() store.Settings {
	s := store.Settings{Analyzer: "ngram-2"}
	if g.Dim > 0 {
		s.Model, s.BaseURL, s.Dim = "test-model", "https://models.example/v1", g.Dim
	}
	return s
}

// Docs makes n documents, in the order of their paths.
func (g *Generator) Docs(n int) []*Doc {
	docs := make([]*Doc, n)
	for i := range docs {
		docs[i] = g.Doc(fmt.Sprintf("notes/%c/%06d.md", 'a'+i*4/max(n, 4), i))
	}
	return docs
}

// Doc makes the document at a path; each call gives another content.
func (g *Generator) Doc(path string) *Doc {
	topic := g.rng.IntN(len(g.topics))
	of := 1 + g.rng.IntN(max(g.Chunks, 1))
	if g.Chunks == 0 {
		of = 1 + g.rng.IntN(6)
	}
	d := &Doc{Document: store.Document{
		Path: path, ID: record.DocumentID(path), Hash: fmt.Sprintf("%064x", g.rng.Uint64()),
		Title: "标题 " + g.word(), MediaType: "text/markdown",
		Meta: json.RawMessage(fmt.Sprintf(`{"tags":["t%d","All"],"n":%[2]d,"date":"20%02[2]d-03-04"}`, topic%12, g.rng.IntN(100))),
	}}
	center := add(g.topics[topic], g.noise(g.Dim, 0.39))
	at := 0
	for i := range of {
		text := g.text()
		c := &record.Chunk{
			ID: record.ChunkID(d.ID, i+1, at, text), Document: d.ID, Path: path, Title: d.Title, Hash: d.Hash,
			Seq: i + 1, Of: of, Headings: []string{"H " + g.word()}, Line: 1 + 3*i, Start: at, End: at + len(text),
			Text: text, Meta: d.Meta,
		}
		at += len(text)
		if g.Dim > 0 {
			c.Vector, c.Dim, c.Model, c.BaseURL = Unit(g.thin(add(center, g.noise(g.Dim, 0.55)))), g.Dim, "test-model", "https://models.example/v1"
		}
		d.Chunks = append(d.Chunks, c)
	}
	d.Finish()
	return d
}

// Finish sets what the document says of its chunks.
func (d *Doc) Finish() {
	d.Document.Chunks, d.Vectors = len(d.Chunks), 0
	for _, c := range d.Chunks {
		if len(c.Vector) > 0 {
			d.Vectors++
		}
	}
	d.Sum = store.Sum(d.Chunks)
}

// Query makes a vector to search with: of a topic, and of no document.
func (g *Generator) Query() record.Vector {
	return Unit(g.thin(add(g.topics[g.rng.IntN(len(g.topics))], g.noise(g.Dim, 0.67))))
}

// thin makes a vector sparse, if it should be.
func (g *Generator) thin(v []float64) []float64 {
	if !g.Sparse {
		return v
	}
	kept := g.rng.IntN(len(v))
	for i := range v {
		if i != kept && g.rng.IntN(6) > 0 {
			v[i] = 0
		}
	}
	return v
}

// word is a word of a vocabulary of 4,000, the k-th about 1/k as frequent as
// the first.
func (g *Generator) word() string {
	k := int(math.Exp(g.rng.Float64() * math.Log(4000)))
	if k%2 == 0 {
		return string([]rune{rune(0x4E00 + k*7%6000), rune(0x4E00 + k*13%6000)})
	}
	return fmt.Sprintf("w%d", k)
}

func (g *Generator) text() string {
	n := g.Words
	if n == 0 {
		n = 30
	}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(g.word())
	}
	return b.String()
}

func add(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = a[i] + b[i]
	}
	return out
}

// Unit is v as a vector of unit length.
func Unit(v []float64) record.Vector {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	out := make(record.Vector, len(v))
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(sum))
	}
	return out
}
