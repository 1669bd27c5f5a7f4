package pgvector

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sort"
)

// layout says which documents a version has, in the order of their paths, and
// which numbers their chunks have. A document's chunks have consecutive
// numbers, given once and never again; the first is the document's id. Refs
// count the chunks of the version in the order of paths.
//
// It is kept with its version as, for each document by path, the zigzag varint
// of its id minus the number behind the document before, and the varint of its
// chunks: 2 to 4 bytes a document.
type layout struct {
	docs   []placed // by path
	byID   []int32  // numbers of docs, by id
	chunks int64
}

type placed struct {
	id, chunks int64
	ref        int64 // of the first chunk
}

func newLayout(docs []placed) *layout {
	l := &layout{docs: docs, byID: make([]int32, len(docs))}
	for i := range docs {
		docs[i].ref = l.chunks
		l.chunks += docs[i].chunks
		l.byID[i] = int32(i)
	}
	slices.SortFunc(l.byID, func(a, b int32) int { return cmp.Compare(docs[a].id, docs[b].id) })
	return l
}

func (l *layout) encode() []byte {
	var out []byte
	next := int64(0)
	for _, d := range l.docs {
		out = binary.AppendVarint(out, d.id-next)
		out = binary.AppendUvarint(out, uint64(d.chunks))
		next = d.id + d.chunks
	}
	return out
}

var errLayout = errors.New("the list of documents of this version cannot be read")

func decodeLayout(data []byte) (*layout, error) {
	var docs []placed
	next := int64(0)
	for len(data) > 0 {
		gap, n := binary.Varint(data)
		if n <= 0 {
			return nil, errLayout
		}
		chunks, m := binary.Uvarint(data[n:])
		if m <= 0 || chunks > 1<<40 {
			return nil, errLayout
		}
		data = data[n+m:]
		docs = append(docs, placed{id: next + gap, chunks: int64(chunks)})
		next += gap + int64(chunks)
	}
	return newLayout(docs), nil
}

// doc returns the number of the document that has a ref.
func (l *layout) doc(ref int64) int {
	return sort.Search(len(l.docs), func(i int) bool { return l.docs[i].ref > ref }) - 1
}

// number returns the number of the chunk with a ref.
func (l *layout) number(ref int64) int64 {
	d := &l.docs[l.doc(ref)]
	return d.id + ref - d.ref
}

// ref returns the ref of the chunk with a number; false where this version
// does not have it.
func (l *layout) ref(number int64) (int64, bool) {
	i := sort.Search(len(l.byID), func(i int) bool { return l.docs[l.byID[i]].id > number }) - 1
	if i < 0 {
		return 0, false
	}
	d := &l.docs[l.byID[i]]
	return d.ref + number - d.id, number < d.id+d.chunks
}

// walker finds refs of rising numbers: near ones step by step, others by a
// search.
type walker struct {
	l  *layout
	at int // into byID
}

func (w *walker) ref(number int64) (int64, bool) {
	id := func(i int) int64 { return w.l.docs[w.l.byID[i]].id }
	n := len(w.l.byID)
	for steps := 0; w.at+1 < n && id(w.at+1) <= number; steps++ {
		if steps == 16 {
			w.at += sort.Search(n-w.at-1, func(i int) bool { return id(w.at+1+i) > number })
			break
		}
		w.at++
	}
	if w.at >= n {
		return 0, false
	}
	d := &w.l.docs[w.l.byID[w.at]]
	return d.ref + number - d.id, number >= d.id && number < d.id+d.chunks
}
