package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/text"
)

// tx is one change of an index.
type tx struct {
	*Store
	lease    *lease
	group    string
	old      *reader // nil if there was no index
	reset    bool
	analyzer text.Analyzer     // of the postings
	table    string            // of vectors, "" until there is one
	created  string            // the table that this change made
	dim      int               // of the vectors that were put; 0 for none yet
	docs     map[string]*entry // that were put
	removed  map[string]bool   // paths that were removed, or put
	spent    []*entry          // entries that were put and replaced again
	seg      *builder          // of the segment that is being gathered
	parts    []*part           // segments that were written
	dropped  []*part           // those before a Reset
	count    int               // keys given out
	out      batch
	wrote    bool
	store.Lists
	done bool
}

// batch holds back rows and vectors, to write many at once.
type batch struct {
	rows    []Row
	vectors []Vector
	bytes   int
}

// maxBatch is how many bytes and how many rows are written at once.
const (
	maxBatch     = 4 << 20
	maxBatchRows = 1000
)

var errDone = errors.New("the change is over already")

// Begin takes the lease, and deletes what writers that died left behind.
func (s *Store) Begin(ctx context.Context, wait bool) (store.Tx, error) {
	l, err := s.lock(ctx, wait)
	if err != nil {
		return nil, err
	}
	t := &tx{Store: s, lease: l, group: l.group, docs: map[string]*entry{}, removed: map[string]bool{}, seg: newBuilder()}
	if err := t.begin(ctx); err != nil {
		l.release()
		return nil, err
	}
	return t, nil
}

func (t *tx) begin(ctx context.Context) error {
	if err := t.sweepDead(ctx); err != nil {
		return err
	}
	old, err := t.open(ctx)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	analyzer := ""
	if old != nil {
		t.old, analyzer, t.table = old, old.m.Analyzer, old.m.Table
	}
	t.analyzer, err = text.NewAnalyzer(analyzer)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name(), err)
	}
	return nil
}

// sweepDead finishes or deletes what writers that died left behind.
func (t *tx) sweepDead(ctx context.Context) error {
	changes, err := t.engine.List(ctx, kindChange)
	if err != nil {
		return err
	}
	for _, change := range changes {
		if err := t.giveUp(ctx, change.Group); err != nil {
			return err
		}
		m, err := t.newest(ctx)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if m == nil || m.Group != change.Group {
			if err := t.erase(ctx, change.Group, tableOf(change.Group), m); err != nil {
				return err
			}
		}
		if err := t.engine.Delete(ctx, []string{change.Key}); err != nil {
			return err
		}
	}
	return nil
}

// tableOf is the name of the table that a change makes if it needs one.
func tableOf(group string) string { return "v" + group }

// erase deletes all that a change wrote which is no part of the index.
func (s *Store) erase(ctx context.Context, group, created string, index *manifest) error {
	if created != "" {
		if err := s.engine.DropTable(ctx, created); err != nil {
			return err
		}
	}
	kept := ""
	if index != nil {
		kept = index.Table
	}
	return s.engine.DeleteGroup(ctx, group, kept)
}

// Reader is the version that the change starts from.
func (t *tx) Reader() store.Reader {
	if t.old == nil {
		return nil
	}
	return t.old
}

// Reset drops everything, what was put before included.
func (t *tx) Reset() {
	t.reset = true
	for _, e := range t.docs {
		t.spent = append(t.spent, e)
	}
	clear(t.docs)
	clear(t.removed)
	t.dropped = append(t.dropped, t.parts...)
	t.table, t.dim, t.seg, t.parts, t.out.vectors = "", 0, newBuilder(), nil, nil
	t.Skipped, t.Roots = new([]record.Skipped), new([]record.Root)
}

