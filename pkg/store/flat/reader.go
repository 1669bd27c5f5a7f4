package flat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"kb/pkg/record"
	"kb/pkg/store"
)

// reader is one version of an index.
type reader struct {
	f        *file
	dec      *decoders
	head     header
	dir      *directory
	table    seekTable
	segments []segment
	first    []int64                        // ref of each segment's first chunk, and the end
	places   []atomic.Pointer[[]framePlace] // of each segment's frames, when first needed
	cursors  sync.Pool
	docs     func() (*documents, error)
	terms    func() (*termIndex, error)
	lengths  func() (*lengths, error)
	resident *resident // nil unless the index is kept in memory
	relaid   bool      // another program compressed the file
	closed   sync.Once
}

// newReader opens a file of this format. The file is the reader's even when it
// fails.
func newReader(f *file) (*reader, error) {
	dec, err := newDecoders(min(runtime.GOMAXPROCS(0), 8))
	if err != nil {
		f.close()
		return nil, err
	}
	r := &reader{f: f, dec: dec}
	if err := r.open(); err != nil {
		r.Close()
		return nil, err
	}
	r.cursors.New = func() any { return &cursor{r: r} }
	r.docs = sync.OnceValues(r.readDocuments)
	r.terms = sync.OnceValues(r.readTerms)
	r.lengths = sync.OnceValues(r.readLengths)
	return r, nil
}

func (r *reader) open() error {
	if err := r.isIndex(); err != nil {
		return err
	}
	table, ok, err := findSeekTable(r.f)
	if err != nil {
		return r.f.damaged(r.f.size, err)
	}
	if !ok {
		if table, err = r.relayout(); err != nil {
			return err
		}
	}
	r.table = table
	if err := r.readHeader(); err != nil {
		return r.f.damaged(0, err)
	}
	at, err := r.readDirectory()
	if err != nil {
		return r.f.damaged(at, err)
	}
	r.first = make([]int64, len(r.segments)+1)
	for i, s := range r.segments {
		r.first[i+1] = r.first[i] + int64(s.rows)
	}
	r.places = make([]atomic.Pointer[[]framePlace], len(r.segments))
	return nil
}

// otherFile is the fault of a file that may never have been an index, and must
// not be removed on our advice.
type otherFile struct{ what, hint string }

func (e *otherFile) Error() string { return e.what }

// Hint is the next step.
func (e *otherFile) Hint() string { return e.hint }

func errNoIndex() error {
	return &otherFile{
		"it does not begin with a zstd frame, so it is not a kb index (is --index right?), or its beginning is lost",
		"name the index with --index; of an index that lost its beginning, \"kb index --repair\" saves what is whole",
	}
}

// isIndex tells a damaged index from a file that never was one.
func (r *reader) isIndex() error {
	var magic [4]byte
	if r.f.size == 0 {
		return r.f.damaged(0, errors.New("the file is empty"))
	}
	if r.f.readAt(magic[:], 0) != nil || le.Uint32(magic[:]) != frameMagic {
		return r.f.damaged(0, errNoIndex())
	}
	return nil
}

func (r *reader) readHeader() error {
	entries, err := r.table.read(r.f, 0, 1)
	if err != nil {
		return err
	}
	line, err := r.oneLine(span{Length: int64(entries[0].compressed), Frames: 1})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, &r.head); err != nil {
		return err
	}
	return r.head.check()
}

func (r *reader) readDirectory() (at int64, err error) {
	entries, err := r.table.read(r.f, r.table.frames-1, 1)
	if err != nil {
		return r.table.start, err
	}
	at = r.table.start - int64(entries[0].compressed)
	line, err := r.oneLine(span{Offset: at, Length: r.table.start - at, Frame: r.table.frames - 1, Frames: 1})
	if err != nil {
		return at, err
	}
	r.dir = new(directory)
	if err := json.Unmarshal(line, r.dir); err != nil {
		return at, err
	}
	if r.dir.Kind != kindDirectory || !reflect.DeepEqual(r.dir.Header, r.head) {
		return at, errors.New("the last line is not the directory of this index")
	}
	r.segments, err = r.dir.layout(at, r.table.frames)
	return at, err
}

// oneLine reads a frame that holds one line.
func (r *reader) oneLine(s span) ([]byte, error) {
	if s.Frames != 1 {
		return nil, errors.New("a line in several frames")
	}
	at, err := r.table.places(r.f, s.Frame, 1, s.Offset, s.Offset+s.Length)
	if err != nil {
		return nil, err
	}
	content, err := r.content(at, 0, new(slot))
	if err != nil {
		return nil, err
	}
	line, rest, ok := bytes.Cut(content, []byte{'\n'})
	if !ok || len(rest) > 0 {
		return nil, errors.New("the frame does not hold one line")
	}
	return line, nil
}

