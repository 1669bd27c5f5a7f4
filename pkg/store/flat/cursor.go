package flat

import (
	"bytes"
	"fmt"

	"kb/pkg/record"
	"kb/pkg/vector"
)

// cursor reads chunks and vectors by ref. It keeps the frames it read last, so
// that refs in rising order decode each frame once. One goroutine at a time.
type cursor struct {
	r             *reader
	chunk, vector slot
	rows          rowReader
}

// slot is the memory of one frame.
type slot struct {
	in, out []byte
	loaded  bool
	offset  int64 // of the frame it holds
	lines   [][]byte
}

func (r *reader) cursor() *cursor    { return r.cursors.Get().(*cursor) }
func (r *reader) release(c *cursor)  { r.cursors.Put(c) }
func (s *slot) holds(off int64) bool { return s.loaded && s.offset == off }

// load makes the slot hold the i-th of some frames, which has n lines.
func (s *slot) load(r *reader, at []framePlace, i, n int) error {
	off := at[i].offset
	if s.holds(off) {
		return nil
	}
	s.loaded = false
	text, err := r.content(at, i, s)
	if err != nil {
		return r.f.damaged(off, err)
	}
	s.lines = s.lines[:0]
	for line := range bytes.Lines(text) {
		s.lines = append(s.lines, bytes.TrimSuffix(line, []byte{'\n'}))
	}
	if len(s.lines) != n {
		return r.f.damaged(off, fmt.Errorf("a frame has %d lines where %d were expected", len(s.lines), n))
	}
	s.offset, s.loaded = off, true
	return nil
}

// chunkLine returns the line of a chunk, valid until the next call.
func (c *cursor) chunkLine(ref int64) ([]byte, error) {
	seg, row := c.r.segmentOf(ref)
	s := &c.r.segments[seg]
	at, err := c.r.framePlaces(seg)
	if err != nil {
		return nil, err
	}
	k := s.documentFrames + row/s.perFrame
	n := min(s.perFrame, s.rows-row/s.perFrame*s.perFrame)
	if err := c.chunk.load(c.r, at, k, n); err != nil {
		return nil, err
	}
	return c.chunk.lines[row%s.perFrame], nil
}

// vectorFrame is a frame of vectors: its segment, and its number in there.
type vectorFrame struct{ seg, frame int }

func (r *reader) vectorFrame(ref int64) vectorFrame {
	seg, row := r.segmentOf(ref)
	return vectorFrame{seg, row / vectorsAFrame}
}

// vectorLine returns the line of a chunk's vector; nil in a segment without
// vectors.
func (c *cursor) vectorLine(ref int64) ([]byte, error) {
	seg, row := c.r.segmentOf(ref)
	s := &c.r.segments[seg]
	if s.vectors == 0 {
		return nil, nil
	}
	at, err := c.r.framePlaces(seg)
	if err != nil {
		return nil, err
	}
	k := s.documentFrames + s.chunkFrames() + row/vectorsAFrame
	n := min(vectorsAFrame, s.rows-row/vectorsAFrame*vectorsAFrame)
	if err := c.vector.load(c.r, at, k, n); err != nil {
		return nil, err
	}
	return c.vector.lines[row%vectorsAFrame], nil
}

// row reads the vector of a chunk, valid until the next call; its X is nil for a
// chunk without one.
func (c *cursor) row(ref int64) (vector.Row, error) {
	line, err := c.vectorLine(ref)
	if err != nil || line == nil {
		return vector.Row{}, err
	}
	row, err := c.rows.read(line, c.r.head.Dim)
	if err != nil {
		return vector.Row{}, c.r.f.damaged(c.vector.offset, err)
	}
	return row, nil
}

// record returns a chunk as it was put.
func (c *cursor) record(ref int64, vectors bool) (*record.Chunk, error) {
	line, err := c.chunkLine(ref)
	if err != nil {
		return nil, err
	}
	chunk := new(record.Chunk)
	if err := record.Decode(line, chunk); err != nil {
		return nil, c.r.f.damaged(c.chunk.offset, err)
	}
	if !vectors || c.r.head.Vectors == 0 {
		return chunk, nil
	}
	row, err := c.row(ref)
	if err != nil {
		return nil, err
	}
	if row.X != nil {
		chunk.Vector, chunk.Dim = make(record.Vector, c.r.head.Dim), c.r.head.Dim
		row.Expand(chunk.Vector)
		chunk.Model, chunk.BaseURL = c.r.head.Model, c.r.head.BaseURL
	}
	return chunk, nil
}
