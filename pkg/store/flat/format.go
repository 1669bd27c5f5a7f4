package flat

import (
	"encoding/json"
	"errors"
	"fmt"

	"kb/pkg/store"
	"kb/pkg/vector"
)

// Version ladder. A reader accepts a file whose field "reader" is not above
// its own formatVersion.
//
//	1  the first format
//	2  vectors of which more than half is 0 have lines of their own form, see
//	   vectorline.go; in segments of such 0 has a code without an error (this a
//	   reader of format 1 understands)
const (
	formatVersion = 2
	oldestReader  = 2 // the oldest reader that understands what is written here
)

// Kinds of lines that occur in this file only.
const (
	kindIndex     = "index"
	kindVector    = "vector"
	kindCodes     = "codes"
	kindPostings  = "postings"
	kindTerms     = "terms"
	kindLengths   = "lengths"
	kindDirectory = "directory"
)

// Limits of the format.
const (
	maxLine        = 64 << 20 // of a line, and so of a frame that holds one line
	maxFrame       = 16 << 20 // of a frame that holds several lines
	maxRows        = 2048     // of a segment
	maxFrames      = 1 << 27  // of the seek table, by its specification
	vectorsAFrame  = 4
	chunksAFrame   = 16
	chunkFrameSize = 1 << 20  // beyond it a frame holds fewer than 16 chunks
	documentFrame  = 64 << 10 // documents a frame, by size
	postingsFrame  = 16 << 10 // a query reads one for each term
)

// header is the first line of the file, and is repeated in the directory.
type header struct {
	Kind    string `json:"kind"`
	Format  int    `json:"format"`
	Reader  int    `json:"reader"`
	Version string `json:"version"`
	store.Settings
	Documents int `json:"documents"`
	Chunks    int `json:"chunks"`
	Vectors   int `json:"vectors"`
}

func (h *header) check() error {
	switch {
	case h.Kind != kindIndex:
		return errors.New("the first line is not the header of an index")
	case h.Reader > formatVersion:
		return fmt.Errorf("%w: it needs a reader of format %d, this one reads up to %d", store.ErrNewer, h.Reader, formatVersion)
	case h.Dim < 0 || h.Dim > store.MaxDim:
		return fmt.Errorf("the header has dimension %d, the limit is %d", h.Dim, store.MaxDim)
	case h.Documents < 0 || h.Chunks < 0 || h.Vectors < 0 || h.Vectors > h.Chunks || h.Vectors > 0 && h.Dim == 0:
		return errors.New("the counts in the header contradict each other")
	}
	return nil
}

func (h *header) info(size int64) store.Info {
	return store.Info{
		Settings: h.Settings, Format: h.Format, Version: h.Version,
		Documents: h.Documents, Chunks: h.Chunks, Vectors: h.Vectors, Size: size,
	}
}

// span is a run of frames.
type span struct {
	Offset int64 `json:"offset"` // of the first
	Length int64 `json:"length"` // of all, in bytes
	Frame  int   `json:"frame"`  // number of the first
	Frames int   `json:"frames"`
}

// segment is the directory's entry of one segment: a run of chunks whose
// frames lie together, in the order documents, chunks, vectors, codes.
type segment struct {
	rows, vectors  int // chunks, and how many of them have a vector
	documents      int // document lines
	documentFrames int
	perFrame       int   // chunks a frame
	frame          int   // number of its first frame
	offset, codes  int64 // of its first frame, and of its codes frame (0: none)
}

func (s *segment) chunkFrames() int { return ceil(s.rows, s.perFrame) }

func (s *segment) vectorFrames() int {
	if s.vectors == 0 {
		return 0
	}
	return ceil(s.rows, vectorsAFrame)
}

func (s *segment) frames() int {
	n := s.documentFrames + s.chunkFrames() + s.vectorFrames()
	if s.vectors > 0 {
		n++
	}
	return n
}

func ceil(n, by int) int { return (n + by - 1) / by }

// directory is the last line of the file.
type directory struct {
	Kind           string `json:"kind"`
	Header         header `json:"header"`
	Segments       int    `json:"segments"`
	Rows           u32s   `json:"rows"`
	Vectors        u32s   `json:"vectors"`
	Documents      u32s   `json:"documents"`
	DocumentFrames u32s   `json:"document_frames"`
	ChunksPerFrame u32s   `json:"chunks_per_frame"`
	Frame          u32s   `json:"frame"`
	Offset         u64s   `json:"offset"`
	Codes          u64s   `json:"codes"`
	Lists          span   `json:"lists"`    // skipped files and roots
	Postings       span   `json:"postings"` //
	Terms          span   `json:"terms"`    // the first term of each frame of postings
	Lengths        span   `json:"lengths"`  // of the chunks, in tokens
}

func newDirectory(h header, segments []segment) *directory {
	d := &directory{Kind: kindDirectory, Header: h, Segments: len(segments)}
	for _, s := range segments {
		d.Rows = append(d.Rows, uint32(s.rows))
		d.Vectors = append(d.Vectors, uint32(s.vectors))
		d.Documents = append(d.Documents, uint32(s.documents))
		d.DocumentFrames = append(d.DocumentFrames, uint32(s.documentFrames))
		d.ChunksPerFrame = append(d.ChunksPerFrame, uint32(s.perFrame))
		d.Frame = append(d.Frame, uint32(s.frame))
		d.Offset = append(d.Offset, uint64(s.offset))
		d.Codes = append(d.Codes, uint64(s.codes))
	}
	return d
}

