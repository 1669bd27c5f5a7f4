package flat

import (
	"context"

	"kb/pkg/vector"
)

// resident is an index whose codes and vectors are kept in memory: a search
// then reads no file, at the price of five bytes a dimension of each chunk.
type resident struct {
	blocks  []*vector.Block
	vectors [][]float32 // of each segment, rows · dim
}

// block returns the codes of a segment; nil if they are not in memory.
func (m *resident) block(seg int) *vector.Block {
	if m == nil {
		return nil
	}
	return m.blocks[seg]
}

// vector returns the vector of a chunk.
func (m *resident) vector(ref int64, r *reader) []float32 {
	seg, row := r.segmentOf(ref)
	dim := r.head.Dim
	return m.vectors[seg][row*dim : (row+1)*dim]
}

// residentSize is how many bytes the codes and vectors take in memory.
func (r *reader) residentSize() int64 { return 5 * int64(r.head.Dim) * int64(r.head.Chunks) }

// Resident implements [store.Resident].
func (r *reader) Resident() int64 {
	if r.resident == nil {
		return 0
	}
	return r.residentSize()
}

// load reads all codes, vectors and lengths of the chunks.
func (r *reader) load(ctx context.Context) error {
	m := &resident{blocks: make([]*vector.Block, len(r.segments)), vectors: make([][]float32, len(r.segments))}
	err := parallel(len(r.segments), func() func(int) error {
		var codes codesReader
		c := r.cursor()
		return func(seg int) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return m.segment(r, seg, &codes, c)
		}
	})
	if err != nil {
		return err
	}
	lens, err := r.lengths()
	if err != nil {
		return err
	}
	all := make([]uint32, min(r.head.Chunks, len(lens.text)))
	if _, err := nextLengths(all, lens.text); err != nil || len(all) != r.head.Chunks {
		return r.f.damaged(r.dir.Lengths.Offset, errDigits)
	}
	lens.all = all
	r.resident = m
	return nil
}

func (m *resident) segment(r *reader, seg int, codes *codesReader, c *cursor) error {
	s := &r.segments[seg]
	if s.vectors == 0 {
		return nil
	}
	dim := r.head.Dim
	b := &vector.Block{Rows: s.rows, Dim: dim}
	checksum, err := r.codesChecksum(s)
	if err != nil {
		return r.f.damaged(r.table.start, err)
	}
	err = codes.run(r.f, s.codes, s.rows, dim, checksum, func(base, step []float32) {
		b.Base, b.Step = append(b.Base, base...), append(b.Step, step...)
		b.Codes = make([]byte, 0, s.rows*vector.Stride(dim))
	}, func(rows codeRows) bool {
		b.Codes = append(b.Codes, rows.codes...)
		b.Err = append(b.Err, rows.err...)
		return vector.Checked(rows.codes, vector.Stride(dim), rows.check)
	})
	if err != nil {
		return r.f.damaged(s.codes, err)
	}
	vectors := make([]float32, s.rows*dim)
	for row := range s.rows {
		v, err := c.row(r.first[seg] + int64(row))
		if err != nil {
			return err
		}
		v.Expand(vectors[row*dim : (row+1)*dim])
	}
	m.blocks[seg], m.vectors[seg] = b, vectors
	return nil
}
