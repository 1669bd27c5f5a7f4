package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"

	"kb/pkg/record"
	"kb/pkg/store"
)

// reader is one generation of an index.
type reader struct {
	*Store
	m   *manifest
	mu  sync.Mutex // of dir
	dir *directory // nil until it is needed
}

func (s *Store) open(ctx context.Context) (*reader, error) {
	m, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	return &reader{Store: s, m: m}, nil
}

// Info describes the generation.
func (r *reader) Info() store.Info { return r.m.info() }

// Close lets go of nothing: connections are the engine's.
func (r *reader) Close() error { return nil }

// directory reads the segments, the first time.
func (r *reader) directory(ctx context.Context) (*directory, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dir != nil {
		return r.dir, ctx.Err()
	}
	segs, err := r.segments(ctx, r.m.Segments)
	if err != nil {
		return nil, err
	}
	if r.dir, err = newDirectory(r.m, segs); err != nil {
		return nil, r.damaged(err)
	}
	return r.dir, nil
}

// Documents lists the documents by path.
func (r *reader) Documents(ctx context.Context) iter.Seq2[store.Document, error] {
	return func(yield func(store.Document, error) bool) {
		d, err := r.directory(ctx)
		if err != nil {
			yield(store.Document{}, err)
			return
		}
		for _, e := range d.docs {
			if !yield(e.Document, nil) {
				return
			}
		}
	}
}

// lists are the skipped files and the roots, each by path.
type lists struct {
	Skipped []record.Skipped `json:"skipped"`
	Roots   []record.Root    `json:"roots"`
}

func (r *reader) lists(ctx context.Context) (*lists, error) {
	content, err := r.blobs(ctx, []blob{r.m.Lists})
	if err != nil {
		return nil, err
	}
	l := &lists{}
	if len(content[0]) > 0 {
		if err := json.Unmarshal(content[0], l); err != nil {
			return nil, r.damaged(fmt.Errorf("the list of skipped files: %w", err))
		}
	}
	return l, nil
}

// Skipped lists the skipped files.
func (r *reader) Skipped(ctx context.Context) iter.Seq2[record.Skipped, error] {
	return listed(func() ([]record.Skipped, error) {
		l, err := r.lists(ctx)
		if err != nil {
			return nil, err
		}
		return l.Skipped, nil
	})
}

// Roots lists the roots.
func (r *reader) Roots(ctx context.Context) iter.Seq2[record.Root, error] {
	return listed(func() ([]record.Root, error) {
		l, err := r.lists(ctx)
		if err != nil {
			return nil, err
		}
		return l.Roots, nil
	})
}

