package pgvector

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"unicode/utf8"

	"kb/pkg/record"
	"kb/pkg/store"
)

// reader is one version of the index. Each question is one statement on a
// connection of the pool; nothing is held in between.
type reader struct {
	store  *Store
	v      *version
	shared *shared
}

func (r *reader) Info() store.Info { return r.v.info }

// Close does nothing: a reader holds nothing.
func (r *reader) Close() error { return nil }

func (r *reader) damaged(err error) error {
	return &store.DamagedError{Name: r.store.name, Offset: -1, Err: err}
}

// query runs statements in one go and returns the rows of the last. Behind
// them it asks whether the version is still kept: if it is, nothing of it was
// removed before.
func (r *reader) query(ctx context.Context, doing string, statements ...statement) (rows, error) {
	kept := stmt(`SELECT 1 FROM `+r.store.table("versions")+` WHERE generation = $1::bigint`, itoa(r.v.generation))
	out, err := r.store.pool.run(ctx, append(statements, kept)...)
	if err != nil {
		return nil, r.store.explain(ctx, doing, err)
	}
	if len(out[len(out)-1]) == 0 {
		return nil, &Error{msg: fmt.Sprintf("%s: the version that is being read was replaced more than %v ago and is gone", r.store.name, r.store.opt.keep),
			hint: "open the index again"}
	}
	return out[len(out)-2], nil
}

// layout returns the documents' places, loaded once a version.
func (r *reader) layout(ctx context.Context) (*layout, error) {
	return r.shared.layout.get(func() (*layout, error) {
		found, err := r.query(ctx, "reading the index", stmt(`SELECT layout FROM `+r.store.table("versions")+
			` WHERE generation = $1::bigint`, itoa(r.v.generation)))
		if err != nil {
			return nil, err
		}
		l, err := decodeLayout(found[0][0])
		if err == nil && l.chunks != int64(r.v.info.Chunks) {
			err = errLayout
		}
		if err != nil {
			return nil, r.damaged(err)
		}
		return l, nil
	})
}

// documents returns the documents by path, loaded once a version: filters want
// them all.
func (r *reader) documents(ctx context.Context) ([]store.Document, error) {
	return r.shared.documents.get(func() ([]store.Document, error) {
		list := make([]store.Document, 0, min(r.v.info.Documents, 1<<20))
		for d, err := range r.Documents(ctx) {
			if err != nil {
				return nil, err
			}
			list = append(list, d)
		}
		return list, nil
	})
}

// page is how many documents or chunks are fetched at a time: no connection is
// held while the caller works on them.
const page = 500

// Documents lists the documents by path.
func (r *reader) Documents(ctx context.Context) iter.Seq2[store.Document, error] {
	return func(yield func(store.Document, error) bool) {
		n, after := 0, ""
		for n < r.v.info.Documents {
			found, err := r.query(ctx, "listing documents", stmt(`SELECT record, path FROM `+r.store.table("documents")+
				` WHERE born <= $1::bigint AND dead > $1::bigint AND path > $2 ORDER BY path LIMIT `+itoa(4*page), itoa(r.v.generation), after))
			if err == nil && len(found) == 0 {
				err = r.damaged(errors.New("documents are missing"))
			}
			if err != nil {
				yield(store.Document{}, err)
				return
			}
			for _, row := range found {
				var d store.Document
				if err := json.Unmarshal(row[0], &d); err != nil {
					yield(d, r.damaged(err))
					return
				}
				if !yield(d, nil) {
					return
				}
				n, after = n+1, string(row[1])
			}
		}
	}
}

// Skipped lists the files that gave no document.
func (r *reader) Skipped(ctx context.Context) iter.Seq2[record.Skipped, error] {
	return list[record.Skipped](ctx, r, "skipped")
}

// Roots lists the folders that were walked.
func (r *reader) Roots(ctx context.Context) iter.Seq2[record.Root, error] {
	return list[record.Root](ctx, r, "roots")
}

