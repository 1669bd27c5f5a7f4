package flat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/vector"
)

// Report is the outcome of [Store.Verify].
type Report struct {
	Info   store.Info // zero if the header or the directory is damaged
	Frames int        // that were read
	Bytes  int64      // of text that they hold
	Faults []*store.DamagedError
	// Relaid is true for a file that another program compressed: it is valid,
	// slow to open, and [Store.Repair] writes it back in its own form.
	Relaid bool
}

// Verify reads everything and reports all faults: frames that cannot be read,
// lines that contradict each other, codes that break their bound, postings that
// do not add up. The error is for what kept it from reading at all.
func (s *Store) Verify(ctx context.Context) (*Report, error) {
	f, err := openFile(s.path)
	if err != nil {
		return nil, err
	}
	report := &Report{}
	dec, err := newDecoders(1)
	if err != nil {
		f.close()
		return nil, err
	}
	for w, err := range walk(ctx, f, dec) {
		if err != nil {
			if err := report.add(err); err != nil {
				dec.close()
				f.close()
				return nil, err
			}
			continue
		}
		if !w.more {
			report.Frames++
		}
		report.Bytes += int64(len(w.text))
	}
	dec.close()
	r, err := newReader(f)
	if err != nil {
		if len(report.Faults) > 0 && !errors.Is(err, store.ErrNewer) {
			return report, nil // the frames that are damaged explain it
		}
		return report, report.add(err)
	}
	defer r.Close()
	report.Info, report.Relaid = r.Info(), r.relaid
	if len(report.Faults) > 0 {
		return report, nil
	}
	v := &verifier{r: r, ctx: ctx, tokens: make([]uint64, r.head.Chunks)}
	for _, check := range []func() error{v.documents, v.segments, v.postings, v.lengths} {
		if err := check(); err != nil {
			if err := report.add(err); err != nil {
				return nil, err
			}
		}
	}
	return report, nil
}

// add takes damage into the report and returns any other error.
func (r *Report) add(err error) error {
	d := asDamage(err)
	if d == nil || errors.Is(err, store.ErrNewer) {
		return err
	}
	r.Faults = append(r.Faults, d)
	return nil
}

// verifier checks that the lines of a file whose frames are whole belong
// together.
type verifier struct {
	r      *reader
	ctx    context.Context
	tokens []uint64 // of each chunk, added up from the postings
}

