package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kb/pkg/record"
	"kb/pkg/vector"
)

// MaxDim is how many dimensions a vector may have.
const MaxDim = 8192

// Prepare brings a document and its chunks into the form in which all stores
// keep them. It fills in what a document says of its chunks, and returns the
// chunks in the order of seq, as copies with what they say of their document
// and with vectors of unit length. It refuses vectors that cannot be searched:
// dim is the dimension that they must have, 0 for any. The new dim is that of
// the vectors seen.
func Prepare(doc *Document, chunks []*record.Chunk, dim int) (ready []*record.Chunk, newDim int, err error) {
	if doc.Path == "" || !utf8.ValidString(doc.Path) || strings.IndexByte(doc.Path, 0) >= 0 {
		return nil, dim, fmt.Errorf("document %q: its path is empty, not UTF-8, or has a zero byte", doc.Path)
	}
	if doc.ID == "" {
		doc.ID = record.DocumentID(doc.Path)
	}
	sorted := slices.Clone(chunks)
	slices.SortStableFunc(sorted, func(a, b *record.Chunk) int { return a.Seq - b.Seq })
	ready = make([]*record.Chunk, len(sorted))
	doc.Chunks, doc.Vectors, doc.Sum = len(sorted), 0, Sum(sorted)
	for i, c := range sorted {
		ready[i] = OfDocument(doc, c)
		if len(c.Vector) == 0 {
			continue
		}
		if dim == 0 {
			dim = len(c.Vector)
		}
		if ready[i].Vector, err = UnitVector(c.Vector, dim); err != nil {
			return nil, dim, fmt.Errorf("%s: chunk %d: %w", doc.Path, c.Seq, err)
		}
		doc.Vectors++
	}
	return ready, dim, nil
}

// OfDocument is a chunk with what it says of its document.
func OfDocument(doc *Document, c *record.Chunk) *record.Chunk {
	out := *c
	out.Document, out.Path, out.Hash = doc.ID, doc.Path, doc.Hash
	if out.Title == "" {
		out.Title = doc.Title
	}
	if len(out.Meta) == 0 {
		out.Meta = doc.Meta
	}
	return &out
}

// AppendLine appends a chunk as a line of JSON, without what its vector and
// the settings of the index say.
func AppendLine(dst []byte, c *record.Chunk) ([]byte, error) {
	line := *c
	line.Vector, line.Model, line.BaseURL, line.Dim = nil, "", "", 0
	return record.Append(dst, &line)
}

// UnitVector is v with unit length, if it can be searched in an index of dim
// dimensions.
func UnitVector(v record.Vector, dim int) (record.Vector, error) {
	if len(v) != dim {
		return nil, fmt.Errorf("its vector has %d dimensions, those of the index have %d", len(v), dim)
	}
	if dim > MaxDim {
		return nil, fmt.Errorf("its vector has %d dimensions, the limit is %d", dim, MaxDim)
	}
	if vector.IsUnit(v) {
		return v, nil
	}
	if err := v.Check(); err != nil {
		return nil, err
	}
	return vector.Unit(v), nil
}

// CheckSettings refuses settings under which the vectors and postings of an
// index mean something else; it must be reset to get such.
func CheckSettings(was Info, is Settings) error {
	if is.Dim < 0 || is.Dim > MaxDim {
		return fmt.Errorf("%d dimensions, the limit is %d", is.Dim, MaxDim)
	}
	old := was.Settings
	old.Calibration = is.Calibration
	if was.Vectors > 0 && old != is {
		return errors.New("the index has vectors of other settings; it must be reset to get new ones")
	}
	return nil
}

// Lists are the lists that a [Tx] was given, by path; nil where it leaves one as
// it is. It is a part of each implementation.
type Lists struct {
	Skipped *[]record.Skipped
	Roots   *[]record.Root
}

// SetSkipped replaces the list of skipped files.
func (l *Lists) SetSkipped(list []record.Skipped) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b record.Skipped) int { return strings.Compare(a.Path, b.Path) })
	l.Skipped = &list
}

// SetRoots replaces the list of roots.
func (l *Lists) SetRoots(list []record.Root) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b record.Root) int { return strings.Compare(a.Path, b.Path) })
	l.Roots = &list
}
