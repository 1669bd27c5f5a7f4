package flat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"kb/pkg/bm25"
	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/vector"
)

// BM25 from postings, in windows.
//
// Each term's list is found by a binary search over the first term of each
// frame, so a query reads one frame of 16 KiB for each of its terms, the list
// of first terms, and the lengths of the chunks. A first pass over the lists
// counts them, which gives the idf. A second one adds up the scores of 8,192
// chunks at a time: all lists up to the end of the window, term after term,
// into one small array, from which the best leave. This touches 100 KiB of
// memory, whatever the size of the index; an array over all chunks would cost
// more in page faults than the scoring itself.

const window = 8192

// termIndex is the line of first terms.
type termIndex struct {
	Kind    string   `json:"kind"`
	First   []string `json:"first"`   // term of each frame of postings
	Lengths u32s     `json:"lengths"` // of the frames, compressed
	offsets []int64
}

func (r *reader) readTerms() (*termIndex, error) {
	s := r.dir.Terms
	t, err := r.parseTerms(s)
	if err != nil {
		return nil, r.f.damaged(s.Offset, err)
	}
	return t, nil
}

func (r *reader) parseTerms(s span) (*termIndex, error) {
	line, err := r.oneLine(s)
	if err != nil {
		return nil, err
	}
	t := new(termIndex)
	if err := json.Unmarshal(line, t); err != nil {
		return nil, err
	}
	if t.Kind != kindTerms || len(t.First) != len(t.Lengths) || !slices.IsSorted(t.First) {
		return nil, errors.New("not a line of first terms")
	}
	t.offsets = make([]int64, len(t.First)+1)
	t.offsets[0] = r.dir.Postings.Offset
	for i, n := range t.Lengths {
		t.offsets[i+1] = t.offsets[i] + int64(n)
	}
	if p := r.dir.Postings; t.offsets[len(t.First)] != p.Offset+p.Length || p.Frames != len(t.First) {
		return nil, errors.New("the frames of postings have other lengths than the directory says")
	}
	return t, nil
}

// frame returns the number of the frame that would hold a term, -1 if none.
func (t *termIndex) frame(term string) int {
	return sort.Search(len(t.First), func(i int) bool { return t.First[i] > term }) - 1
}

// span is the k-th frame of postings.
func (t *termIndex) span(k int, postings span) span {
	return span{Offset: t.offsets[k], Length: t.offsets[k+1] - t.offsets[k], Frame: postings.Frame + k, Frames: 1}
}

// lengths are the numbers of tokens of the chunks.
type lengths struct {
	tokens uint64
	text   []byte   // digits
	all    []uint32 // only where the index is kept in memory
}

// The line of lengths.
const (
	lengthsBegin = `{"kind":"lengths","tokens":`
	lengthsField = `,"lengths":"`
)

func (r *reader) readLengths() (*lengths, error) {
	s := r.dir.Lengths
	line, err := r.oneLine(s)
	if err == nil {
		l := new(lengths)
		if l.tokens, l.text, err = parseLengths(line); err == nil {
			return l, nil
		}
	}
	return nil, r.f.damaged(s.Offset, err)
}

func parseLengths(line []byte) (tokens uint64, text []byte, err error) {
	head, text, ok := bytes.Cut(line, []byte(lengthsField))
	text, ok2 := bytes.CutSuffix(text, []byte(`"}`))
	number, ok3 := bytes.CutPrefix(head, []byte(lengthsBegin))
	if !ok || !ok2 || !ok3 {
		return 0, nil, errors.New("not a line of lengths")
	}
	tokens, err = strconv.ParseUint(string(number), 10, 63)
	return tokens, text, err
}

// next decodes n lengths from the front of text.
func nextLengths(dst []uint32, text []byte) ([]byte, error) {
	for i := range dst {
		v, n := number(text)
		if n == 0 || v > math.MaxUint32 {
			return nil, errDigits
		}
		dst[i] = uint32(v)
		text = text[n:]
	}
	return text, nil
}