// layout checks everything in the directory against the header and the place
// where the frames end, and returns the segments.
func (d *directory) layout(end int64, frames int) ([]segment, error) {
	n := d.Segments
	for _, l := range []int{len(d.Rows), len(d.Vectors), len(d.Documents), len(d.DocumentFrames), len(d.ChunksPerFrame), len(d.Frame), len(d.Offset), len(d.Codes)} {
		if l != n {
			return nil, fmt.Errorf("the directory names %d segments and describes %d", n, l)
		}
	}
	for _, s := range []span{d.Lists, d.Postings, d.Terms, d.Lengths} {
		if s.Offset < 0 || s.Length < 0 || s.Offset > end || s.Length > end-s.Offset ||
			s.Frame < 0 || s.Frames < 0 || s.Frame > frames || s.Frames > frames-s.Frame {
			return nil, errors.New("the directory points outside of the file")
		}
	}
	segments := make([]segment, n)
	chunks, vectors, documents := 0, 0, 0
	for i := range segments {
		s := segment{
			rows: int(d.Rows[i]), vectors: int(d.Vectors[i]), documents: int(d.Documents[i]),
			documentFrames: int(d.DocumentFrames[i]), perFrame: int(d.ChunksPerFrame[i]),
			frame: int(d.Frame[i]), offset: int64(d.Offset[i]), codes: int64(d.Codes[i]),
		}
		if err := s.check(i, d, end, frames); err != nil {
			return nil, err
		}
		segments[i] = s
		chunks, vectors, documents = chunks+s.rows, vectors+s.vectors, documents+s.documents
	}
	h := d.Header
	if chunks != h.Chunks || vectors != h.Vectors || documents != h.Documents {
		return nil, fmt.Errorf("the directory has %d documents, %d chunks, %d vectors, the header %d, %d, %d",
			documents, chunks, vectors, h.Documents, h.Chunks, h.Vectors)
	}
	return segments, nil
}

func (s *segment) check(i int, d *directory, end int64, frames int) error {
	limit := d.Postings.Offset
	if i+1 < d.Segments {
		limit = int64(d.Offset[i+1])
	}
	switch {
	case s.rows > maxRows || s.vectors > s.rows || s.documentFrames > s.documents || s.perFrame < 1 || s.perFrame > chunksAFrame:
		return fmt.Errorf("segment %d of the directory has impossible counts", i)
	case s.offset < 0 || s.offset > limit || limit > end || s.frame < 0 || s.frame > frames || s.frames() > frames-s.frame:
		return fmt.Errorf("segment %d of the directory points outside of the file", i)
	case s.vectors == 0 && s.codes != 0:
		return fmt.Errorf("segment %d of the directory has codes and no vectors", i)
	case s.vectors > 0 && (s.codes < s.offset || s.codes+codesFrameSize(s.rows, d.Header.Dim) != limit):
		return fmt.Errorf("segment %d of the directory has its codes in a wrong place", i)
	}
	return nil
}

// u32s and u64s are arrays of little-endian integers, in base64 on the wire.
type (
	u32s []uint32
	u64s []uint64
)

func (u u32s) MarshalJSON() ([]byte, error) {
	raw := make([]byte, 0, 4*len(u))
	for _, x := range u {
		raw = le.AppendUint32(raw, x)
	}
	return json.Marshal(raw)
}

func (u *u32s) UnmarshalJSON(data []byte) error {
	raw, err := unbase64(data, 4)
	if err != nil {
		return err
	}
	*u = make(u32s, len(raw)/4)
	for i := range *u {
		(*u)[i] = le.Uint32(raw[4*i:])
	}
	return nil
}

func (u u64s) MarshalJSON() ([]byte, error) {
	raw := make([]byte, 0, 8*len(u))
	for _, x := range u {
		raw = le.AppendUint64(raw, x)
	}
	return json.Marshal(raw)
}

func (u *u64s) UnmarshalJSON(data []byte) error {
	raw, err := unbase64(data, 8)
	if err != nil {
		return err
	}
	*u = make(u64s, len(raw)/8)
	for i := range *u {
		(*u)[i] = le.Uint64(raw[8*i:])
	}
	return nil
}

func unbase64(data []byte, unit int) ([]byte, error) {
	var raw []byte
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, err
	}
	if len(raw)%unit != 0 {
		return nil, fmt.Errorf("%d bytes are no whole number of %d-byte integers", len(raw), unit)
	}
	return raw, nil
}

// codesFrameSize follows from the format alone, see codes.go.
func codesFrameSize(rows, dim int) int64 {
	if dim == 0 {
		return 0
	}
	stride := vector.Stride(dim)
	blocks := 2 + ceil(rows, rowsABlock(stride))
	return int64(frameHead+blockHead*blocks+len(codesPrefix(rows, dim))+codesArrays(rows, dim)+len(codesBegin)+len(codesEnd)+checksumSize) +
		int64(rows)*int64(stride)
}