func listed[T any](read func() ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		list, err := read()
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// readAhead is how many documents are asked for at once.
const readAhead = 128

// Chunks lists the chunks of a document or of all.
func (r *reader) Chunks(ctx context.Context, path string, vectors bool) iter.Seq2[*record.Chunk, error] {
	return func(yield func(*record.Chunk, error) bool) {
		d, err := r.directory(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		docs := d.docs
		if path != "" {
			i, ok := d.find(path)
			if !ok {
				return
			}
			docs = docs[i : i+1]
		}
		for len(docs) > 0 {
			n := min(len(docs), readAhead)
			chunks, err := r.read(ctx, docs[:n], nil, vectors)
			if err != nil {
				yield(nil, err)
				return
			}
			docs = docs[n:]
			for _, list := range chunks {
				for _, c := range list {
					if !yield(c, nil) {
						return
					}
				}
			}
		}
	}
}

// Fetch returns the chunks of the refs.
func (r *reader) Fetch(ctx context.Context, refs []store.Ref, vectors bool) ([]*record.Chunk, error) {
	d, err := r.directory(ctx)
	if err != nil {
		return nil, err
	}
	var docs []*entry
	number := map[int]int{} // of the document, to its place in docs
	want := map[*entry]map[int]bool{}
	for _, ref := range refs {
		if ref < 0 || int(ref) >= len(d.lens) {
			return nil, fmt.Errorf("%s: no chunk has the ref %d", r.Name(), ref)
		}
		doc, chunk := d.place(int(ref))
		e := d.docs[doc]
		if _, ok := number[doc]; !ok {
			number[doc], want[e] = len(docs), map[int]bool{}
			docs = append(docs, e)
		}
		want[e][chunk] = true
	}
	chunks, err := r.read(ctx, docs, func(e *entry, chunk int) bool { return want[e][chunk] }, vectors)
	if err != nil {
		return nil, err
	}
	out := make([]*record.Chunk, len(refs))
	for i, ref := range refs {
		doc, chunk := d.place(int(ref))
		out[i] = chunks[number[doc]][chunk]
	}
	return out, nil
}

// read returns the chunks of documents; nil in the place of those that are not
// wanted. A nil want wants all.
func (r *reader) read(ctx context.Context, docs []*entry, want func(*entry, int) bool, vectors bool) ([][]*record.Chunk, error) {
	out, err := r.readLines(ctx, docs, want)
	if err != nil || !vectors {
		return out, err
	}
	var keys []string
	var chunks []*record.Chunk
	for i, e := range docs {
		for j, c := range out[i] {
			if c != nil && e.hasVector(j) {
				keys, chunks = append(keys, e.vectorKey(j)), append(chunks, c)
			}
		}
	}
	found, err := r.vectors(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, c := range chunks {
		c.Vector, c.Model, c.BaseURL, c.Dim = found[i], r.m.Settings.Model, r.m.Settings.BaseURL, r.m.Settings.Dim
	}
	return out, nil
}

// readLines reads the blocks that hold the chunks that are wanted.
func (r *reader) readLines(ctx context.Context, docs []*entry, want func(*entry, int) bool) ([][]*record.Chunk, error) {
	type block struct{ doc, from, n int }
	var blobs []blob
	var blocks []block
	out := make([][]*record.Chunk, len(docs))
	for i, e := range docs {
		out[i] = make([]*record.Chunk, e.Chunks)
		from := 0
		for b, n := range e.blocks() {
			wanted := want == nil
			for c := from; c < from+n && !wanted; c++ {
				wanted = want(e, c)
			}
			if wanted {
				blobs, blocks = append(blobs, b), append(blocks, block{i, from, n})
			}
			from += n
		}
	}
	contents, err := r.blobs(ctx, blobs)
	if err != nil {
		return nil, err
	}
	for i, b := range blocks {
		e := docs[b.doc]
		if err := readBlock(contents[i], out[b.doc][b.from:b.from+b.n], func(c int) bool {
			return want == nil || want(e, b.from+c)
		}); err != nil {
			return nil, r.damaged(fmt.Errorf("row %s: %w", blobs[i].Key, err))
		}
	}
	return out, nil
}

// readBlock decodes the lines of a block that are wanted.
func readBlock(content []byte, out []*record.Chunk, want func(int) bool) error {
	n := 0
	for line := range bytes.Lines(content) {
		if n == len(out) {
			return errors.New("too many lines")
		}
		if want(n) {
			out[n] = &record.Chunk{}
			if err := record.Decode(bytes.TrimSuffix(line, []byte{'\n'}), out[n]); err != nil {
				return err
			}
		}
		n++
	}
	if n != len(out) {
		return fmt.Errorf("%d lines, want %d", n, len(out))
	}
	return nil
}

// vectors reads vectors that must be there.
func (r *reader) vectors(ctx context.Context, keys []string) ([]record.Vector, error) {
	out := make([]record.Vector, 0, len(keys))
	for len(keys) > 0 {
		n := min(len(keys), getAtOnce)
		got, err := r.engine.GetVectors(ctx, r.m.Table, keys[:n])
		if err != nil {
			return nil, err
		}
		for _, k := range keys[:n] {
			v := got[k]
			if v == nil {
				return nil, r.damaged(fmt.Errorf("vector %s: %w", k, errGone))
			}
			if len(v) != r.m.Settings.Dim {
				return nil, r.damaged(fmt.Errorf("vector %s has %d dimensions, the index has %d", k, len(v), r.m.Settings.Dim))
			}
			out = append(out, v)
		}
		keys = keys[n:]
	}
	return out, nil
}