// list is a cursor over the postings of one term: the rows of the chunks that
// hold it, and how often.
type list struct {
	rest []byte
	row  int64 // of the current posting; the number of chunks at the end
	tf   int
	n    int64 // chunks of the index
}

func newList(text []byte, chunks int) (list, error) {
	l := list{rest: text, row: -1, n: int64(chunks)}
	return l, l.next()
}

func (l *list) next() error {
	if len(l.rest) == 0 {
		l.row = l.n
		return nil
	}
	v, n := number(l.rest)
	if n == 0 {
		return errDigits
	}
	l.rest = l.rest[n:]
	l.row += int64(v>>1) + 1
	l.tf = 1
	if v&1 == 0 {
		v, n = number(l.rest)
		if n == 0 {
			return errDigits
		}
		l.rest = l.rest[n:]
		l.tf = int(v) + 2
	}
	if l.row >= l.n {
		return errors.New("a posting names a chunk that does not exist")
	}
	return nil
}

func appendPosting(dst []byte, gap int64, tf int) []byte {
	if tf == 1 {
		return appendNumber(dst, uint64(gap)<<1|1)
	}
	return appendNumber(appendNumber(dst, uint64(gap)<<1), uint64(tf-2))
}

// The line of a frame of postings: terms and their lists, each joined with
// spaces.
const (
	postingsBegin = `{"kind":"postings","terms":"`
	postingsField = `","postings":"`
	postingsEnd   = `"}`
)

// splitPostings returns the two strings of a line, the first as JSON has it.
func splitPostings(line []byte) (terms, lists []byte, err error) {
	text, ok := bytes.CutPrefix(line, []byte(postingsBegin))
	text, ok2 := bytes.CutSuffix(text, []byte(postingsEnd))
	// Quotes within a term are escaped, so the first match is the field.
	terms, lists, ok3 := bytes.Cut(text, []byte(postingsField))
	if !ok || !ok2 || !ok3 {
		return nil, nil, errors.New("not a line of postings")
	}
	return terms, lists, nil
}

// findPostings returns the digits of a term in a line; nil if it is not there.
func findPostings(line []byte, term string) ([]byte, error) {
	terms, lists, err := splitPostings(line)
	if err != nil || !isTerm(term) {
		return nil, err
	}
	want := record.AppendString(nil, term)
	want = want[1 : len(want)-1]
	at := wordIndex(terms, want)
	if at < 0 {
		return nil, nil
	}
	for range bytes.Count(terms[:at], []byte{' '}) {
		next := bytes.IndexByte(lists, ' ')
		if next < 0 {
			return nil, fmt.Errorf("no postings for the term %q", term)
		}
		lists = lists[next+1:]
	}
	list, _, _ := bytes.Cut(lists, []byte{' '})
	if len(list) == 0 {
		return nil, fmt.Errorf("no postings for the term %q", term)
	}
	return list, nil
}

// isTerm says whether a term can stand in a line: it is not empty and has no
// space.
func isTerm(term string) bool { return term != "" && strings.IndexByte(term, ' ') < 0 }

// wordIndex returns where a word begins in words joined with spaces, or -1.
func wordIndex(words, word []byte) int {
	for from := 0; ; from++ {
		i := bytes.Index(words[from:], word)
		if i < 0 {
			return -1
		}
		from += i
		end := from + len(word)
		if (from == 0 || words[from-1] == ' ') && (end == len(words) || words[end] == ' ') {
			return from
		}
	}
}

// postings finds the lists of the terms; an empty list for a term that does
// not occur.
func (r *reader) postings(ctx context.Context, terms []string) ([][]byte, error) {
	index, err := r.terms()
	if err != nil {
		return nil, err
	}
	lines := map[int][]byte{}
	out := make([][]byte, len(terms))
	for i, term := range terms {
		k := index.frame(term)
		if k < 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, ok := lines[k]
		if !ok {
			if line, err = r.oneLine(index.span(k, r.dir.Postings)); err != nil {
				return nil, r.f.damaged(index.offsets[k], err)
			}
			lines[k] = line
		}
		if out[i], err = findPostings(line, term); err != nil {
			return nil, r.f.damaged(index.offsets[k], err)
		}
	}
	return out, nil
}

