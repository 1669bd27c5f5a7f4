package remote

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"

	"kb/pkg/store"
)

// entry is a document in a segment.
type entry struct {
	store.Document
	Row    string   `json:"row"`              // the key that the keys of its chunks and vectors begin with
	Lens   []int    `json:"lens"`             // tokens of each chunk
	Bare   []int    `json:"bare,omitempty"`   // chunks without a vector, where others have one; from 0
	Bytes  int      `json:"bytes"`            // of rows and vectors
	Blocks [][2]int `json:"blocks,omitempty"` // chunks and rows of each block of lines; none: one block of one row
}

// blocks are the blobs of lines and how many chunks each has.
func (e *entry) blocks() iter.Seq2[blob, int] {
	return func(yield func(blob, int) bool) {
		if len(e.Blocks) == 0 {
			if e.Chunks > 0 {
				yield(blob{Key: e.Row}, e.Chunks)
			}
			return
		}
		key := e.Row
		for i, b := range e.Blocks {
			if i > 0 {
				key = fmt.Sprintf("%s/b%d", e.Row, i)
			}
			if !yield(blob{Key: key, Pieces: b[1]}, b[0]) {
				return
			}
		}
	}
}

func (e *entry) hasVector(chunk int) bool {
	_, bare := slices.BinarySearch(e.Bare, chunk)
	return e.Vectors > 0 && !bare
}

func (e *entry) vectorKey(chunk int) string { return fmt.Sprintf("%s/%d", e.Row, chunk) }

// check refuses numbers that would lead a reader astray.
func (e *entry) check() error {
	n := 0
	for _, b := range e.Blocks {
		if b[0] < 1 || b[1] < 0 || b[1] > 1<<20 {
			return errors.New("a document with a block that cannot be")
		}
		n += b[0]
	}
	if e.Row == "" || e.Chunks < 0 || len(e.Lens) != e.Chunks || len(e.Blocks) > 0 && n != e.Chunks ||
		e.Vectors < 0 || e.Vectors > 0 && e.Vectors+len(e.Bare) != e.Chunks {
		return errors.New("a document with numbers that cannot be")
	}
	return nil
}

// segmentHead is the first line of a segment; an entry a line follows.
type segmentHead struct {
	First []string `json:"first"` // the first term of each row of postings
	Rows  []int    `json:"rows"`  // rows that it takes
}

// segment is a segment that was read.
type segment struct {
	ref   segmentRef
	head  segmentHead
	docs  []*entry
	dead  []byte
	first []int // chunk within the segment that each document begins with, and the end
}

func (s *segment) isDead(doc int) bool {
	return doc/8 < len(s.dead) && s.dead[doc/8]>>(doc%8)&1 != 0
}

// postingsBlob is the i-th row of postings.
func (s *segment) postingsBlob(i int) blob {
	return blob{Key: fmt.Sprintf("%s/p%d", s.ref.Blob.Key, i), Pieces: s.head.Rows[i]}
}

// find returns the row of postings that would hold a term, -1 if none.
func (s *segment) find(term string) int {
	return sort.Search(len(s.head.First), func(i int) bool { return s.head.First[i] > term }) - 1
}

// segments reads segments.
func (s *Store) segments(ctx context.Context, refs []segmentRef) ([]*segment, error) {
	var wanted []blob
	for _, r := range refs {
		wanted = append(wanted, r.Blob, r.Dead)
	}
	contents, err := s.blobs(ctx, wanted)
	if err != nil {
		return nil, err
	}
	out := make([]*segment, len(refs))
	for i, r := range refs {
		if out[i], err = parseSegment(r, contents[2*i]); err != nil {
			return nil, s.damaged(fmt.Errorf("segment %s: %w", r.Blob.Key, err))
		}
		out[i].dead = contents[2*i+1]
	}
	return out, nil
}

func parseSegment(ref segmentRef, content []byte) (*segment, error) {
	s := &segment{ref: ref, first: []int{0}}
	head, rest, _ := bytes.Cut(content, []byte{'\n'})
	if err := json.Unmarshal(head, &s.head); err != nil {
		return nil, err
	}
	if len(s.head.First) != len(s.head.Rows) || !slices.IsSorted(s.head.First) ||
		slices.ContainsFunc(s.head.Rows, func(n int) bool { return n < 0 || n > 1<<20 }) {
		return nil, errors.New("its first line is damaged")
	}
	for line := range bytes.Lines(rest) {
		e := &entry{}
		err := json.Unmarshal(line, e)
		if err == nil {
			err = e.check()
		}
		if err != nil {
			return nil, err
		}
		s.docs = append(s.docs, e)
		s.first = append(s.first, s.first[len(s.first)-1]+e.Chunks)
	}
	if n := s.first[len(s.docs)]; n != ref.Chunks {
		return nil, fmt.Errorf("it has %d chunks, the manifest says %d", n, ref.Chunks)
	}
	return s, nil
}

