package live

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"kb/pkg/load"
	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/text"
)

// ErrNotFound means that the index has no document or passage of an id.
var ErrNotFound = errors.New("not found")

// Document is one document of the index with its text.
type Document struct {
	store.Document
	Text   string
	Chunks []*record.Chunk
}

// Passage is one chunk and what stands around it in its document.
type Passage struct {
	Chunk         *record.Chunk
	Before, After string
}

// All is how much of a document stands around a passage when all of it is
// wanted.
const All = -1

// Documents lists the documents by path.
func (l *Lease) Documents(ctx context.Context) ([]store.Document, error) {
	docs := []store.Document{}
	for d, err := range l.Reader().Documents(ctx) {
		if err != nil {
			return nil, err
		}
		docs = append(docs, typed(d))
	}
	return docs, nil
}

// typed names the type of a document whose index does not.
func typed(d store.Document) store.Document {
	if d.MediaType == "" {
		d.MediaType = load.MediaType(d.Path)
	}
	return d
}

// Skipped lists the files that gave no document, by path.
func (l *Lease) Skipped(ctx context.Context) ([]record.Skipped, error) {
	skipped := []record.Skipped{}
	for s, err := range l.Reader().Skipped(ctx) {
		if err != nil {
			return nil, err
		}
		skipped = append(skipped, s)
	}
	return skipped, nil
}

// Find returns the document of an id or a path, without its text, or
// [ErrNotFound].
func (l *Lease) Find(ctx context.Context, id string) (store.Document, error) {
	for d, err := range l.Reader().Documents(ctx) {
		if err != nil {
			return d, err
		}
		if d.ID == id || d.Path == id || d.Path == path.Clean(id) {
			return typed(d), nil
		}
	}
	return store.Document{}, fmt.Errorf("document %q: %w", id, ErrNotFound)
}

// Document returns the document of an id or a path with its text, put together
// from its chunks, or [ErrNotFound].
func (l *Lease) Document(ctx context.Context, id string) (*Document, error) {
	d, err := l.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	chunks, err := l.chunks(ctx, d.Path)
	if err != nil {
		return nil, err
	}
	return &Document{Document: d, Text: join(chunks, 0, end(chunks)), Chunks: chunks}, nil
}

// Part is the text of some passages, by their place in the document from 1,
// without what the first of them repeats of the one before.
func (d *Document) Part(first, last int) string {
	from := 0
	if first > 1 {
		from = d.Chunks[first-2].End
	}
	return join(d.Chunks[first-1:last], from, d.Chunks[last-1].End)
}

// Passage returns the chunk of an id, with up to so many characters of its
// document before and behind it, or [ErrNotFound].
func (l *Lease) Passage(ctx context.Context, id string, around int) (*Passage, error) {
	path, err := l.v.index.places.find(ctx, l, id)
	if err != nil {
		return nil, err
	}
	chunks, err := l.chunks(ctx, path)
	if err != nil {
		return nil, err
	}
	for _, c := range chunks {
		if c.ID == id {
			return &Passage{
				Chunk:  c,
				Before: lastRunes(join(chunks, 0, c.Start), around),
				After:  firstRunes(join(chunks, c.End, end(chunks)), around),
			}, nil
		}
	}
	return nil, fmt.Errorf("passage %q: %w", id, ErrNotFound)
}

func (l *Lease) chunks(ctx context.Context, path string) ([]*record.Chunk, error) {
	chunks := []*record.Chunk{}
	for c, err := range l.Reader().Chunks(ctx, path, false) {
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

func end(chunks []*record.Chunk) int {
	at := 0
	for _, c := range chunks {
		at = max(at, c.End)
	}
	return at
}

// join is the text between two byte offsets of the document that chunks, in
// order, were cut from. What chunks repeat of one another is there once. White
// space that no chunk has is a line end in place of one character, an empty
// line in place of more.
func join(chunks []*record.Chunk, from, to int) string {
	var b strings.Builder
	at := from
	for _, c := range chunks {
		own := source(c)
		start := c.End - len(own)
		if at >= to {
			break
		}
		if c.End <= at || start >= to {
			continue
		}
		if start > at && at > 0 {
			b.WriteString(gap(start - at))
		}
		b.WriteString(own[max(at, start)-start : min(to, c.End)-start])
		at = c.End
	}
	if at > 0 && at < to {
		b.WriteString(gap(to - at)) // what follows begins behind it
	}
	return b.String()
}

func gap(length int) string { return "\n\n"[:min(length, 2)] }

// source is what a chunk has of its document's text: all but the rows of a
// table's header that were put in front of it.
func source(c *record.Chunk) string {
	if own := c.End - c.Start; own >= 0 && own < len(c.Text) {
		return c.Text[len(c.Text)-own:]
	}
	return c.Text
}

// firstRunes are the first n characters of s, or less where a grapheme would be
// cut; all of s with [All].
func firstRunes(s string, n int) string {
	if n == All || utf8.RuneCountInString(s) <= n {
		return s
	}
	return s[:text.LastBoundary(s, offset(s, n))]
}

// lastRunes are the last n characters of s, likewise.
func lastRunes(s string, n int) string {
	all := utf8.RuneCountInString(s)
	if n == All || all <= n {
		return s
	}
	at := offset(s, all-n)
	for !text.GraphemeBoundary(s, at) {
		at++
	}
	return s[at:]
}

// offset is where the n-th character of s begins, counted from 0.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
