package embed

import (
	"context"

	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/store"
)

// Reuse finds vectors of texts that were embedded before, by the same model in
// the same way. The text is what a chunk is embedded as, without the prefix.
type Reuse interface {
	Vector(ctx context.Context, text string) (record.Vector, bool, error)
}

// FromReader reuses the vectors of an index. It returns nil where there is
// none or where its fingerprint (model, base URL, prefixes) is another. r must
// stay open while the result is in use, by one goroutine at a time.
//
// The first question reads the texts of all chunks once and keeps a hash of 16
// bytes and a number for each. Vectors are read a document at a time: chunks
// come in the order of documents, so one that changed little, or was renamed,
// costs one reading.
func FromReader(ctx context.Context, r store.Reader, m model.Info) (Reuse, error) {
	if r == nil {
		return nil, nil
	}
	info := r.Info()
	known := model.Info{Model: info.Model, BaseURL: info.BaseURL, QueryPrefix: info.QueryPrefix, DocumentPrefix: info.DocumentPrefix}
	if info.Vectors == 0 || known != m {
		return nil, ctx.Err()
	}
	return &index{r: r, loaded: -1}, ctx.Err()
}

// index is a Reuse over a store.
type index struct {
	r       store.Reader
	paths   []string
	at      map[key]int32 // text → number of the path; nil until it is needed
	loaded  int32         // number of the document whose vectors are at hand
	vectors map[key]record.Vector
}

func (x *index) Vector(ctx context.Context, text string) (record.Vector, bool, error) {
	if x.at == nil {
		if err := x.scan(ctx); err != nil {
			return nil, false, err
		}
	}
	k := keyOf(model.Document, text)
	path, ok := x.at[k]
	if !ok {
		return nil, false, nil
	}
	if path != x.loaded {
		if err := x.load(ctx, path); err != nil {
			return nil, false, err
		}
	}
	v := x.vectors[k]
	return v, len(v) > 0, nil
}

// scan notes the document of each text; of equal texts the first document.
func (x *index) scan(ctx context.Context) error {
	at := map[key]int32{}
	for c, err := range x.r.Chunks(ctx, "", false) {
		if err != nil {
			return err
		}
		if n := len(x.paths); n == 0 || x.paths[n-1] != c.Path {
			x.paths = append(x.paths, c.Path)
		}
		k := keyOf(model.Document, document(c))
		if _, ok := at[k]; !ok {
			at[k] = int32(len(x.paths) - 1)
		}
	}
	x.at = at
	return nil
}

func (x *index) load(ctx context.Context, path int32) error {
	vectors := map[key]record.Vector{}
	for c, err := range x.r.Chunks(ctx, x.paths[path], true) {
		if err != nil {
			return err
		}
		vectors[keyOf(model.Document, document(c))] = c.Vector
	}
	x.loaded, x.vectors = path, vectors
	return nil
}