// builder gathers a segment in memory.
type builder struct {
	docs   []*entry
	chunks int
	terms  map[string]*list
	bytes  int // of terms and lists, about
}

// list is the postings of a term: for each chunk that holds it, the number of
// chunks since the posting before times two, plus one if it holds it once;
// else its frequency follows. All are varints as in encoding/binary.
type list struct {
	next int // the chunk after that of the last posting
	data []byte
}

func newBuilder() *builder { return &builder{terms: map[string]*list{}} }

// add adds a document. Its chunks have the numbers from b.chunks on.
func (b *builder) add(e *entry) {
	b.docs = append(b.docs, e)
	b.chunks += e.Chunks
	b.bytes += 512
}

// termOverhead is what a term costs in memory besides its bytes.
const termOverhead = 120

// post adds a posting; chunks rise for each term.
func (b *builder) post(term string, chunk, tf int) {
	l := b.terms[term]
	if l == nil {
		l = &list{}
		term = string(append([]byte(nil), term...)) // it may share the memory of a whole text
		b.terms[term] = l
		b.bytes += len(term) + termOverhead
	}
	before := len(l.data)
	gap := uint64(chunk-l.next) << 1
	if tf == 1 {
		l.data = binary.AppendUvarint(l.data, gap|1)
	} else {
		l.data = binary.AppendUvarint(binary.AppendUvarint(l.data, gap), uint64(tf))
	}
	l.next = chunk + 1
	b.bytes += len(l.data) - before
}

// tokens adds the postings of a chunk.
func (b *builder) tokens(chunk int, tokens []string) {
	tf := make(map[string]int, len(tokens))
	for _, t := range tokens {
		tf[t]++
	}
	for t, n := range tf {
		b.post(t, chunk, n)
	}
}

// postingsRow is how long a row of postings is, before it is compressed, unless
// one term alone is longer.
const postingsRow = 24 << 10

// rows are the rows of a segment under a key.
func (b *builder) rows(key, group string) (segmentRef, []Row, error) {
	var head segmentHead
	var rows []Row
	var content []byte
	flush := func() {
		if len(content) == 0 {
			return
		}
		p, packed := pack(fmt.Sprintf("%s/p%d", key, len(head.Rows)), group, content)
		head.Rows = append(head.Rows, p.Pieces)
		rows = append(rows, packed...)
		content = content[:0]
	}
	for _, term := range slices.Sorted(maps.Keys(b.terms)) {
		l := b.terms[term]
		if len(content)+len(l.data) > postingsRow {
			flush()
		}
		if len(content) == 0 {
			head.First = append(head.First, term)
		}
		content = appendBytes(appendBytes(content, []byte(term)), l.data)
	}
	flush()
	lines, err := json.Marshal(head)
	if err != nil {
		return segmentRef{}, nil, err
	}
	for _, e := range b.docs {
		line, err := json.Marshal(e)
		if err != nil {
			return segmentRef{}, nil, err
		}
		lines = append(append(lines, '\n'), line...)
	}
	seg, packed := pack(key, group, append(lines, '\n'))
	return segmentRef{Blob: seg, Chunks: b.chunks}, append(rows, packed...), nil
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

var errPostings = errors.New("postings that cannot be read")

// terms lists the terms of a row of postings and their lists.
func terms(content []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for len(content) > 0 {
			term, rest, ok := cutBytes(content)
			if !ok {
				return
			}
			data, rest, ok := cutBytes(rest)
			if !ok || !yield(string(term), data) {
				return
			}
			content = rest
		}
	}
}

func cutBytes(content []byte) (b, rest []byte, ok bool) {
	n, size := binary.Uvarint(content)
	if size <= 0 || n > uint64(len(content)-size) {
		return nil, nil, false
	}
	return content[size : size+int(n)], content[size+int(n):], true
}

// postings calls f with the chunks of a list, which are below the number of
// chunks, and how often each holds the term.
func postings(data []byte, chunks int, f func(chunk, tf int)) error {
	at := uint64(0)
	for len(data) > 0 {
		x, size := binary.Uvarint(data)
		if size <= 0 {
			return errPostings
		}
		data = data[size:]
		tf := uint64(1)
		if x&1 == 0 {
			if tf, size = binary.Uvarint(data); size <= 0 {
				return errPostings
			}
			data = data[size:]
		}
		if at += x >> 1; at >= uint64(chunks) || tf < 1 || tf > 1<<31 {
			return errPostings
		}
		f(int(at), int(tf))
		at++
	}
	return nil
}
