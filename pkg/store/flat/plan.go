package flat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/pkg/record"
	"kb/pkg/store"
)

// plan is the version that a commit will write.
type plan struct {
	docs     []planned
	first    []int64 // ref of each document's first chunk, and the end
	segments []planSegment
	head     header
	lists    [][]byte // lines of skipped files and roots
	old      *documents
}

// planned is one document: pending, or an old one by its number.
type planned struct {
	doc  store.Document
	pend *pending
	old  int
}

// planSegment is one segment; or as many as copies says, in a row, that are as they
// were in the old index: then old is the number of the first, else -1.
type planSegment struct {
	pieces []piece
	first  int64
	old    int
	copies int
}

// rows is how many chunks the segment has.
func (s *planSegment) rows() int {
	n := 0
	for _, p := range s.pieces {
		n += p.to - p.from
	}
	return n
}

// addSegment appends a segment, or has the run of copies before it go on: a run is
// one item of work, so that the segment behind it is encoded while it is copied.
func (p *plan) addSegment(s planSegment) {
	if s.old >= 0 {
		s.copies = 1
		if n := len(p.segments); n > 0 && p.segments[n-1].old >= 0 && p.segments[n-1].old+p.segments[n-1].copies == s.old {
			p.segments[n-1].copies++
			return
		}
	}
	p.segments = append(p.segments, s)
}

// plan merges what was put and removed into the old documents.
func (t *tx) plan(ctx context.Context, s store.Settings) (*plan, error) {
	p := &plan{}
	if err := t.planDocuments(p); err != nil {
		return nil, err
	}
	cuts := cutSegments(len(p.docs),
		func(i int) string { return p.docs[i].doc.Path },
		func(i int) int { return p.docs[i].doc.Chunks })
	p.first = []int64{0}
	for _, d := range p.docs {
		p.first = append(p.first, p.first[len(p.first)-1]+int64(d.doc.Chunks))
	}
	if last := p.first[len(p.docs)]; last > 1<<31-1 {
		return nil, fmt.Errorf("%d chunks are more than one file may have", last)
	}
	for _, pieces := range cuts {
		seg := planSegment{pieces: pieces, first: p.first[pieces[0].doc] + int64(pieces[0].from)}
		seg.old = t.sameSegment(p, seg)
		p.addSegment(seg)
	}
	if err := t.planLists(ctx, p); err != nil {
		return nil, err
	}
	p.head = planHeader(p.docs, s)
	return p, nil
}

func (t *tx) planDocuments(p *plan) error {
	if t.old != nil && !t.reset {
		var err error
		if p.old, err = t.old.docs(); err != nil {
			return err
		}
		for i, doc := range p.old.list {
			if t.puts[doc.Path] == nil && !t.removed[doc.Path] {
				p.docs = append(p.docs, planned{doc: doc, old: i})
			}
		}
	}
	for _, pend := range t.puts {
		p.docs = append(p.docs, planned{doc: pend.doc, pend: pend, old: -1})
	}
	slices.SortFunc(p.docs, func(a, b planned) int { return strings.Compare(a.doc.Path, b.doc.Path) })
	return nil
}

// sameSegment returns the number of the old segment that consists of the same
// documents, or -1. In a file of another format it would have another form.
func (t *tx) sameSegment(p *plan, seg planSegment) int {
	if p.old == nil || t.old.head.Format != formatVersion || p.docs[seg.pieces[0].doc].old < 0 {
		return -1
	}
	head := p.docs[seg.pieces[0].doc].old
	oldRef := p.old.first[head] + int64(seg.pieces[0].from)
	rows, lines, next := 0, 0, head
	for _, piece := range seg.pieces {
		if p.docs[piece.doc].old != next {
			return -1
		}
		next++
		rows += piece.to - piece.from
		if piece.from == 0 {
			lines++
		}
	}
	firstLine := head
	if seg.pieces[0].from > 0 {
		firstLine++
	}
	at, ok := slices.BinarySearch(t.old.first, oldRef)
	if !ok {
		return -1
	}
	// Segments without chunks begin at the same ref as the next one.
	for ; at < len(t.old.segments) && t.old.first[at] == oldRef; at++ {
		if s := t.old.segments[at]; s.rows == rows && s.documents == lines && p.old.lines[at] == firstLine {
			return at
		}
	}
	return -1
}

// planLists makes the lines of skipped files and roots.
func (t *tx) planLists(ctx context.Context, p *plan) error {
	var records []record.Record
	if t.Skipped != nil {
		for i := range *t.Skipped {
			records = append(records, &(*t.Skipped)[i])
		}
	} else if t.old != nil {
		for s, err := range t.old.Skipped(ctx) {
			if err != nil {
				return err
			}
			records = append(records, &s)
		}
	}
	if t.Roots != nil {
		for i := range *t.Roots {
			records = append(records, &(*t.Roots)[i])
		}
	} else if t.old != nil {
		for r, err := range t.old.Roots(ctx) {
			if err != nil {
				return err
			}
			records = append(records, &r)
		}
	}
	for _, r := range records {
		line, err := record.Append(nil, r)
		if err != nil {
			return err
		}
		p.lists = append(p.lists, line)
	}
	return nil
}

// planHeader counts, and makes the version.
func planHeader(docs []planned, s store.Settings) header {
	h := header{Kind: kindIndex, Format: formatVersion, Reader: oldestReader, Settings: s, Documents: len(docs)}
	h.Version = store.Version(s, func(yield func(*store.Document) bool) {
		for i := range docs {
			d := &docs[i].doc
			h.Chunks += d.Chunks
			h.Vectors += d.Vectors
			if !yield(d) {
				return
			}
		}
	})
	return h
}

// rows maps the chunks of the old index to those of the plan; -1 for one that
// is gone.
func (p *plan) rows(chunks int) []int32 {
	rows := make([]int32, chunks)
	for i := range rows {
		rows[i] = -1
	}
	for i, d := range p.docs {
		if d.old < 0 {
			continue
		}
		from := p.old.first[d.old]
		for j := range int64(d.doc.Chunks) {
			rows[from+j] = int32(p.first[i] + j)
		}
	}
	return rows
}