// Put adds or replaces a document.
func (t *tx) Put(ctx context.Context, doc store.Document, chunks []*record.Chunk) error {
	if t.done {
		return errDone
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	dim := t.dim
	if dim == 0 && !t.reset && t.old != nil && t.old.m.Vectors > 0 {
		dim = t.old.m.Settings.Dim
	}
	ready, dim, err := store.Prepare(&doc, chunks, dim)
	if err != nil {
		return err
	}
	if err := t.flushFull(ctx, len(ready)); err != nil {
		return err
	}
	e := &entry{Document: doc, Row: t.key("")}
	if err := t.putLines(e, ready); err != nil {
		return err
	}
	if err := t.putVectors(ctx, e, ready, dim); err != nil {
		return err
	}
	t.invert(t.seg, e, ready)
	t.forget(doc.Path)
	t.docs[doc.Path] = e
	return nil
}

// key gives out a key of this change.
func (t *tx) key(kind string) string {
	t.count++
	return fmt.Sprintf("%s/%s%d", t.group, kind, t.count)
}

// forget drops what was put at a path before.
func (t *tx) forget(path string) {
	if e := t.docs[path]; e != nil {
		t.spent = append(t.spent, e)
		delete(t.docs, path)
	}
	t.removed[path] = true
}

const (
	maxBlock       = 32 << 10 // bytes of a block of lines, unless one line alone is longer
	maxLine        = 64 << 20
	maxSegment     = 48 << 20 // bytes of a segment in memory
	maxMergeChunks = 200_000  // of segments that are still merged with others
	maxSegments    = 8
)

// putLines cuts the chunks into blocks and holds them back as rows.
func (t *tx) putLines(e *entry, chunks []*record.Chunk) error {
	var block []byte
	n := 0
	flush := func() {
		if n == 0 {
			return
		}
		key := e.Row
		if len(e.Blocks) > 0 {
			key = fmt.Sprintf("%s/b%d", e.Row, len(e.Blocks))
		}
		b, rows := pack(key, t.group, block)
		e.Blocks = append(e.Blocks, [2]int{n, b.Pieces})
		e.Bytes += t.out.add(rows)
		block, n = block[:0], 0
	}
	for _, c := range chunks {
		if len(block) >= maxBlock {
			flush()
		}
		before := len(block)
		var err error
		if block, err = store.AppendLine(block, c); err == nil && len(block)-before > maxLine {
			err = fmt.Errorf("it has %d bytes, the limit is %d", len(block)-before, maxLine)
		}
		if err != nil {
			return fmt.Errorf("%s: chunk %d: %w", e.Path, c.Seq, err)
		}
		block = append(block, '\n')
		n++
	}
	flush()
	if len(e.Blocks) == 1 && e.Blocks[0][1] == 0 {
		e.Blocks = nil
	}
	return nil
}

// add holds rows back and returns how long their data is.
func (b *batch) add(rows []Row) (n int) {
	b.rows = append(b.rows, rows...)
	for _, r := range rows {
		n += len(r.Data)
	}
	b.bytes += n
	return n
}

// putVectors holds the vectors back, and makes a table for the first.
func (t *tx) putVectors(ctx context.Context, e *entry, chunks []*record.Chunk, dim int) error {
	if e.Vectors == 0 {
		return nil
	}
	if t.table == "" {
		if err := t.register(ctx); err != nil {
			return err
		}
		if err := t.createTable(ctx, dim); err != nil {
			return err
		}
	}
	t.dim = dim
	for i, c := range chunks {
		if len(c.Vector) == 0 {
			e.Bare = append(e.Bare, i)
			continue
		}
		t.out.vectors = append(t.out.vectors, Vector{Key: e.vectorKey(i), Group: t.group, Vector: c.Vector})
		t.out.bytes += 4 * len(c.Vector)
		e.Bytes += 4 * len(c.Vector)
	}
	return nil
}

// createTable makes the table of this change. One that it made before a Reset
// may have another dimension.
func (t *tx) createTable(ctx context.Context, dim int) error {
	if t.created != "" {
		if err := t.engine.DropTable(ctx, t.created); err != nil {
			return err
		}
	}
	t.table, t.created = tableOf(t.group), tableOf(t.group)
	return t.engine.CreateTable(ctx, t.table, dim)
}

// invert adds a document and its postings to a segment, and counts its tokens.
func (t *tx) invert(b *builder, e *entry, chunks []*record.Chunk) {
	at := b.chunks
	b.add(e)
	e.Lens = make([]int, len(chunks))
	for i, c := range chunks {
		tokens := t.analyzer.Tokens(strings.ToValidUTF8(c.FullText(), "\ufffd"))
		e.Lens[i] = len(tokens)
		b.tokens(at+i, tokens)
	}
}

// register leaves a note of this change, so that what it writes can be found
// and deleted if it dies.
func (t *tx) register(ctx context.Context) error {
	if t.wrote {
		return nil
	}
	t.wrote = true
	return t.engine.Put(ctx, []Row{{Key: changeKey(t.group), Kind: kindChange, Group: t.group}})
}

// flushFull writes what is held back once it is much, or would be more than one
// request with so many chunks more: each request has a price of its own.
func (t *tx) flushFull(ctx context.Context, more int) error {
	if t.seg.bytes >= maxSegment {
		if err := t.closeSegment(); err != nil {
			return err
		}
	}
	if t.out.bytes < maxBatch && len(t.out.rows)+more <= maxBatchRows && len(t.out.vectors)+more <= maxBatchRows {
		return nil
	}
	return t.flush(ctx)
}

// flush writes what is held back.
func (t *tx) flush(ctx context.Context) error {
	if len(t.out.rows)+len(t.out.vectors) == 0 {
		return nil
	}
	if err := t.register(ctx); err != nil {
		return err
	}
	for rows := range slices.Chunk(t.out.rows, maxBatchRows) {
		if err := t.engine.Put(ctx, rows); err != nil {
			return err
		}
	}
	for vectors := range slices.Chunk(t.out.vectors, maxBatchRows) {
		if err := t.engine.PutVectors(ctx, t.table, vectors); err != nil {
			return err
		}
	}
	t.out = batch{}
	return nil
}

// closeSegment makes rows of the segment that is being gathered.
func (t *tx) closeSegment() error {
	if len(t.seg.docs) == 0 {
		return nil
	}
	p, err := t.writeSegment(t.seg)
	t.parts = append(t.parts, p)
	t.seg = newBuilder()
	return err
}

func (t *tx) writeSegment(b *builder) (*part, error) {
	ref, rows, err := b.rows(t.key("s"), t.group)
	ref.Bytes = t.out.add(rows)
	return &part{ref: ref, docs: b.docs}, err
}

// Remove drops the document at a path.
func (t *tx) Remove(_ context.Context, path string) error {
	if t.done {
		return errDone
	}
	t.forget(path)
	return nil
}

// Rollback deletes what was written and gives the lease back.
func (t *tx) Rollback() {
	if t.done {
		return
	}
	t.done = true
	if t.wrote {
		ctx, cancel := cleanup()
		defer cancel()
		var index *manifest
		if t.old != nil {
			index = t.old.m
		}
		if t.erase(ctx, t.group, t.created, index) == nil {
			// Else the next writer finds the note and does it.
			_ = t.engine.Delete(ctx, []string{changeKey(t.group)})
		}
	}
	t.lease.release()
}
