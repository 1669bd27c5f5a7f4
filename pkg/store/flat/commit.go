package flat

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/text"
	"kb/pkg/vector"
)

// Commit writes the new version and puts it in the place of the old one.
func (t *tx) Commit(ctx context.Context, s store.Settings) (store.Info, error) {
	if t.done {
		return store.Info{}, errDone
	}
	if err := t.checkSettings(ctx, s); err != nil {
		return store.Info{}, fmt.Errorf("%s: %w", t.path, err)
	}
	p, err := t.plan(ctx, s)
	if err != nil {
		return store.Info{}, err
	}
	if p.head.Vectors > 0 && p.head.Dim == 0 || t.dim > 0 && p.head.Dim != t.dim {
		return store.Info{}, fmt.Errorf("%s: the settings say %d dimensions, the vectors have %d", t.path, p.head.Dim, t.dim)
	}
	if same, err := t.unchanged(ctx, p); err != nil || same {
		info := store.Info{}
		if err == nil {
			info = t.old.Info()
			t.Rollback()
		}
		return info, err
	}
	analyzer, err := text.NewAnalyzer(s.Analyzer)
	if err != nil {
		return store.Info{}, err
	}
	out, err := createOutput(t.target)
	if err != nil {
		return store.Info{}, err
	}
	w := &indexWriter{tx: t, plan: p, analyzer: analyzer, out: frameLayout{w: newFrameWriter(out)}}
	if err := w.write(ctx); err != nil {
		_ = w.out.w.wait() // before the file goes away
		out.abort()
		return store.Info{}, fmt.Errorf("writing %s: %w", t.path, err)
	}
	if t.old != nil {
		t.old.Close() // some systems do not replace a file that is open
	}
	if err := out.commit(); err != nil {
		return store.Info{}, fmt.Errorf("writing %s: %w", t.path, err)
	}
	t.Rollback()
	return p.head.info(w.out.w.off), nil
}

// checkSettings refuses settings under which the old vectors and postings mean
// something else. Without vectors only the analyzer matters, and then the
// texts are inverted again.
func (t *tx) checkSettings(ctx context.Context, s store.Settings) error {
	var was store.Info
	if t.old != nil && !t.reset {
		was = t.old.Info()
	}
	if err := store.CheckSettings(was, s); err != nil {
		return err
	}
	if was.Vectors > 0 || t.old == nil || t.reset || s.Analyzer == was.Analyzer {
		return nil
	}
	return t.carryAll(ctx)
}

// carryAll puts every document again that stays as it was.
func (t *tx) carryAll(ctx context.Context) error {
	d, err := t.old.docs()
	if err != nil {
		return err
	}
	for _, doc := range d.list {
		if t.puts[doc.Path] != nil || t.removed[doc.Path] {
			continue
		}
		var chunks []*record.Chunk
		for c, err := range t.old.Chunks(ctx, doc.Path, true) {
			if err != nil {
				return err
			}
			chunks = append(chunks, c)
		}
		if err := t.Put(ctx, doc, chunks); err != nil {
			return err
		}
	}
	return nil
}

// unchanged says whether the file would come out as it is. A document that was
// put counts as changed: that its chunks are the same does not prove that its
// vectors are.
func (t *tx) unchanged(ctx context.Context, p *plan) (bool, error) {
	if t.old == nil || t.reset || len(t.puts) > 0 || p.head.Version != t.old.head.Version {
		return false, nil
	}
	if len(p.docs) != len(p.old.list) {
		return false, nil
	}
	var lists [][]byte
	for r, err := range t.old.lists(ctx) {
		if err != nil {
			return false, err
		}
		line, err := record.Append(nil, r)
		if err != nil {
			return false, err
		}
		lists = append(lists, line)
	}
	return slices.EqualFunc(lists, p.lists, func(a, b []byte) bool { return string(a) == string(b) }), nil
}