// list yields the records of a column that holds a line for each.
func list[T any, P interface {
	*T
	record.Record
}](ctx context.Context, r *reader, column string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		found, err := r.query(ctx, "reading the list of "+column, stmt(`SELECT `+column+` FROM `+r.store.table("versions")+
			` WHERE generation = $1::bigint`, itoa(r.v.generation)))
		if err != nil {
			yield(none, err)
			return
		}
		for line := range strings.Lines(string(found[0][0])) {
			var v T
			if err := record.Decode([]byte(line), P(&v)); err != nil {
				yield(none, r.damaged(err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// Chunks lists the chunks of a document, or of all.
func (r *reader) Chunks(ctx context.Context, path string, vectors bool) iter.Seq2[*record.Chunk, error] {
	return func(yield func(*record.Chunk, error) bool) {
		from, to, err := r.span(ctx, path)
		for ; err == nil && from < to; from += page {
			var refs []store.Ref
			for ref := from; ref < min(from+page, to); ref++ {
				refs = append(refs, store.Ref(ref))
			}
			var chunks []*record.Chunk
			chunks, err = r.Fetch(ctx, refs, vectors)
			for _, c := range chunks {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if !yield(c, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// span returns the refs of the chunks of a document, or of all.
func (r *reader) span(ctx context.Context, path string) (from, to int64, err error) {
	if path == "" {
		return 0, int64(r.v.info.Chunks), ctx.Err()
	}
	if !storable(path) {
		return 0, 0, ctx.Err()
	}
	l, err := r.layout(ctx)
	if err != nil {
		return 0, 0, err
	}
	found, err := r.query(ctx, "looking up "+path, stmt(`SELECT id, chunks FROM `+r.store.table("documents")+
		` WHERE born <= $1::bigint AND dead > $1::bigint AND path = $2`, itoa(r.v.generation), path))
	if err != nil || len(found) == 0 || int64At(found[0][1]) == 0 {
		return 0, 0, err
	}
	from, ok := l.ref(int64At(found[0][0]))
	if !ok {
		return 0, 0, r.damaged(fmt.Errorf("the chunks of %s are missing", path))
	}
	return from, from + int64At(found[0][1]), nil
}

// Fetch returns the chunks of the refs.
func (r *reader) Fetch(ctx context.Context, refs []store.Ref, vectors bool) ([]*record.Chunk, error) {
	for _, ref := range refs {
		if ref < 0 || int64(ref) >= int64(r.v.info.Chunks) {
			return nil, fmt.Errorf("%s: no chunk has the ref %d", r.store.name, ref)
		}
	}
	if len(refs) == 0 {
		return nil, ctx.Err()
	}
	l, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	numbers := make([]int64, len(refs))
	for i, ref := range refs {
		numbers[i] = l.number(int64(ref))
	}
	found, err := r.query(ctx, "fetching chunks", r.fetching(numbers, vectors))
	if err != nil {
		return nil, err
	}
	at := make(map[int64][][]byte, len(found))
	for _, row := range found {
		at[int64At(row[0])] = row
	}
	out := make([]*record.Chunk, len(refs))
	for i, number := range numbers {
		row, ok := at[number]
		if !ok {
			return nil, r.damaged(fmt.Errorf("the chunk with the number %d is missing", number))
		}
		if out[i], err = r.chunk(row); err != nil {
			return nil, r.damaged(err)
		}
	}
	return out, nil
}

func (r *reader) fetching(numbers []int64, vectors bool) statement {
	chunks := r.store.numbered("chunks", r.v.chunksTable)
	if !vectors || r.v.vectorsTable == 0 {
		return stmt(`SELECT number, record FROM `+chunks+` WHERE number = ANY($1::bigint[])`, intArray(numbers))
	}
	return stmt(`SELECT c.number, c.record, v.vector FROM `+chunks+` c LEFT JOIN `+r.store.numbered("vectors", r.v.vectorsTable)+
		` v USING (number) WHERE c.number = ANY($1::bigint[])`, intArray(numbers))
}

// chunk makes a chunk of a row: number, record and perhaps vector.
func (r *reader) chunk(row [][]byte) (*record.Chunk, error) {
	c := new(record.Chunk)
	if err := record.Decode(row[1], c); err != nil {
		return nil, err
	}
	if len(row) > 2 && row[2] != nil {
		v, err := decodeVector(row[2])
		if err != nil {
			return nil, err
		}
		c.Vector, c.Dim = v, len(v)
		c.Model, c.BaseURL = r.v.info.Model, r.v.info.BaseURL
	}
	return c, nil
}

// decodeVector reads a vector in the binary form of pgvector: dimensions and a
// zero, both of 16 bits, and the numbers, all big-endian.
func decodeVector(data []byte) (record.Vector, error) {
	if len(data) < 4 || len(data) != 4+4*int(binary.BigEndian.Uint16(data)) {
		return nil, errors.New("not a vector")
	}
	v := make(record.Vector, len(data)/4-1)
	for i := range v {
		v[i] = math.Float32frombits(binary.BigEndian.Uint32(data[4+4*i:]))
	}
	return v, nil
}

func appendVector(dst []byte, v record.Vector) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(v)))
	dst = binary.BigEndian.AppendUint16(dst, 0)
	for _, x := range v {
		dst = binary.BigEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// storable says whether a text can stand in a column of type text.
func storable(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}
