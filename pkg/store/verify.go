package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"kb/pkg/record"
	"kb/pkg/text"
)

// Report is the outcome of [Verify].
type Report struct {
	Info   Info
	Words  int // distinct ones in the chunks
	Probes int // vectors that were searched for
	Found  int // of these, by vector search
	Faults []error
}

const (
	wordsAtOnce = 512 // of one search
	probes      = 64
	nearOne     = 1 - 1e-4 // the cosine of a vector and itself
)

// Verify reads all of a version through its reader, whatever the store, and
// reports what does not add up: documents against the version and the counts;
// chunks against their documents' sums; each chunk's vector, its dimension; how
// many chunks the index says hold each word, and their mean length, against the
// words of the chunks. It also looks for some chunks by their own vectors, which
// an approximate index may miss now and then. The error is for what kept it
// from reading.
func Verify(ctx context.Context, r Reader) (*Report, error) {
	v := &verifier{r: r, report: &Report{Info: r.Info()}, holding: map[string]int{}}
	for _, check := range []func(context.Context) error{v.documents, v.chunks, v.words, v.vectors} {
		if err := check(ctx); errors.Is(err, ErrDamaged) {
			v.report.Faults = append(v.report.Faults, err)
			break // what follows would only repeat it
		} else if err != nil {
			return nil, err
		}
	}
	return v.report, nil
}

type verifier struct {
	r       Reader
	report  *Report
	docs    []Document
	holding map[string]int // chunks that hold a word
	tokens  int            // in all chunks
	passed  int            // vectors that were read
	probes  []record.Vector
}

func (v *verifier) fault(format string, args ...any) {
	v.report.Faults = append(v.report.Faults, fmt.Errorf(format, args...))
}

func (v *verifier) documents(ctx context.Context) error {
	chunks, vectors := 0, 0
	for d, err := range v.r.Documents(ctx) {
		if err != nil {
			return err
		}
		if n := len(v.docs); n > 0 && v.docs[n-1].Path >= d.Path {
			v.fault("%s: twice, or not in the order of paths", d.Path)
		}
		v.docs = append(v.docs, d)
		chunks += d.Chunks
		vectors += d.Vectors
	}
	info := v.report.Info
	if len(v.docs) != info.Documents || chunks != info.Chunks || vectors != info.Vectors {
		v.fault("the documents are %d with %d chunks and %d vectors, the index says %d, %d and %d",
			len(v.docs), chunks, vectors, info.Documents, info.Chunks, info.Vectors)
	}
	if Version(info.Settings, pointers(v.docs)) != info.Version {
		v.fault("the version %s is not that of the documents", info.Version)
	}
	return nil
}

func pointers(docs []Document) iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		for i := range docs {
			if !yield(&docs[i]) {
				return
			}
		}
	}
}

// chunks reads them document by document, as they come.
func (v *verifier) chunks(ctx context.Context) error {
	analyzer, err := text.NewAnalyzer(v.report.Info.Analyzer)
	if err != nil {
		return err
	}
	docs := v.docs
	var of []*record.Chunk
	next := func() {
		v.document(docs[0], of)
		docs, of = docs[1:], nil
	}
	for c, err := range v.r.Chunks(ctx, "", true) {
		if err != nil {
			return err
		}
		for len(docs) > 0 && docs[0].Path < c.Path {
			next()
		}
		if len(docs) == 0 || docs[0].Path != c.Path {
			v.fault("%s: chunk %d of no document", c.Path, c.Seq)
			continue
		}
		of = append(of, c)
		v.chunk(c, analyzer)
	}
	for len(docs) > 0 {
		next()
	}
	return nil
}

func (v *verifier) document(d Document, chunks []*record.Chunk) {
	vectors := 0
	for _, c := range chunks {
		if len(c.Vector) > 0 {
			vectors++
		}
	}
	switch {
	case len(chunks) != d.Chunks:
		v.fault("%s: %d chunks of %d", d.Path, len(chunks), d.Chunks)
	case vectors != d.Vectors:
		v.fault("%s: %d vectors of %d", d.Path, vectors, d.Vectors)
	case Sum(chunks) != d.Sum:
		v.fault("%s: its chunks are not those that were indexed", d.Path)
	}
}

func (v *verifier) chunk(c *record.Chunk, analyzer text.Analyzer) {
	tokens := analyzer.Tokens(strings.ToValidUTF8(c.FullText(), "\ufffd"))
	v.tokens += len(tokens)
	slices.Sort(tokens)
	for _, t := range slices.Compact(tokens) {
		v.holding[t]++
	}
	if len(c.Vector) == 0 {
		return
	}
	if err := c.Vector.Check(); err != nil || len(c.Vector) != v.report.Info.Dim {
		v.fault("%s: chunk %d: its vector has %d dimensions of %d, or is none", c.Path, c.Seq, len(c.Vector), v.report.Info.Dim)
		return
	}
	if every := max(1, v.report.Info.Vectors/probes); len(v.probes) < probes && v.passed%every == 0 {
		v.probes = append(v.probes, c.Vector)
	}
	v.passed++
}

// words asks for each word how many chunks hold it.
func (v *verifier) words(ctx context.Context) error {
	all := slices.Sorted(maps.Keys(v.holding))
	v.report.Words = len(all)
	mean := float64(v.tokens) / float64(max(1, v.report.Info.Chunks))
	for words := range slices.Chunk(all, wordsAtOnce) {
		found, err := v.r.Lexical(ctx, words, 1, Filter{})
		if err != nil {
			return err
		}
		for _, w := range words {
			if found.DF[w] != v.holding[w] {
				v.fault("%q: in %d chunks by the index, in %d by their text", w, found.DF[w], v.holding[w])
			}
		}
		if found.N != v.report.Info.Chunks || math.Abs(found.AvgLen-mean) > 1e-6*mean {
			v.fault("%d chunks of %.6f words by the index, %d of %.6f by their text", found.N, found.AvgLen, v.report.Info.Chunks, mean)
			return nil
		}
	}
	return nil
}

// vectors looks for some chunks by their own vectors.
func (v *verifier) vectors(ctx context.Context) error {
	v.report.Probes = len(v.probes)
	for _, q := range v.probes {
		hits, err := v.r.Nearest(ctx, q, 1, Filter{})
		if err != nil {
			return err
		}
		if len(hits) > 0 && hits[0].Score >= nearOne {
			v.report.Found++
		}
	}
	if 2*v.report.Found < v.report.Probes {
		v.fault("vector search finds %d of %d chunks by their own vectors", v.report.Found, v.report.Probes)
	}
	return nil
}
