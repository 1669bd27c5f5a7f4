package flat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"kb/pkg/record"
	"kb/pkg/store"
)

// Repaired is the outcome of [Store.Repair].
type Repaired struct {
	Info    store.Info // of the index as it is now
	Faults  []*store.DamagedError
	Written bool   // false if there was nothing to repair
	Kept    int    // documents
	Lost    []Lost // documents that are not whole, by path
	// Unnamed is how many documents are lost of which not even the path is
	// left; -1 if it is unknown how many there were.
	Unnamed int
}

// Lost is a document that could not be kept. It is no longer in the index, so
// the next build makes it again.
type Lost struct {
	Path   string
	Reason string
}

// Repair writes the index again from everything in it that is whole: lines are
// taken from every frame whose checksum is right, documents are kept if all of
// their chunks and vectors are there, and codes and postings are made anew. It
// replaces the file only when it is done, and does nothing to a file without a
// fault. Only where both copies of the header are lost can it not know what
// the vectors mean, and says so.
func (s *Store) Repair(ctx context.Context, wait bool) (*Repaired, error) {
	report, err := s.Verify(ctx)
	if err != nil {
		return nil, err
	}
	out := &Repaired{Info: report.Info, Faults: report.Faults}
	if len(report.Faults) == 0 && !report.Relaid {
		out.Kept = report.Info.Documents
		return out, nil
	}
	t, err := s.lock(ctx, wait)
	if err != nil {
		return nil, err
	}
	defer t.Rollback()
	t.Reset()
	sv := newSalvage(t)
	defer sv.spill.close()
	if err := sv.readAll(ctx, s.path); err != nil {
		return nil, err
	}
	if sv.head == nil {
		return nil, &store.DamagedError{Name: s.path, Offset: 0, Err: &otherFile{
			"both copies of the header are lost, so nothing tells which model the vectors are of, or it never was a kb index",
			"is --index right? If the file was an index, remove it and run \"kb build\"",
		}}
	}
	if err := sv.put(ctx, t, out); err != nil {
		return nil, err
	}
	t.SetSkipped(sv.skipped)
	t.SetRoots(sv.roots)
	out.Unnamed = max(0, sv.head.Documents-out.Kept-len(out.Lost))
	settings := sv.head.Settings
	if out.Info, err = t.Commit(ctx, settings); err != nil {
		return nil, err
	}
	out.Written = true
	return out, nil
}

// salvage collects the lines that are whole.
type salvage struct {
	head      *header
	documents map[string]store.Document
	chunks    map[string][]salvaged // by path
	vectors   map[string]place      // by chunk's id
	skipped   []record.Skipped
	roots     []record.Root
	spill     spill
}

// place is where a line lies in the spill.
type place struct {
	at int64
	n  int
}

type salvaged struct {
	id       string
	seq, of  int
	contents place
}

func newSalvage(t *tx) *salvage {
	return &salvage{
		documents: map[string]store.Document{}, chunks: map[string][]salvaged{}, vectors: map[string]place{},
		spill: spill{dir: t.spill.dir, pattern: t.spill.pattern},
	}
}

// readAll also closes the file: some systems do not replace one that is open.
func (s *salvage) readAll(ctx context.Context, path string) error {
	f, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.close()
	return s.read(ctx, f)
}

func (s *salvage) read(ctx context.Context, f *file) error {
	dec, err := newDecoders(1)
	if err != nil {
		return err
	}
	defer dec.close()
	for w, err := range walk(ctx, f, dec) {
		if err != nil {
			if asDamage(err) == nil {
				return err
			}
			continue
		}
		for line := range bytes.Lines(w.text) {
			if err := s.line(bytes.TrimSuffix(line, []byte{'\n'})); err != nil {
				return err
			}
		}
	}
	return nil
}

// line takes one line. A line that cannot be read counts as lost; only a
// header of a newer format and a full disk are errors.
func (s *salvage) line(line []byte) error {
	switch record.KindOf(line) {
	case kindIndex:
		var h header
		if json.Unmarshal(line, &h) == nil {
			return s.header(h)
		}
	case kindDirectory:
		var d directory
		if json.Unmarshal(line, &d) == nil {
			return s.header(d.Header)
		}
	case record.KindDocument:
		var d documentLine
		if json.Unmarshal(line, &d) == nil && d.Path != "" {
			s.documents[d.Path] = d.Document
		}
	case record.KindChunk:
		return s.chunk(line)
	case kindVector:
		id, _, err := parseVectorLine(line)
		if err != nil {
			return nil
		}
		p, err := s.keep(line)
		s.vectors[id] = p
		return err
	case record.KindSkipped:
		var r record.Skipped
		if record.Decode(line, &r) == nil {
			s.skipped = append(s.skipped, r)
		}
	case record.KindRoot:
		var r record.Root
		if record.Decode(line, &r) == nil {
			s.roots = append(s.roots, r)
		}
	}
	return nil
}

