package flat

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/flock"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/vector"
)

// tx is one change of an index.
type tx struct {
	path, target string
	lock         *flock.Flock
	old          *reader // nil if there was no index
	reset        bool
	puts         map[string]*pending
	removed      map[string]bool
	store.Lists
	spill  spill
	packed []byte     // memory for Put
	sparse vector.Row // and for a vector of its
	dim    int        // of the vectors that were put; 0 for none yet
	done   bool
}

// pending is a document that was put: its lines, texts and vectors lie in the
// spill, in this order.
type pending struct {
	doc  store.Document
	rows []pendingRow
	at   int64
	dim  int
}

// pendingRow has the lengths of what the spill has of a row; vector is 0 where
// there is none.
type pendingRow struct{ line, text, vector int }

var errDone = errors.New("the change is over already")

func newTx(path, target string, lock *flock.Flock) *tx {
	return &tx{
		path: path, target: target, lock: lock,
		puts: map[string]*pending{}, removed: map[string]bool{},
		spill: spill{dir: filepath.Dir(target), pattern: tempPrefix(target) + "*"},
	}
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
	clear(t.puts)
	clear(t.removed)
	t.spill.close()
	t.dim = 0
	t.Skipped, t.Roots = new([]record.Skipped), new([]record.Root)
}

// Put adds or replaces a document. It fills in what a document says of its
// chunks and what a chunk says of its document, brings vectors to unit length,
// and refuses vectors that cannot be searched.
func (t *tx) Put(ctx context.Context, doc store.Document, chunks []*record.Chunk) error {
	if t.done {
		return errDone
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if doc.Path == "" || !utf8.ValidString(doc.Path) {
		return fmt.Errorf("document %q: its path is empty or not UTF-8", doc.Path)
	}
	if doc.ID == "" {
		doc.ID = record.DocumentID(doc.Path)
	}
	chunks = slices.Clone(chunks)
	slices.SortStableFunc(chunks, func(a, b *record.Chunk) int { return a.Seq - b.Seq })
	p := &pending{doc: doc, rows: make([]pendingRow, len(chunks))}
	data, err := t.pack(p, chunks)
	if err != nil {
		return err
	}
	p.doc.Chunks, p.doc.Sum = len(chunks), store.Sum(chunks)
	if p.at, err = t.spill.add(data); err != nil {
		return err
	}
	t.packed = data
	t.puts[doc.Path] = p
	return nil
}

// pack returns lines, texts and vectors of the chunks in the memory of the last
// call.
func (t *tx) pack(p *pending, chunks []*record.Chunk) (data []byte, err error) {
	data = t.packed[:0]
	for i, c := range chunks {
		before := len(data)
		if data, err = appendChunk(data, &p.doc, c); err != nil {
			return nil, fmt.Errorf("%s: chunk %d: %w", p.doc.Path, c.Seq, err)
		}
		p.rows[i].line = len(data) - before
	}
	for i, c := range chunks {
		text := strings.ToValidUTF8(c.FullText(), "\ufffd") // as JSON stores it
		p.rows[i].text = len(text)
		data = append(data, text...)
	}
	return t.packVectors(data, p, chunks)
}

// packVectors appends the vectors of the chunks, and notes which chunk has one.
func (t *tx) packVectors(data []byte, p *pending, chunks []*record.Chunk) ([]byte, error) {
	p.doc.Vectors = 0
	dim := t.dim
	if dim == 0 && !t.reset && t.old != nil && t.old.head.Vectors > 0 {
		dim = t.old.head.Dim
	}
	for i, c := range chunks {
		if len(c.Vector) == 0 {
			continue
		}
		if dim == 0 {
			dim = len(c.Vector)
		}
		row, err := t.row(c.Vector, dim)
		if err != nil {
			return nil, fmt.Errorf("%s: chunk %d: %w", p.doc.Path, c.Seq, err)
		}
		before := len(data)
		data = appendRow(data, row)
		p.rows[i].vector = len(data) - before
		p.doc.Vectors++
	}
	if p.doc.Vectors != 0 {
		t.dim, p.dim = dim, dim
	}
	return data, nil
}

// row returns a vector in unit length, in memory of the last call.
func (t *tx) row(v record.Vector, dim int) (vector.Row, error) {
	if len(v) == dim && dim <= store.MaxDim {
		if row := vector.RowOf(v, &t.sparse); vector.IsUnit(row.X) { // zeros add nothing to a length
			return row, nil
		}
	}
	v, err := store.UnitVector(v, dim)
	if err != nil {
		return vector.Row{}, err
	}
	return vector.RowOf(v, &t.sparse), nil
}

// appendChunk appends the line of a chunk: without what vector and header say.
func appendChunk(dst []byte, doc *store.Document, c *record.Chunk) ([]byte, error) {
	before := len(dst)
	dst, err := store.AppendLine(dst, store.OfDocument(doc, c))
	if err == nil && len(dst)-before >= maxLine {
		err = fmt.Errorf("it has %d bytes, the limit is %d", len(dst)-before, maxLine)
	}
	return dst, err
}

// part is some rows of a pending document, and where their lines, texts and
// vectors begin in the spill.
type part struct {
	*pending
	rows                  []pendingRow
	lines, texts, vectors int64
}

// part returns the rows from one on and before another.
func (p *pending) part(from, to int) part {
	out := part{pending: p, rows: p.rows[from:to], lines: p.at}
	for i, r := range p.rows {
		out.texts += int64(r.line)
		out.vectors += int64(r.text)
		if i < from {
			out.lines += int64(r.line)
		}
	}
	out.texts += p.at
	out.vectors += out.texts
	for _, r := range p.rows[:from] {
		out.texts += int64(r.text)
		out.vectors += int64(r.vector)
	}
	return out
}

// readLines returns the lines and the texts.
func (p *part) readLines(s *spill) (lines [][]byte, texts []string, err error) {
	var lineSize, textSize int
	for _, r := range p.rows {
		lineSize += r.line
		textSize += r.text
	}
	data, err := s.read(p.lines, lineSize, nil)
	if err != nil {
		return nil, nil, err
	}
	raw, err := s.read(p.texts, textSize, nil)
	if err != nil {
		return nil, nil, err
	}
	all := string(raw)
	for _, r := range p.rows {
		lines = append(lines, data[:r.line:r.line])
		texts = append(texts, all[:r.text])
		data, all = data[r.line:], all[r.text:]
	}
	return lines, texts, nil
}

// readVectors appends a vector for each row to dst, in memory of the arena; left is
// how many vectors of this kind are still to come. buf is memory to use again.
func (p *part) readVectors(s *spill, dst []vector.Row, left int, a *rowArena, buf *[]byte) ([]vector.Row, error) {
	size := 0
	for _, r := range p.rows {
		size += r.vector
	}
	raw, err := s.read(p.vectors, size, *buf)
	if err != nil {
		return nil, err
	}
	if s.file != nil {
		*buf = raw
	}
	for i, r := range p.rows {
		row := vector.Row{}
		if r.vector > 0 {
			row = readRow(raw[:r.vector], p.dim, left-i, a)
		}
		dst, raw = append(dst, row), raw[r.vector:]
	}
	return dst, nil
}

// Remove drops the document at a path.
func (t *tx) Remove(_ context.Context, path string) error {
	if t.done {
		return errDone
	}
	delete(t.puts, path)
	t.removed[path] = true
	return nil
}

// Rollback gives the lock back and drops what was not committed.
func (t *tx) Rollback() {
	if t.done {
		return
	}
	t.done = true
	t.spill.close()
	if t.old != nil {
		t.old.Close()
	}
	t.lock.Close()
}
