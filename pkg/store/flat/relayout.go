package flat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"kb/pkg/record"
	"kb/pkg/vector"
)

// A file without a seek table is still an index: any zstd tool may have
// decompressed and compressed it. It is read from front to end and laid out in
// memory as this package would have written it; codes, first terms and offsets
// are made again. That takes the time of a decompression and the memory of the
// file, so a file should not stay like this: the next change, or a repair,
// writes it back in its own form.

// relayoutSlack and relayoutRatio limit what a small file may unpack to.
const (
	relayoutSlack = 64 << 20
	relayoutRatio = 64
	maxWindowSize = 128 << 20 // zstd --long and --ultra stay below it
)

func (r *reader) relayout() (seekTable, error) {
	at := &countingReader{r: io.NewSectionReader(r.f.r, 0, r.f.size)}
	var image bytes.Buffer
	dir, err := lastLine(at, r.f.size)
	if err == nil {
		at = &countingReader{r: io.NewSectionReader(r.f.r, 0, r.f.size)}
		err = layOut(&image, at, r.f.size, dir)
	}
	if err != nil {
		return seekTable{}, r.f.damaged(at.n, err)
	}
	r.f.r, r.f.size = bytes.NewReader(image.Bytes()), int64(image.Len())
	r.relaid = true
	table, ok, err := findSeekTable(r.f)
	if err == nil && !ok {
		err = errors.New("no seek table")
	}
	return table, err
}

// countingReader knows how far it has read.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// lineReader reads the lines of a compressed stream.
type lineReader struct {
	z    *zstd.Decoder
	scan *bufio.Scanner
	held []byte // a line that was looked at
}

func newLineReader(r io.Reader, size int64) (*lineReader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindowSize), zstd.WithDecoderMaxMemory(maxWindowSize))
	if err != nil {
		return nil, err
	}
	limit := relayoutSlack + relayoutRatio*size
	scan := bufio.NewScanner(&limitedReader{z, limit})
	scan.Buffer(nil, maxLine)
	return &lineReader{z: z, scan: scan}, nil
}

// limitedReader fails where more comes than a file of its size may hold.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errors.New("it unpacks to more than its size can justify")
	}
	return n, err
}

// next returns a line, valid until the next call; nil at the end.
func (l *lineReader) next() ([]byte, error) {
	if line := l.held; line != nil {
		l.held = nil
		return line, nil
	}
	if l.scan.Scan() {
		return l.scan.Bytes(), nil
	}
	err := l.scan.Err()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCut
	}
	return nil, err
}

// of returns the next line, which must be of a kind.
func (l *lineReader) of(kind string) ([]byte, error) {
	line, err := l.next()
	if err != nil {
		return nil, err
	}
	if line == nil {
		return nil, errCut
	}
	if got := record.KindOf(line); got != kind {
		return nil, fmt.Errorf("a line of kind %q where one of kind %q was expected", got, kind)
	}
	return line, nil
}

// peek returns the kind of the next line.
func (l *lineReader) peek() (string, error) {
	line, err := l.next()
	l.held = line
	return record.KindOf(line), err
}

// lastLine reads everything to find the directory, which tells how many lines
// a segment has. Without it the file is cut off.
func lastLine(r io.Reader, size int64) (*directory, error) {
	l, err := newLineReader(r, size)
	if err != nil {
		return nil, err
	}
	defer l.z.Close()
	var last []byte
	for {
		line, err := l.next()
		if err != nil {
			return nil, err
		}
		if line == nil {
			break
		}
		last = append(last[:0], line...)
	}
	dir := new(directory)
	if record.KindOf(last) != kindDirectory {
		return nil, errors.New("the file is cut off: its last line is not the directory")
	}
	if err := json.Unmarshal(last, dir); err != nil {
		return nil, err
	}
	if n := dir.Segments; n != len(dir.Rows) || n != len(dir.Vectors) || n != len(dir.Documents) {
		return nil, errors.New("the directory contradicts itself")
	}
	return dir, nil
}