func (s *salvage) header(h header) error {
	err := h.check()
	if errors.Is(err, store.ErrNewer) {
		return err
	}
	if err == nil && s.head == nil {
		s.head = &h
	}
	return nil
}

func (s *salvage) chunk(line []byte) error {
	var c record.Chunk
	if record.Decode(line, &c) != nil || c.Path == "" {
		return nil
	}
	p, err := s.keep(line)
	s.chunks[c.Path] = append(s.chunks[c.Path], salvaged{c.ID, c.Seq, c.Of, p})
	return err
}

func (s *salvage) keep(line []byte) (place, error) {
	at, err := s.spill.add(line)
	return place{at, len(line)}, err
}

// put puts every document that is whole.
func (s *salvage) put(ctx context.Context, t *tx, out *Repaired) error {
	paths := make([]string, 0, len(s.documents))
	for path := range s.documents {
		paths = append(paths, path)
	}
	for path := range s.chunks {
		if _, ok := s.documents[path]; !ok {
			paths = append(paths, path)
		}
	}
	sort.Strings(paths)
	for _, path := range paths {
		doc, chunks, err := s.document(path)
		if err == nil {
			if err = t.Put(ctx, doc, chunks); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err != nil {
			out.Lost = append(out.Lost, Lost{path, err.Error()})
			continue
		}
		out.Kept++
	}
	return nil
}

// document puts a document together; the error says what of it is lost.
func (s *salvage) document(path string) (store.Document, []*record.Chunk, error) {
	doc, known := s.documents[path]
	lines := s.chunks[path]
	slices.SortStableFunc(lines, func(a, b salvaged) int { return a.seq - b.seq })
	if known && len(lines) != doc.Chunks {
		return doc, nil, fmt.Errorf("%d of %d chunks are lost", doc.Chunks-len(lines), doc.Chunks)
	}
	if !known && !complete(lines) {
		return doc, nil, errors.New("its document and some of its chunks are lost")
	}
	chunks := make([]*record.Chunk, len(lines))
	vectors, missing := 0, 0
	for i, l := range lines {
		c, has, err := s.restore(l)
		if err != nil {
			return doc, nil, err
		}
		if len(c.Vector) > 0 {
			vectors++
		}
		if !has {
			missing++
		}
		chunks[i] = c
	}
	if known && vectors != doc.Vectors {
		return doc, nil, fmt.Errorf("%d of %d vectors are lost", doc.Vectors-vectors, doc.Vectors)
	}
	if !known && s.head.Vectors > 0 && missing > 0 {
		return doc, nil, fmt.Errorf("its document and %d of its vectors are lost", missing)
	}
	if !known {
		c := chunks[0]
		doc = store.Document{Path: path, ID: c.Document, Hash: c.Hash, Title: c.Title, Meta: c.Meta, MediaType: mediaType(path)}
	}
	return doc, chunks, nil
}

// complete says whether the chunks are 1 to n of n.
func complete(lines []salvaged) bool {
	for i, l := range lines {
		if l.seq != i+1 || l.of != len(lines) {
			return false
		}
	}
	return len(lines) > 0
}

// restore reads a chunk with its vector; has is false if there is no line of
// its vector.
func (s *salvage) restore(l salvaged) (c *record.Chunk, has bool, err error) {
	line, err := s.spill.read(l.contents.at, l.contents.n, nil)
	if err != nil {
		return nil, false, err
	}
	c = new(record.Chunk)
	if err := record.Decode(line, c); err != nil {
		return nil, false, err
	}
	at, has := s.vectors[l.id]
	if !has {
		return c, false, nil
	}
	if line, err = s.spill.read(at.at, at.n, nil); err != nil {
		return nil, true, err
	}
	_, v, err := parseVectorLine(line)
	if err == nil && v != nil && len(v) != s.head.Dim {
		err = fmt.Errorf("a vector has %d dimensions, those of the index have %d", len(v), s.head.Dim)
	}
	c.Vector = v
	return c, true, err
}

// mediaType is what load says of a file by its name, for a document whose own
// line is lost.
func mediaType(path string) string {
	switch path = strings.ToLower(path); {
	case strings.HasSuffix(path, ".md"), strings.HasSuffix(path, ".markdown"):
		return "text/markdown"
	case strings.HasSuffix(path, ".txt"):
		return "text/plain"
	case strings.HasSuffix(path, ".pdf"):
		return "application/pdf"
	}
	return ""
}