var errForeign = errors.New("it is not the frame that was written there")

// content reads and decodes the i-th of some frames into a slot.
func (r *reader) content(at []framePlace, i int, s *slot) ([]byte, error) {
	off, end := at[i].offset, at[i+1].offset
	if off < 0 || end < off || end > r.f.size {
		return nil, errCut
	}
	if n := int(end - off); cap(s.in) < n {
		s.in = make([]byte, n)
	}
	s.in = s.in[:end-off]
	if err := r.f.readAt(s.in, off); err != nil {
		return nil, err
	}
	if n := len(s.in); n < checksumSize || le.Uint32(s.in[n-checksumSize:]) != at[i].checksum {
		return nil, errForeign
	}
	out, err := r.dec.decode(s.in, s.out[:0])
	if err != nil {
		return nil, err
	}
	s.out = out
	return out, nil
}

// framePlaces returns where the frames of a segment begin and end.
func (r *reader) framePlaces(seg int) ([]framePlace, error) {
	if at := r.places[seg].Load(); at != nil {
		return *at, nil
	}
	s := &r.segments[seg]
	at, err := r.table.places(r.f, s.frame, s.frames(), s.offset, r.segmentEnd(seg))
	if err != nil {
		return nil, r.f.damaged(r.table.start, err)
	}
	r.places[seg].Store(&at)
	return at, nil
}

// appendFrame appends the i-th frame of a segment as it is.
func (r *reader) appendFrame(f *frameSet, seg, i int) error {
	at, err := r.framePlaces(seg)
	if err != nil {
		return err
	}
	entries, err := r.table.read(r.f, r.segments[seg].frame+i, 1)
	if err != nil {
		return r.f.damaged(r.table.start, err)
	}
	n := len(f.data)
	f.data = append(f.data, make([]byte, at[i+1].offset-at[i].offset)...)
	if err := r.f.readAt(f.data[n:], at[i].offset); err != nil {
		return r.f.damaged(at[i].offset, err)
	}
	f.entries = append(f.entries, entries...)
	return nil
}

func (r *reader) segmentEnd(seg int) int64 {
	if seg+1 < len(r.segments) {
		return r.segments[seg+1].offset
	}
	return r.dir.Postings.Offset
}

// segmentOf returns the segment of a ref and its row in there.
func (r *reader) segmentOf(ref int64) (seg, row int) {
	seg = sort.Search(len(r.segments), func(i int) bool { return r.first[i+1] > ref })
	return seg, int(ref - r.first[seg])
}

// Info returns what the header says.
func (r *reader) Info() store.Info { return r.head.info(r.f.disk) }

// Close closes the file. Searches that still run fail.
func (r *reader) Close() error {
	var err error
	r.closed.Do(func() {
		r.dec.close()
		err = r.f.close()
	})
	return err
}

// documents are all documents with the ref of their first chunk.
type documents struct {
	list  []store.Document
	first []int64 // one more than documents
	lines []int   // number of the first document of each segment, and the end
}

// documentLine is a document as the file has it.
type documentLine struct {
	Kind string `json:"kind"`
	store.Document
}

func (r *reader) readDocuments() (*documents, error) {
	d := &documents{
		list:  make([]store.Document, 0, min(r.head.Documents, int(r.f.size))),
		first: []int64{0},
		lines: []int{0},
	}
	for seg, s := range r.segments {
		at, err := r.framePlaces(seg)
		if err != nil {
			return nil, err
		}
		for i := range s.documentFrames {
			if err := r.documentFrame(d, at, i); err != nil {
				return nil, r.f.damaged(at[i].offset, err)
			}
		}
		if len(d.list) != d.lines[seg]+s.documents {
			return nil, r.f.damaged(s.offset, errors.New("documents are missing"))
		}
		d.lines = append(d.lines, len(d.list))
	}
	if d.first[len(d.list)] != int64(r.head.Chunks) {
		return nil, r.f.damaged(0, errors.New("the documents do not have as many chunks as the index"))
	}
	return d, nil
}

func (r *reader) documentFrame(d *documents, at []framePlace, i int) error {
	content, err := r.content(at, i, new(slot))
	if err != nil {
		return err
	}
	for line := range bytes.Lines(content) {
		var doc documentLine
		if err := json.Unmarshal(line, &doc); err != nil {
			return err
		}
		if doc.Kind != record.KindDocument || doc.Chunks < 0 || doc.Chunks > r.head.Chunks {
			return errors.New("not a line of a document")
		}
		if n := len(d.list); n > 0 && d.list[n-1].Path >= doc.Path {
			return errors.New("the documents are not in the order of their paths")
		}
		d.list = append(d.list, doc.Document)
		d.first = append(d.first, d.first[len(d.first)-1]+int64(doc.Chunks))
	}
	return nil
}

