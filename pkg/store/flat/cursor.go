package flat

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"

	"kb/pkg/record"
	"kb/pkg/store"
)

// cursor reads chunks and vectors by ref. It keeps the frames it read last, so
// that refs in rising order decode each frame once. One goroutine at a time.
type cursor struct {
	r             *reader
	chunk, vector slot
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

// vectorInto reads a vector into dst, which has the index's dimension; false
// if the chunk has none.
func (c *cursor) vectorInto(dst []float32, ref int64) (bool, error) {
	line, err := c.vectorLine(ref)
	if err != nil || line == nil {
		return false, err
	}
	text, err := vectorText(line)
	if err == nil && text != nil {
		err = floats(dst, text)
	}
	if err != nil {
		return false, c.r.f.damaged(c.vector.offset, err)
	}
	return text != nil, nil
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
	v := make(record.Vector, c.r.head.Dim)
	has, err := c.vectorInto(v, ref)
	if err != nil {
		return nil, err
	}
	if has {
		chunk.Vector, chunk.Dim = v, len(v)
		chunk.Model, chunk.BaseURL = c.r.head.Model, c.r.head.BaseURL
	}
	return chunk, nil
}

// Lines of vectors: {"kind":"vector","id":"…","vector":"…"}, or null for a
// chunk without one.
const (
	vectorBegin = `{"kind":"vector","id":`
	vectorField = `,"vector":`
)

func appendVectorLine(dst []byte, id string, v []float32) []byte {
	dst = append(dst, vectorBegin...)
	dst = record.AppendString(dst, id)
	dst = append(dst, vectorField...)
	if v == nil {
		return append(dst, "null}\n"...)
	}
	dst = append(dst, '"')
	dst = record.AppendFloats(dst, v)
	return append(dst, "\"}\n"...)
}

// vectorText returns the base64 of a line, nil for null.
func vectorText(line []byte) ([]byte, error) {
	if !bytes.HasPrefix(line, []byte(vectorBegin)) {
		return nil, errors.New("not a line of a vector")
	}
	// Quotes within the id are escaped, so the first match is the field.
	_, value, ok := bytes.Cut(line, []byte(vectorField))
	if ok && string(value) == "null}" {
		return nil, nil
	}
	text, ok1 := bytes.CutPrefix(value, []byte{'"'})
	text, ok2 := bytes.CutSuffix(text, []byte(`"}`))
	if !ok || !ok1 || !ok2 {
		return nil, errors.New("not a line of a vector")
	}
	return text, nil
}

// parseVectorLine reads a line of any dimension: its chunk's id and the vector,
// nil for null.
func parseVectorLine(line []byte) (id string, v []float32, err error) {
	text, err := vectorText(line)
	if err != nil {
		return "", nil, err
	}
	record.Fields(line, func(key string, value []byte) bool {
		if key == "id" {
			id = unquote(value)
		}
		return key != "id"
	})
	if text == nil {
		return id, nil, nil
	}
	n := base64.StdEncoding.DecodedLen(len(text))
	n -= bytes.Count(text[max(0, len(text)-2):], []byte{'='})
	if n%4 != 0 || n == 0 || n/4 > store.MaxDim {
		return "", nil, fmt.Errorf("%d bytes are no vector", n)
	}
	v = make([]float32, n/4)
	if err = floats(v, text); err != nil {
		return "", nil, err
	}
	return id, v, nil
}