// indexWriter writes a plan.
type indexWriter struct {
	*tx
	plan     *plan
	analyzer text.Analyzer
	out      frameLayout
	inverted inverted
	lens     []uint32
	frames   sync.Pool // of *[]byte: memory of frames that were written
}

func (w *indexWriter) write(ctx context.Context) error {
	if err := w.out.header(w.plan.head, w.plan.lists); err != nil {
		return err
	}
	w.lens = make([]uint32, w.plan.head.Chunks)
	for e, err := range ordered(slices.Values(w.plan.segments), func() func(planSegment) (*encoded, error) {
		return w.newSegmentWorker(ctx)
	}) {
		if err != nil {
			return err
		}
		if err := w.segment(ctx, e); err != nil {
			return err
		}
	}
	w.out.beginPostings()
	lists, err := w.lists(ctx)
	if err != nil {
		return err
	}
	for f, err := range ordered(contents(postingsLines(lists)), w.newPostingsWorker) {
		if err != nil {
			return err
		}
		if err := w.out.postingsFrame(f.first, f.frames); err != nil {
			return err
		}
		w.frames.Put(&f.frames.data)
	}
	return w.out.finish(lengthsLine(w.lens))
}

// segment writes what a worker made.
func (w *indexWriter) segment(ctx context.Context, e *encoded) error {
	if e.copies > 0 {
		return w.copy(ctx, e.old, e.copies)
	}
	for i, n := range e.lens {
		w.lens[e.first+int64(i)] = n
	}
	w.inverted.add(e.first, e.terms)
	err := w.out.segment(e.segment, e.frames)
	w.frames.Put(&e.frames.data)
	return err
}

// memory returns memory of frames that were written, or nil.
func (w *indexWriter) memory() []byte {
	if memory, ok := w.frames.Get().(*[]byte); ok {
		return (*memory)[:0]
	}
	return nil
}

// copy copies n segments of the old index.
func (w *indexWriter) copy(ctx context.Context, first, n int) error {
	for seg := first; seg < first+n; seg++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.out.copied(w.old, seg); err != nil {
			return err
		}
	}
	return nil
}

// lists merges the lists of the old index with the new ones.
func (w *indexWriter) lists(ctx context.Context) (iter.Seq2[termList, error], error) {
	added := w.inverted.sorted()
	if w.plan.old == nil || w.old.head.Chunks == 0 {
		return added, nil
	}
	m := newMerger(w.plan.rows(w.old.head.Chunks), w.plan.head.Chunks)
	if !slices.ContainsFunc(m.rows, func(row int32) bool { return row >= 0 }) {
		return added, nil
	}
	lens, err := w.old.lengths()
	if err != nil {
		return nil, err
	}
	rest := lens.text
	var one [1]uint32
	for _, row := range m.rows {
		if rest, err = nextLengths(one[:], rest); err != nil {
			return nil, w.old.f.damaged(w.old.dir.Lengths.Offset, err)
		}
		if row >= 0 {
			w.lens[row] = one[0]
		}
	}
	return m.merge(w.old.allPostings(ctx), added), nil
}

// encoded is a segment ready to be written, or some old ones in a row.
type encoded struct {
	old     int
	copies  int
	first   int64
	segment segment
	frames  *frameSet
	terms   []segmentTerm
	lens    []uint32 // of the new chunks; 0 where the old length is kept
}

// segmentWorker encodes segments, one after the other, in memory that it uses
// again: vectors of a segment are tens of megabytes.
type segmentWorker struct {
	*indexWriter
	ctx    context.Context
	enc    encoder
	c      *cursor
	inv    inverter
	arena  rowArena // of the vectors
	left   int      // rows of the segment that are still to come
	buf    []byte
	sparse vector.Row
}

func (w *indexWriter) newSegmentWorker(ctx context.Context) func(planSegment) (*encoded, error) {
	worker := &segmentWorker{indexWriter: w, ctx: ctx}
	return worker.encode
}