// find returns the number of the document at a path.
func (d *documents) find(path string) (int, bool) {
	return sort.Find(len(d.list), func(i int) int {
		switch p := d.list[i].Path; {
		case path < p:
			return -1
		case path > p:
			return 1
		}
		return 0
	})
}

// Documents lists the documents by path.
func (r *reader) Documents(ctx context.Context) iter.Seq2[store.Document, error] {
	return func(yield func(store.Document, error) bool) {
		d, err := r.docs()
		if err != nil {
			yield(store.Document{}, err)
			return
		}
		for _, doc := range d.list {
			if err := ctx.Err(); err != nil {
				yield(store.Document{}, err)
				return
			}
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// Skipped lists the files that gave no document.
func (r *reader) Skipped(ctx context.Context) iter.Seq2[record.Skipped, error] {
	return func(yield func(record.Skipped, error) bool) {
		for rec, err := range r.lists(ctx) {
			if s, ok := rec.(*record.Skipped); ok && !yield(*s, nil) {
				return
			} else if err != nil {
				yield(record.Skipped{}, err)
				return
			}
		}
	}
}

// Roots lists the folders that were walked.
func (r *reader) Roots(ctx context.Context) iter.Seq2[record.Root, error] {
	return func(yield func(record.Root, error) bool) {
		for rec, err := range r.lists(ctx) {
			if s, ok := rec.(*record.Root); ok && !yield(*s, nil) {
				return
			} else if err != nil {
				yield(record.Root{}, err)
				return
			}
		}
	}
}

// lists yields the records of skipped files and roots.
func (r *reader) lists(ctx context.Context) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for content, err := range r.frames(ctx, r.dir.Lists) {
			if err != nil {
				yield(nil, err)
				return
			}
			for line := range bytes.Lines(content.text) {
				rec := record.New(record.KindOf(line))
				if rec == nil {
					continue
				}
				if err := record.Decode(line, rec); err != nil {
					yield(nil, r.f.damaged(content.offset, err))
					return
				}
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
}

// content is a decoded frame; the text is valid until the next one.
type content struct {
	offset int64
	length int64 // compressed
	text   []byte
}

// frames yields the frames of a span.
func (r *reader) frames(ctx context.Context, s span) iter.Seq2[content, error] {
	return func(yield func(content, error) bool) {
		at, err := r.table.places(r.f, s.Frame, s.Frames, s.Offset, s.Offset+s.Length)
		if err != nil {
			yield(content{}, r.f.damaged(r.table.start, err))
			return
		}
		var buf slot
		for i := range s.Frames {
			err := ctx.Err()
			var text []byte
			if err == nil {
				if text, err = r.content(at, i, &buf); err != nil {
					err = r.f.damaged(at[i].offset, err)
				}
			}
			if !yield(content{at[i].offset, at[i+1].offset - at[i].offset, text}, err) || err != nil {
				return
			}
		}
	}
}

// Chunks lists the chunks of a document, or of all.
func (r *reader) Chunks(ctx context.Context, path string, vectors bool) iter.Seq2[*record.Chunk, error] {
	return func(yield func(*record.Chunk, error) bool) {
		from, to := int64(0), int64(r.head.Chunks)
		if path != "" {
			d, err := r.docs()
			if err != nil {
				yield(nil, err)
				return
			}
			i, ok := d.find(path)
			if !ok {
				return
			}
			from, to = d.first[i], d.first[i+1]
		}
		c := r.cursor()
		defer r.release(c)
		for ref := from; ref < to; ref++ {
			chunk, err := c.record(ref, vectors)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(chunk, nil) {
				return
			}
		}
	}
}

// Fetch returns the chunks of the refs.
func (r *reader) Fetch(ctx context.Context, refs []store.Ref, vectors bool) ([]*record.Chunk, error) {
	order := make([]int, len(refs))
	for i, ref := range refs {
		if ref < 0 || int64(ref) >= int64(r.head.Chunks) {
			return nil, fmt.Errorf("%s: no chunk has the ref %d", r.f.name, ref)
		}
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return refs[order[a]] < refs[order[b]] })
	c := r.cursor()
	defer r.release(c)
	out := make([]*record.Chunk, len(refs))
	for _, i := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if out[i], err = c.record(int64(refs[i]), vectors); err != nil {
			return nil, err
		}
	}
	return out, nil
}
