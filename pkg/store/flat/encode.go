package flat

import (
	"errors"
	"fmt"
	"slices"

	"kb/pkg/record"
	"kb/pkg/vector"
)

// segmentLines are what a segment is made of: the lines of its documents and
// chunks, and a vector or none for each chunk; vectors is nil where no chunk has
// one. refs are the chunks in the index that they come from, -1 for new ones;
// nil where all are new.
type segmentLines struct {
	documents, chunks [][]byte
	vectors           []vector.Row
	refs              []int64
	from              *reader
	memory            []byte // of no length, to use for the frames
}

// frames encodes a segment. Its offsets and its frame number count from the
// segment's own beginning.
func (l *segmentLines) frames(enc *encoder, dim int) (segment, *frameSet, error) {
	f := &frameSet{enc: enc}
	s := segment{rows: len(l.chunks), documents: len(l.documents), perFrame: chunksPerFrame(l.chunks)}
	for _, v := range l.vectors {
		if v.X != nil {
			s.vectors++
		}
	}
	f.data = slices.Grow(l.memory, l.textSize())
	var err error
	if s.documentFrames, err = f.grouped(l.documents, documentFrame); err != nil {
		return s, nil, err
	}
	for i := 0; i < len(l.chunks); i += s.perFrame {
		end := min(i+s.perFrame, len(l.chunks))
		kept, err := l.keep(f, i, end, s.perFrame, false)
		if err == nil && !kept {
			err = f.text(joinLines(l.chunks[i:end]))
		}
		if err != nil {
			return s, nil, err
		}
	}
	if s.vectors == 0 {
		return s, f, nil
	}
	if err := l.vectorFrames(f, dim); err != nil {
		return s, nil, err
	}
	s.codes = int64(len(f.data))
	f.data = appendCodes(f.data, vector.Encode(l.vectors, dim))
	frame := f.data[s.codes:]
	f.entries = append(f.entries, entryOf(frame, int(le.Uint32(frame[frameHead-4:]))))
	return s, f, nil
}

// textSize is about how many bytes the frames of documents and chunks will
// have: growing such a slice step by step is an eighth of an update.
func (l *segmentLines) textSize() int {
	n := 64 << 10
	for _, line := range l.chunks {
		n += len(line) / 2
	}
	return n
}

// vectorFrames appends the frames of vectors. The first ones tell how much memory
// all of them and the codes will take: a dimension of a model needs 4.1 bytes, one
// of the offline embedder 0.4.
func (l *segmentLines) vectorFrames(f *frameSet, dim int) error {
	const sample = 16 * vectorsAFrame
	var content []byte
	var w rowWriter
	begin := len(f.data)
	for i := 0; i < len(l.chunks); i += vectorsAFrame {
		if i == sample {
			size := (len(f.data) - begin) / sample * (len(l.chunks) - sample) * 9 / 8
			f.data = slices.Grow(f.data, size+int(codesFrameSize(len(l.chunks), dim)))
		}
		end := min(i+vectorsAFrame, len(l.chunks))
		kept, err := l.keep(f, i, end, vectorsAFrame, true)
		if kept || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		content = content[:0]
		for j := i; j < end; j++ {
			id, err := chunkID(l.chunks[j])
			if err != nil {
				return err
			}
			content = w.append(content, id, l.vectors[j], dim)
		}
		if err := f.numbers(content); err != nil {
			return err
		}
	}
	return nil
}

// keep copies the frame of chunks, or of vectors, that the index has of exactly
// these rows, and says whether it has one: in a segment that changed, most
// frames before the change are as they were, and some behind it. They were
// decoded to get the lines, so they are known to be whole.
func (l *segmentLines) keep(f *frameSet, from, end, perFrame int, vectors bool) (bool, error) {
	if l.refs == nil || l.refs[from] < 0 || vectors && l.from.head.Format != formatVersion {
		return false, nil
	}
	for i := from; i < end; i++ {
		if l.refs[i] != l.refs[from]+int64(i-from) {
			return false, nil
		}
	}
	seg, row := l.from.segmentOf(l.refs[from])
	s := &l.from.segments[seg]
	frame := s.documentFrames + row/perFrame
	if vectors {
		frame += s.chunkFrames()
	}
	if row%perFrame != 0 || min(perFrame, s.rows-row) != end-from || vectors && s.vectors == 0 || !vectors && s.perFrame != perFrame {
		return false, nil
	}
	return true, l.from.appendFrame(f, seg, frame)
}

// chunksPerFrame is 16, or as many fewer as keep each frame below
// chunkFrameSize.
func chunksPerFrame(lines [][]byte) int {
	for n := chunksAFrame; n > 1; n /= 2 {
		size, fits := 0, true
		for i, line := range lines {
			if i%n == 0 {
				size = 0
			}
			size += len(line) + 1
			fits = fits && size <= chunkFrameSize
		}
		if fits {
			return n
		}
	}
	return 1
}

