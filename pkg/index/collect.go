package index

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kb/pkg/record"
	"kb/pkg/store"
)

// maxHeld is how many bytes of complete documents are held back before the
// store is locked to take them.
const maxHeld = 16 << 20

// collector gathers a stream. Documents that are complete wait in memory while
// they are few, so that a small change locks the store only when the stream
// has ended; once there are more, all of them go to the store's transaction,
// which keeps them apart until the commit.
type collector struct {
	opt      Options
	known    *state // of the last version seen; once tx is set, of the one that the lock protects
	tx       store.Tx
	reset    bool        // the transaction was reset
	written  []string    // paths that were put; some may have a newer reading since
	waiting  []*document // complete and changed, not yet put
	held     int         // bytes of these, about
	maxHeld  int
	settings store.Settings // of the chunks that have vectors
	vectors  bool           // some chunk has one
	first    string         // path of the first chunk with a vector, for messages
	docs     map[string]*document
	same     []string // paths that the caller knows to be unchanged
	skipped  map[string]record.Skipped
	roots    []record.Root
	export   *record.Export // what the stream says of the index that it comes from
	passed   []record.Record
}

// document is one document of the stream.
type document struct {
	hash   string
	of     int
	bySeq  map[int]*record.Chunk // those that came; nil once the document is complete
	chunks []*record.Chunk       // in order, while the document waits to be put
	meta   store.Document
	stats  record.Indexed
	failed int
	bare   int  // chunks that nobody tried to embed
	same   bool // complete, and equal to what the index had when it was
}

func newCollector(known *state, opt Options) *collector {
	return &collector{
		opt: opt, known: known, maxHeld: maxHeld,
		docs:    map[string]*document{},
		skipped: map[string]record.Skipped{},
	}
}

func (c *collector) add(r record.Record) error {
	switch r := r.(type) {
	case *record.Chunk:
		return c.addChunk(r)
	case *record.Skipped:
		if r.Path == "" {
			return errors.New(`a skipped file without "path"`)
		}
		c.skipped[r.Path] = *r
	case *record.Root:
		if r.Path == "" {
			return errors.New(`a root without "path"`)
		}
		c.roots = append(c.roots, *r)
	case *record.Export:
		if c.export != nil || len(c.docs) > 0 {
			return errors.New("an export goes ahead of all chunks, and alone")
		}
		c.export = r
	case *record.Document:
		return fmt.Errorf("%s: a document that was not chunked: put \"kb chunk\" before \"kb index\"", r.Path)
	case *record.Indexed:
		if r.Status == record.StatusUnchanged {
			c.same = append(c.same, r.Path)
		}
	default:
		c.passed = append(c.passed, r)
	}
	return nil
}

func (c *collector) addChunk(ch *record.Chunk) error {
	if err := c.checkChunk(ch); err != nil {
		return err
	}
	d := c.docs[ch.Path]
	if d == nil || d.hash != ch.Hash || d.of != ch.Of {
		// The first chunk, or a newer reading of the same file.
		d = &document{hash: ch.Hash, of: ch.Of, bySeq: map[int]*record.Chunk{}}
		c.docs[ch.Path] = d
	}
	if d.complete() {
		return nil // it came twice
	}
	d.bySeq[ch.Seq] = ch
	if len(d.bySeq) == d.of {
		c.finish(d)
	}
	return nil
}

func (d *document) complete() bool { return d.bySeq == nil }

// checkChunk refuses what cannot be indexed and fills in what follows from
// the rest.
func (c *collector) checkChunk(ch *record.Chunk) error {
	switch {
	case ch.Path == "":
		return errors.New(`a chunk without "path"`)
	case ch.Of < 1 || ch.Seq < 1 || ch.Seq > ch.Of:
		return fmt.Errorf("%s: chunk %d of %d: seq must lie between 1 and of", ch.Path, ch.Seq, ch.Of)
	}
	if ch.Document == "" {
		ch.Document = record.DocumentID(ch.Path)
	}
	if ch.ID == "" {
		ch.ID = record.ChunkID(ch.Document, ch.Seq, ch.Start, ch.Text)
	}
	if len(ch.Vector) == 0 {
		return nil
	}
	if err := ch.Vector.Check(); err != nil {
		return fmt.Errorf("%s: chunk %d of %d: %w", ch.Path, ch.Seq, ch.Of, err)
	}
	if ch.Model == "" {
		return fmt.Errorf("%s: chunk %d of %d has a vector but no \"model\"", ch.Path, ch.Seq, ch.Of)
	}
	s := store.Settings{Model: ch.Model, BaseURL: ch.BaseURL, Dim: len(ch.Vector),
		QueryPrefix: ch.QueryPrefix, DocumentPrefix: ch.DocumentPrefix}
	switch {
	case !c.vectors:
		c.settings, c.vectors, c.first = s, true, ch.Path
	case !sameFingerprint(s, c.settings):
		return fmt.Errorf("%s: vectors of %s with %d dimensions, but %s has vectors of %s with %d: embed all chunks in the same way",
			ch.Path, describe(s), s.Dim, c.first, describe(c.settings), c.settings.Dim)
	}
	return nil
}

// finish makes the store's view of a complete document, and lets go of chunks
// that the index has already.
func (c *collector) finish(d *document) {
	for seq := 1; seq <= d.of; seq++ {
		d.chunks = append(d.chunks, d.bySeq[seq])
	}
	d.bySeq = nil
	first := d.chunks[0]
	d.meta = store.Document{
		Path: first.Path, ID: first.Document, Hash: d.hash, Title: first.Title, Meta: first.Meta,
		Chunks: d.of, Sum: store.Sum(d.chunks),
	}
	d.stats = record.Indexed{Path: first.Path, Chunks: d.of}
	size := 0
	for _, ch := range d.chunks {
		size += len(ch.Text) + 4*len(ch.Vector)
		switch {
		case len(ch.Vector) > 0 && ch.Reused:
			d.meta.Vectors++
			d.stats.Reused++
		case len(ch.Vector) > 0:
			d.meta.Vectors++
			d.stats.Embedded++
		case ch.Error != "":
			d.failed++
		default:
			d.bare++
		}
		ch.Reused = false // of this run; the index is the same without it
	}
	if c.dropSame(d) {
		return
	}
	c.waiting = append(c.waiting, d)
	c.held += size
}

// dropSame lets go of the chunks of a document that the index has as it is.
func (c *collector) dropSame(d *document) bool {
	old, ok := c.known.docs[d.meta.Path]
	d.same = ok && sameDocument(old, d.meta) &&
		(d.meta.Vectors == 0 || sameFingerprint(c.known.info.Settings, c.settings))
	if d.same {
		d.chunks = nil
	}
	return d.same
}

// missing says which chunks of an incomplete document did not come.
func (d *document) missing() string {
	var gone []string
	for seq := 1; seq <= d.of && len(gone) <= 5; seq++ {
		if d.bySeq[seq] == nil {
			gone = append(gone, fmt.Sprint(seq))
		}
	}
	if len(gone) > 5 {
		gone[5] = "…"
	}
	return fmt.Sprintf("%d of %d chunks came (missing: %s)", len(d.bySeq), d.of, strings.Join(gone, ", "))
}

func (c *collector) paths() []string {
	paths := make([]string, 0, len(c.docs))
	for p := range c.docs {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}