func (w *segmentWorker) encode(s planSegment) (*encoded, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	if s.old >= 0 {
		return &encoded{old: s.old, copies: s.copies}, nil
	}
	e := &encoded{first: s.first}
	if w.c == nil && w.old != nil {
		w.c = &cursor{r: w.old}
	}
	w.arena.reset()
	w.left = s.rows()
	lines := segmentLines{from: w.old, memory: w.memory()}
	for _, piece := range s.pieces {
		if err := w.piece(piece, &lines, e); err != nil {
			return nil, err
		}
	}
	e.terms = w.inv.done()
	var err error
	e.segment, e.frames, err = lines.frames(&w.enc, w.plan.head.Dim)
	return e, err
}

// piece collects the lines of one document of a segment.
func (w *segmentWorker) piece(piece piece, lines *segmentLines, e *encoded) error {
	d := &w.plan.docs[piece.doc]
	if piece.from == 0 {
		line, err := appendJSON(nil, documentLine{record.KindDocument, d.doc})
		if err == nil && len(line) >= maxLine {
			err = fmt.Errorf("%s: its meta data have %d bytes, the limit is %d", d.doc.Path, len(line), maxLine)
		}
		if err != nil {
			return err
		}
		lines.documents = append(lines.documents, line)
	}
	if d.pend == nil {
		return w.oldPiece(d, piece, lines, e)
	}
	p := d.pend.part(piece.from, piece.to)
	chunks, texts, err := p.readLines(&w.spill)
	if err != nil {
		return err
	}
	for i, text := range texts {
		tokens := w.analyzer.Tokens(text)
		w.inv.add(len(lines.chunks)+i, tokens)
		e.lens = append(e.lens, uint32(len(tokens)))
	}
	for range chunks {
		lines.refs = append(lines.refs, -1)
	}
	lines.chunks = append(lines.chunks, chunks...)
	lines.vectors, err = p.readVectors(&w.spill, lines.vectors, w.left, &w.arena, &w.buf)
	w.left -= len(chunks)
	return err
}

// oldPiece takes the lines of an old document whose segment changed.
func (w *segmentWorker) oldPiece(d *planned, piece piece, lines *segmentLines, e *encoded) error {
	for i := piece.from; i < piece.to; i++ {
		ref := w.plan.old.first[d.old] + int64(i)
		line, err := w.c.chunkLine(ref)
		if err != nil {
			return err
		}
		lines.chunks = append(lines.chunks, slices.Clone(line))
		row, err := w.c.row(ref)
		if err != nil {
			return err
		}
		if row.At == nil && w.old.head.Format != formatVersion { // in format 1 sparse ones are like this, too
			row = vector.RowOf(row.X, &w.sparse)
		}
		lines.vectors = append(lines.vectors, w.arena.copy(row, w.left))
		w.left--
		lines.refs = append(lines.refs, ref)
		e.lens = append(e.lens, 0)
	}
	return nil
}

// contents passes an error on as an item, so that workers may run over it.
func contents(seq iter.Seq2[postingsLine, error]) iter.Seq[result[postingsLine]] {
	return func(yield func(result[postingsLine]) bool) {
		for line, err := range seq {
			if !yield(result[postingsLine]{line, err}) {
				return
			}
		}
	}
}

// postingsFrames is a frame of postings and its first term.
type postingsFrames struct {
	first  string
	frames *frameSet
}

func (w *indexWriter) newPostingsWorker() func(result[postingsLine]) (postingsFrames, error) {
	enc := new(encoder)
	return func(l result[postingsLine]) (postingsFrames, error) {
		if l.err != nil {
			return postingsFrames{}, l.err
		}
		f := &frameSet{enc: enc, data: w.memory()}
		err := f.numbers(l.value.line)
		return postingsFrames{l.value.first, f}, err
	}
}