func joinLines(lines [][]byte) []byte {
	n := 0
	for _, l := range lines {
		n += len(l) + 1
	}
	out := make([]byte, 0, n)
	for _, l := range lines {
		out = append(append(out, l...), '\n')
	}
	return out
}

// chunkID reads the id from a line of a chunk, where it is the second field.
func chunkID(line []byte) (string, error) {
	id, ok := "", false
	record.Fields(line, func(key string, value []byte) bool {
		if key == "id" {
			id, ok = unquote(value), true
		}
		return !ok
	})
	if !ok {
		return "", errors.New("a chunk has no id")
	}
	return id, nil
}

// frameLayout writes the frames of a file in their order and keeps the
// directory: header, lists, segments, postings, terms and lengths, directory
// and seek table.
type frameLayout struct {
	w        *frameWriter
	enc      encoder
	head     header
	segments []segment
	lists    span
	postings span
	first    []string // term of each frame of postings
	terms    span
	lens     span
}

// header writes the first frame and the lists.
func (o *frameLayout) header(h header, lists [][]byte) error {
	o.head = h
	line, err := appendJSON(nil, h)
	if err != nil {
		return err
	}
	if _, err := o.line(line); err != nil {
		return err
	}
	f := frameSet{enc: &o.enc}
	n, err := f.grouped(lists, documentFrame)
	if err != nil {
		return err
	}
	o.lists = o.here(n)
	if err := o.w.write(f.data, f.entries...); err != nil {
		return err
	}
	o.lists.Length = o.w.off - o.lists.Offset
	return nil
}

// here is a span that begins at the end of what was written.
func (o *frameLayout) here(frames int) span {
	return span{Offset: o.w.off, Frame: len(o.w.entries), Frames: frames}
}

// line writes a frame of one line.
func (o *frameLayout) line(line []byte) (span, error) {
	f := frameSet{enc: &o.enc}
	if err := f.text(append(line, '\n')); err != nil {
		return span{}, err
	}
	s := o.here(1)
	err := o.w.write(f.data, f.entries...)
	s.Length = o.w.off - s.Offset
	return s, err
}

// segment writes the frames of a segment.
func (o *frameLayout) segment(s segment, f *frameSet) error {
	o.place(s)
	return o.w.write(f.data, f.entries...)
}

// copied copies a segment of another file.
func (o *frameLayout) copied(r *reader, seg int) error {
	s := r.segments[seg]
	off, end := s.offset, r.segmentEnd(seg)
	entries, err := r.table.read(r.f, s.frame, s.frames())
	if err != nil {
		return r.f.damaged(r.table.start, err)
	}
	if s.vectors > 0 {
		s.codes -= off
	}
	o.place(s)
	return o.w.copy(r.f, off, end, entries)
}

// place enters a segment, whose codes are given from its beginning.
func (o *frameLayout) place(s segment) {
	s.offset, s.frame = o.w.off, len(o.w.entries)
	if s.vectors > 0 {
		s.codes += s.offset
	}
	o.segments = append(o.segments, s)
}

// beginPostings ends the segments.
func (o *frameLayout) beginPostings() { o.postings = o.here(0) }

// postingsFrame writes one frame of postings.
func (o *frameLayout) postingsFrame(first string, f *frameSet) error {
	o.first = append(o.first, first)
	return o.w.write(f.data, f.entries...)
}

// finish writes everything behind the postings.
func (o *frameLayout) finish(lengthsLine []byte) error {
	o.postings.Length = o.w.off - o.postings.Offset
	o.postings.Frames = len(o.w.entries) - o.postings.Frame
	t := termIndex{Kind: kindTerms, First: o.first}
	if t.First == nil {
		t.First = []string{}
	}
	for _, e := range o.w.entries[o.postings.Frame:] {
		t.Lengths = append(t.Lengths, e.compressed)
	}
	line, err := appendJSON(nil, t)
	if err != nil {
		return err
	}
	if o.terms, err = o.line(line); err != nil {
		return err
	}
	if o.lens, err = o.line(lengthsLine); err != nil {
		return err
	}
	d := newDirectory(o.head, o.segments)
	d.Lists, d.Postings, d.Terms, d.Lengths = o.lists, o.postings, o.terms, o.lens
	if line, err = appendJSON(nil, d); err != nil {
		return err
	}
	if len(line) >= maxLine {
		return fmt.Errorf("the index is too large: its directory has %d bytes", len(line))
	}
	if _, err := o.line(line); err != nil {
		return err
	}
	return o.w.finish()
}
