// Package index brings a store in step with a stream of chunks: it mirrors the
// folders that were walked to their end, and touches nothing else.
//
// The rules, for one run:
//
//   - A document is replaced when all of its chunks have arrived, and left
//     alone when they are the ones that the index has.
//   - A document below a root is removed when the root's record arrived and
//     the document did not. A stream that was cut removes nothing.
//   - A file that was skipped keeps its older version if it could not be read
//     this time, and loses it if it has no text now.
//   - A document of which a [record.Indexed] with the status unchanged comes
//     along counts as seen: the caller knows that the index has it.
//   - A stream with a broken line, a broken vector or vectors of two models
//     changes nothing.
//
// All changes of a run become visible at once, at its end. A stream with little
// that is new is read to its end before the store is locked, so that a slow
// embedding run does not keep other writers out. Memory is kept for the documents
// of which chunks are missing, and for 16 MiB of complete ones: beyond that the
// store is locked and takes each document as soon as it is complete.
package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/store"
)

// Options of a run.
type Options struct {
	Store store.Store
	// Analyzer of the postings, see package text; "" is that of the index, and
	// the default one for a new index. Another one than before makes all
	// postings anew, and says so.
	Analyzer string
	// AllowEmpty lets a root that has no documents any more remove all that
	// the index has of it, and lets an index without documents be made.
	AllowEmpty bool
	// Keep says of a document below a root, whose file the walk did not find,
	// whether it stays all the same: where several machines write, it may lie on
	// another one. nil is false.
	Keep   func(path string) bool
	NoWait bool // fail with [store.ErrLocked] rather than wait for another writer
	Warn   func(string)
}

// Result counts what a run did.
type Result struct {
	Info       store.Info
	Created    int
	Updated    int
	Unchanged  int
	Removed    int
	Incomplete int
	Kept       int
	Elsewhere  int // documents that stay because of Options.Keep
	Skipped    int // skipped records in the stream
	NewSkipped int // those of them that are news, see [IsNews]
	Failed     int // chunks that are stored without a vector because embed failed on them
	Embedded   int // chunks whose vector is new to the index
	Reused     int
	Written    bool // the store was changed
	// Export is what the stream said it would bring, nil where it is none of an
	// index; Came is what it brought.
	Export *record.Export
	Came   Content
}

// Content counts what an index or a stream holds.
type Content struct{ Documents, Chunks, Vectors int }

// ErrNothing means that there is nothing to make an index from.
var ErrNothing = errors.New("no documents to index")

// EmptyRootError means that nothing is left of what the index has of a root:
// the folder has no documents any more, or only others.
type EmptyRootError struct {
	Root   string
	Known  int // documents that the index has of it
	Others int // documents that it has now
}

func (e *EmptyRootError) Error() string {
	if e.Others > 0 {
		return fmt.Sprintf("%s has none of the %d documents that the index has of it, but %d others", e.Root, e.Known, e.Others)
	}
	return fmt.Sprintf("%s has no documents now, but the index has %d of it", e.Root, e.Known)
}

// IsNews says whether a skipped file is worth telling, given the entry that
// the index has of it ("" in its path: none). A file that was named by itself
// always is, as is one that could not be read this time: the index may hold
// an old version of it. Of others it is told once that they have no text.
func IsNews(s, known record.Skipped) bool {
	return s.Root == "" || record.Transient(s.Class) || !sameSkipped(s, known)
}

func sameSkipped(a, b record.Skipped) bool {
	return a.Path == b.Path && a.Reason == b.Reason && a.Class == b.Class && a.Hash == b.Hash
}

// MismatchError means that the stream was embedded in another way than the
// index, and does not cover all documents of the index.
type MismatchError struct {
	Name          string // of the store
	Index, Stream store.Settings
	Missing       int    // documents of the index that the stream does not have
	Example       string // one of them
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s was built with %s, but these chunks have vectors of %s, and %d documents of the index are not among them (%s)",
		e.Name, describe(e.Index), describe(e.Stream), e.Missing, e.Example)
}

func describe(s store.Settings) string {
	text := "model " + model.Describe(s.Model, s.BaseURL)
	if s.DocumentPrefix != "" || s.QueryPrefix != "" {
		text += fmt.Sprintf(" (prefixes %q, %q)", s.QueryPrefix, s.DocumentPrefix)
	}
	return text
}

// RecordError is a record of the stream that cannot be indexed; it was the last
// one that was read.
type RecordError struct{ Err error }

func (e *RecordError) Error() string { return e.Err.Error() }
func (e *RecordError) Unwrap() error { return e.Err }

// Run reads the stream, commits, and returns one [record.Indexed] for each
// document that it saw or removed, by path; records of other kinds that the
// stream held are first, as they came.
func Run(ctx context.Context, in iter.Seq2[record.Record, error], opt Options) ([]record.Record, Result, error) {
	if opt.Warn == nil {
		opt.Warn = func(string) {}
	}
	known, err := snapshot(ctx, opt.Store)
	if err != nil {
		return nil, Result{}, err
	}
	if err := store.CheckWritable(opt.Store); err != nil {
		return nil, Result{}, err
	}
	return newCollector(known, opt).run(ctx, in)
}

func (c *collector) run(ctx context.Context, in iter.Seq2[record.Record, error]) ([]record.Record, Result, error) {
	defer c.close()
	for r, err := range in {
		if err != nil {
			return nil, Result{}, err
		}
		if err := c.add(r); err != nil {
			return nil, Result{}, &RecordError{err}
		}
		if err := c.spill(ctx); err != nil {
			return nil, Result{}, err
		}
	}
	return c.commit(ctx)
}

// state is what the index holds at one moment, without chunks.
type state struct {
	exists  bool
	info    store.Info
	docs    map[string]store.Document
	skipped []record.Skipped
	roots   []record.Root
}

func snapshot(ctx context.Context, s store.Store) (*state, error) {
	r, err := s.Open(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return &state{docs: map[string]store.Document{}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readState(ctx, r)
}

func readState(ctx context.Context, r store.Reader) (*state, error) {
	st := &state{docs: map[string]store.Document{}}
	if r == nil {
		return st, nil
	}
	st.exists, st.info = true, r.Info()
	for d, err := range r.Documents(ctx) {
		if err != nil {
			return nil, err
		}
		st.docs[d.Path] = d
	}
	for s, err := range r.Skipped(ctx) {
		if err != nil {
			return nil, err
		}
		st.skipped = append(st.skipped, s)
	}
	for root, err := range r.Roots(ctx) {
		if err != nil {
			return nil, err
		}
		st.roots = append(st.roots, root)
	}
	return st, nil
}

// under says whether a document's path lies below a root.
func under(root, p string) bool {
	root = path.Clean(root)
	switch {
	case root == ".":
		return !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../")
	case root == "/":
		return path.IsAbs(p)
	}
	rest, ok := strings.CutPrefix(p, root+"/")
	// ../../x begins like the root .., but lies above it.
	return ok && rest != ".." && !strings.HasPrefix(rest, "../")
}

func underAny(roots []record.Root, p string) bool {
	return slices.ContainsFunc(roots, func(r record.Root) bool { return under(r.Path, p) })
}

func sameFingerprint(a, b store.Settings) bool {
	return a.Model == b.Model && a.BaseURL == b.BaseURL && a.Dim == b.Dim &&
		a.QueryPrefix == b.QueryPrefix && a.DocumentPrefix == b.DocumentPrefix
}

func sameDocument(a, b store.Document) bool {
	return a.Hash == b.Hash && a.Sum == b.Sum && a.Title == b.Title && bytes.Equal(a.Meta, b.Meta)
}