// layOut reads the lines again and writes them as frames.
func layOut(w io.Writer, r io.Reader, size int64, dir *directory) error {
	l, err := newLineReader(r, size)
	if err != nil {
		return err
	}
	defer l.z.Close()
	out := frameLayout{w: newFrameWriter(w)}
	defer func() { _ = out.w.wait() }() // an error ended this, or nothing is left
	if err := layOutHeader(&out, l); err != nil {
		return err
	}
	for i := range dir.Segments {
		if err := layOutSegment(&out, l, int(dir.Documents[i]), int(dir.Rows[i]), int(dir.Vectors[i])); err != nil {
			return err
		}
	}
	if err := layOutPostings(&out, l); err != nil {
		return err
	}
	line, err := l.of(kindLengths)
	if err != nil {
		return err
	}
	return out.finish(bytes.Clone(line))
}

func layOutHeader(out *frameLayout, l *lineReader) error {
	line, err := l.of(kindIndex)
	if err != nil {
		return err
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return err
	}
	if err := h.check(); err != nil {
		return err
	}
	var lists [][]byte
	for {
		kind, err := l.peek()
		if err != nil {
			return err
		}
		if kind != record.KindSkipped && kind != record.KindRoot {
			return out.header(h, lists)
		}
		line, _ := l.next() // held
		lists = append(lists, bytes.Clone(line))
	}
}

func layOutSegment(out *frameLayout, l *lineReader, documents, rows, vectors int) error {
	var lines segmentLines
	if rows > maxRows || vectors > rows {
		return errors.New("the directory has impossible counts")
	}
	for range documents {
		line, err := l.of(record.KindDocument)
		if err != nil {
			return err
		}
		lines.documents = append(lines.documents, bytes.Clone(line))
	}
	for range rows {
		line, err := l.of(record.KindChunk)
		if err != nil {
			return err
		}
		lines.chunks = append(lines.chunks, bytes.Clone(line))
	}
	if vectors > 0 {
		if err := lines.readVectors(l, out.head.Dim); err != nil {
			return err
		}
	}
	kind, err := l.peek()
	if err != nil {
		return err
	}
	if kind == kindCodes {
		l.held = nil
	}
	s, f, err := lines.frames(&out.enc, out.head.Dim)
	if err != nil {
		return err
	}
	if s.vectors != vectors {
		return fmt.Errorf("a segment has %d vectors, the directory says %d", s.vectors, vectors)
	}
	return out.segment(s, f)
}

func (s *segmentLines) readVectors(l *lineReader, dim int) error {
	var arena rowArena
	var memory vector.Row
	for i, chunk := range s.chunks {
		line, err := l.of(kindVector)
		if err != nil {
			return err
		}
		id, v, err := parseVectorLine(line)
		if err != nil {
			return err
		}
		if want, err := chunkID(chunk); err != nil || id != want || v != nil && len(v) != dim {
			return fmt.Errorf("the vector of chunk %q is not where it was expected, or of another dimension", id)
		}
		s.vectors = append(s.vectors, arena.copy(vector.RowOf(v, &memory), len(s.chunks)-i))
	}
	return nil
}

func layOutPostings(out *frameLayout, l *lineReader) error {
	out.beginPostings()
	for {
		kind, err := l.peek()
		if err != nil {
			return err
		}
		line := l.held
		switch kind {
		case kindPostings:
			lists, err := parsePostings(nil, line)
			if err != nil {
				return err
			}
			if len(lists) == 0 {
				return errors.New("a line of postings without a term")
			}
			f := &frameSet{enc: &out.enc}
			if err := f.numbers(append(bytes.Clone(line), '\n')); err != nil {
				return err
			}
			if err := out.postingsFrame(lists[0].term, f); err != nil {
				return err
			}
		case kindTerms:
		default:
			return nil
		}
		l.held = nil
	}
}