// Lexical returns the k best chunks for the terms by BM25.
func (r *reader) Lexical(ctx context.Context, terms []string, k int, f store.Filter) (store.Lexical, error) {
	allowed, err := r.allowed(f)
	if err != nil {
		return store.Lexical{}, err
	}
	out := store.Lexical{N: r.head.Chunks, DF: make(map[string]int, len(terms))}
	lens, err := r.lengths()
	if err != nil {
		return store.Lexical{}, err
	}
	if out.N > 0 {
		out.AvgLen = float64(lens.tokens) / float64(out.N)
	}
	distinct := make([]string, 0, len(terms))
	for _, t := range terms {
		if !slices.Contains(distinct, t) {
			distinct = append(distinct, t)
		}
	}
	texts, err := r.postings(ctx, distinct)
	if err != nil {
		return store.Lexical{}, err
	}
	s := bm25Scan{lens: lens, avg: out.AvgLen, top: vector.NewTopK(k), allowed: allowed, chunks: int64(out.N)}
	for i, text := range texts {
		df, err := s.add(text)
		if err != nil {
			return store.Lexical{}, r.f.damaged(r.dir.Postings.Offset, fmt.Errorf("postings of %q: %w", distinct[i], err))
		}
		out.DF[distinct[i]] = df
	}
	if k > 0 {
		if err := s.run(ctx); err != nil {
			return store.Lexical{}, r.f.damaged(r.dir.Postings.Offset, err)
		}
	}
	out.Hits = scored(s.top.Sorted())
	return out, nil
}

// bm25Scan scores the lists of a query.
type bm25Scan struct {
	chunks  int64
	lens    *lengths
	avg     float64
	allowed *ranges
	lists   []list
	idf     []float64
	top     *vector.TopK
}

// add takes a term's list and returns its df.
func (s *bm25Scan) add(text []byte) (df int, err error) {
	l, err := newList(text, int(s.chunks))
	for ; err == nil && l.row < s.chunks; err = l.next() {
		df++
	}
	if err != nil || df == 0 {
		return 0, err
	}
	l, err = newList(text, int(s.chunks))
	s.lists = append(s.lists, l)
	s.idf = append(s.idf, bm25.IDF(int(s.chunks), df))
	return df, err
}

func (s *bm25Scan) run(ctx context.Context) error {
	scores := make([]float64, min(window, s.chunks))
	lens := make([]uint32, len(scores))
	text := s.lens.text
	for first := int64(0); first < s.chunks && len(s.lists) > 0; first += window {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(window, s.chunks-first)
		var err error
		if s.lens.all != nil {
			lens = s.lens.all[first : first+n]
		} else if text, err = nextLengths(lens[:n], text); err != nil {
			return err
		}
		if err := s.score(first, scores[:n], lens[:n]); err != nil {
			return err
		}
		s.collect(first, scores[:n])
	}
	return nil
}

// score adds up the window that begins at a row.
func (s *bm25Scan) score(first int64, scores []float64, lens []uint32) error {
	end := first + int64(len(scores))
	for i := range s.lists {
		l := &s.lists[i]
		for l.row < end {
			at := l.row - first
			scores[at] += bm25.Term(s.idf[i], l.tf, int(lens[at]), s.avg)
			if err := l.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// collect takes the best of a window and clears it.
func (s *bm25Scan) collect(first int64, scores []float64) {
	for i, score := range scores {
		if score == 0 {
			continue
		}
		scores[i] = 0
		if s.top.Full() && score < s.top.Worst().Score {
			continue
		}
		if row := first + int64(i); s.allowed.has(row) {
			s.top.Add(vector.Scored{Row: row, Score: score})
		}
	}
}

func scored(rows []vector.Scored) []store.Scored {
	out := make([]store.Scored, len(rows))
	for i, s := range rows {
		out[i] = store.Scored{Ref: store.Ref(s.Row), Score: s.Score}
	}
	return out
}