func (v *verifier) documents() error {
	d, err := v.r.docs()
	if err != nil {
		return err
	}
	docs := make([]planned, len(d.list))
	for i := range docs {
		docs[i].doc = d.list[i]
	}
	if want := planHeader(docs, v.r.head.Settings); want.Version != v.r.head.Version || want.Vectors != v.r.head.Vectors {
		return v.r.f.damaged(0, errors.New("the header does not match the documents"))
	}
	for _, err := range v.r.lists(v.ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) segments() error {
	d, err := v.r.docs()
	if err != nil {
		return nil // it is reported already
	}
	c := v.r.cursor()
	defer v.r.release(c)
	for i, doc := range d.list {
		vectors := 0
		for ref := d.first[i]; ref < d.first[i+1]; ref++ {
			if err := v.ctx.Err(); err != nil {
				return err
			}
			chunk, err := c.record(ref, true)
			if err != nil {
				return err
			}
			if chunk.Vector != nil {
				vectors++
			}
			if err := v.chunk(&doc, chunk, c, ref); err != nil {
				return v.r.f.damaged(c.chunk.offset, fmt.Errorf("chunk %d: %w", ref, err))
			}
		}
		if vectors != doc.Vectors {
			return v.r.f.damaged(0, fmt.Errorf("%s has %d vectors, its document says %d", doc.Path, vectors, doc.Vectors))
		}
	}
	for seg := range v.r.segments {
		if err := v.codes(seg, c); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) chunk(doc *store.Document, chunk *record.Chunk, c *cursor, ref int64) error {
	if chunk.Path != doc.Path || chunk.Document != doc.ID || chunk.Hash != doc.Hash {
		return fmt.Errorf("it is of %q and stands in %q", chunk.Path, doc.Path)
	}
	line, err := c.vectorLine(ref)
	if err != nil || line == nil {
		return err
	}
	id, x, err := parseVectorLine(line)
	switch {
	case err != nil:
		return err
	case id != chunk.ID:
		return fmt.Errorf("the vector of %q stands in its place", id)
	case x != nil && vector.Unit(x) == nil || x != nil && math.Abs(vector.Score(x, x)-1) > 1e-6:
		return errors.New("its vector has not unit length")
	}
	return nil
}

// codes proves the error bound of each row.
func (v *verifier) codes(seg int, c *cursor) error {
	s := &v.r.segments[seg]
	if s.vectors == 0 {
		return nil
	}
	m := &resident{blocks: make([]*vector.Block, seg+1), vectors: make([][]float32, seg+1)}
	if err := m.segment(v.r, seg, new(codesReader), c); err != nil {
		return err
	}
	b := m.blocks[seg]
	for row := range s.rows {
		line, err := c.row(v.r.first[seg] + int64(row))
		if err != nil {
			return err
		}
		has := line.X != nil
		x := m.vectors[seg][row*b.Dim : (row+1)*b.Dim]
		if has != (b.Err[row] != vector.NoVector) || has && b.RowError(row, x) > float64(b.Err[row]) {
			return v.r.f.damaged(s.codes, fmt.Errorf("the codes of chunk %d do not fit its vector", v.r.first[seg]+int64(row)))
		}
	}
	if slices.ContainsFunc(b.Codes, func(c byte) bool { return !vector.IsCode(c) }) {
		return v.r.f.damaged(s.codes, errors.New("a code is outside of the alphabet"))
	}
	return nil
}

// postings checks the order of terms and rows, and adds up the tokens.
func (v *verifier) postings() error {
	index, err := v.r.terms()
	if err != nil {
		return err
	}
	last, frame := "", 0
	for f, err := range v.r.frames(v.ctx, v.r.dir.Postings) {
		if err != nil {
			return err
		}
		lists, err := parsePostings(nil, bytes.TrimSuffix(f.text, []byte{'\n'}))
		if err == nil && (len(lists) == 0 || frame >= len(index.First) || lists[0].term != index.First[frame]) {
			err = errors.New("it does not begin with the term that the list of first terms names")
		}
		for _, l := range lists {
			if err == nil && last != "" && l.term <= last {
				err = fmt.Errorf("the term %q is out of order", l.term)
			}
			if err == nil {
				err = v.list(l)
			}
			last = l.term
		}
		if err != nil {
			return v.r.f.damaged(f.offset, err)
		}
		frame++
	}
	return nil
}

func (v *verifier) list(l termList) error {
	p, err := newList(l.digits, v.r.head.Chunks)
	if err == nil && p.row == p.n {
		err = errors.New("it is empty")
	}
	for ; err == nil && p.row < p.n; err = p.next() {
		v.tokens[p.row] += uint64(p.tf)
	}
	if err != nil {
		return fmt.Errorf("postings of %q: %w", l.term, err)
	}
	return nil
}

func (v *verifier) lengths() error {
	l, err := v.r.lengths()
	if err != nil {
		return err
	}
	at := v.r.dir.Lengths.Offset
	rest, total := l.text, uint64(0)
	var one [1]uint32
	for i, want := range v.tokens {
		if rest, err = nextLengths(one[:], rest); err != nil {
			return v.r.f.damaged(at, err)
		}
		if uint64(one[0]) != want {
			return v.r.f.damaged(at, fmt.Errorf("chunk %d has %d tokens, its postings have %d", i, one[0], want))
		}
		total += uint64(one[0])
	}
	if len(rest) > 0 || total != l.tokens {
		return v.r.f.damaged(at, errors.New("the lengths do not add up"))
	}
	return nil
}
