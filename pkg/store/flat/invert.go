package flat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"kb/pkg/record"
)

// Inversion: each segment is inverted by its own worker into a small table
// that fits into the cache, and the tables are appended in order to the lists
// of the whole index. Lists are kept as they are written, so 62 million
// postings take 100 MB. An update decodes the old lists, takes out what was
// removed, and merges what is new.

// inverter inverts the chunks of one segment after the other, in memory that it
// uses again. The postings of a term are a chain among those of all terms.
type inverter struct {
	table    termTable
	chains   []chain   // of each term
	postings []posting // in the order of rows
}

// chain has the numbers of a term's first and last posting.
type chain struct{ first, last int32 }

// posting says how often a term occurs in a row, and which is its next posting,
// if it is not the last.
type posting struct{ row, tf, next int32 }

// segmentTerm is a term's list within a segment: the first posting apart,
// since its gap depends on the segments before.
type segmentTerm struct {
	term        string
	first, last int // rows
	firstTF     int
	rest        []byte
}

// add counts the tokens of the chunk in a row of the segment; rows rise.
func (v *inverter) add(row int, tokens []string) {
	for _, token := range tokens {
		n, isNew := v.table.number(token)
		at := int32(len(v.postings))
		if isNew {
			v.chains = append(v.chains, chain{at, at})
		} else if last := &v.postings[v.chains[n].last]; last.row == int32(row) {
			last.tf++
			continue
		} else {
			last.next = at
			v.chains[n].last = at
		}
		v.postings = append(v.postings, posting{row: int32(row), tf: 1})
	}
}

// done returns the lists, and begins the next segment.
func (v *inverter) done() []segmentTerm {
	terms := make([]segmentTerm, len(v.chains))
	digits := make([]byte, 0, 2*len(v.postings))
	for n, c := range v.chains {
		first := v.postings[c.first]
		begin, p := len(digits), first
		for i := c.first; i != c.last; {
			i = p.next
			gap := v.postings[i].row - p.row - 1
			p = v.postings[i]
			digits = appendPosting(digits, int64(gap), int(p.tf))
		}
		terms[n] = segmentTerm{v.table.terms[n], int(first.row), int(p.row), int(first.tf), digits[begin:len(digits):len(digits)]}
	}
	v.table.reset()
	v.chains, v.postings = v.chains[:0], v.postings[:0]
	return terms
}

// inverted are the lists of all new chunks.
type inverted struct {
	table termTable
	lists []newTerm
}

type newTerm struct {
	last   int64
	digits []byte
}

// add appends the lists of a segment that begins at a row.
func (v *inverted) add(first int64, terms []segmentTerm) {
	for _, t := range terms {
		i, isNew := v.table.number(t.term)
		if isNew {
			v.table.terms[i] = strings.Clone(t.term) // it is a part of a chunk's text
			v.lists = append(v.lists, newTerm{last: -1})
		}
		l := &v.lists[i]
		l.digits = appendPosting(l.digits, first+int64(t.first)-l.last-1, t.firstTF)
		l.digits = append(l.digits, t.rest...)
		l.last = first + int64(t.last)
	}
}

// termList is a term with its postings.
type termList struct {
	term   string
	digits []byte // valid until the next one
}

// sorted yields the lists by term.
func (v *inverted) sorted() iter.Seq2[termList, error] {
	terms := v.table.terms
	order := make([]int, len(terms))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(terms[a], terms[b]) })
	return func(yield func(termList, error) bool) {
		for _, i := range order {
			if !yield(termList{terms[i], v.lists[i].digits}, nil) {
				return
			}
		}
	}
}

// allPostings yields the lists of an index by term.
func (r *reader) allPostings(ctx context.Context) iter.Seq2[termList, error] {
	return func(yield func(termList, error) bool) {
		var lists []termList
		for frame, err := range r.frames(ctx, r.dir.Postings) {
			if err != nil {
				yield(termList{}, err)
				return
			}
			lists, err = parsePostings(lists[:0], bytes.TrimSuffix(frame.text, []byte{'\n'}))
			if err != nil {
				yield(termList{}, r.f.damaged(frame.offset, err))
				return
			}
			for _, l := range lists {
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// parsePostings appends the lists of a line of postings; the digits are parts of it.
func parsePostings(dst []termList, line []byte) ([]termList, error) {
	terms, digits, err := splitPostings(line)
	if err != nil {
		return dst, err
	}
	words := unquote(line[len(postingsBegin)-1:][:len(terms)+2]) // with the quotes around them
	n := strings.Count(words, " ") + 1
	if lists := bytes.Count(digits, []byte{' '}) + 1; lists != n {
		return dst, fmt.Errorf("%d terms and %d lists of postings in a line", n, lists)
	}
	dst = slices.Grow(dst, n)
	for range n {
		var l termList
		l.term, words, _ = strings.Cut(words, " ")
		l.digits, digits, _ = bytes.Cut(digits, []byte{' '})
		dst = append(dst, l)
	}
	return dst, nil
}

// merger merges the old lists of an index with new ones. Rows of the old index
// become rows[old], or vanish where that is negative; the order is kept.
//
// A change usually touches few rows. Before the first of them a list is copied
// as it is; behind the last of them only the first gap changes, since gaps do
// not depend on how many rows there are before. Most lists have no row between
// that changes, and none that moves: they stay as they are.
type merger struct {
	rows      []int32
	head      int64 // rows before it are what they were
	tail      int64 // rows from it on are moved by the same distance
	still     int64 // rows from it on are what they were
	oldChunks int
	newChunks int
	buf       []byte
}

func newMerger(rows []int32, newChunks int) *merger {
	m := &merger{rows: rows, oldChunks: len(rows), newChunks: newChunks, tail: int64(len(rows))}
	for m.head < m.tail && rows[m.head] == int32(m.head) {
		m.head++
	}
	for m.tail > m.head && rows[m.tail-1] >= 0 &&
		(m.tail == int64(len(rows)) || rows[m.tail-1]+1 == rows[m.tail]) {
		m.tail--
	}
	m.still = int64(len(rows))
	if m.tail < m.still && rows[m.tail] == int32(m.tail) {
		m.still = m.tail
	}
	return m
}

// merge yields the lists by term; a term whose chunks are all gone is left out.
func (m *merger) merge(old, added iter.Seq2[termList, error]) iter.Seq2[termList, error] {
	return func(yield func(termList, error) bool) {
		next, stop := iter.Pull2(added)
		defer stop()
		add, err, more := next()
		emit := func(l termList, err error) bool {
			if err != nil || len(l.digits) > 0 {
				return yield(l, err) && err == nil
			}
			return true
		}
		for o, oldErr := range old {
			for oldErr == nil && err == nil && more && add.term < o.term {
				if !emit(add, nil) {
					return
				}
				add, err, more = next()
			}
			if err = errors.Join(oldErr, err); err != nil {
				yield(termList{}, err)
				return
			}
			var extra []byte
			if more && add.term == o.term {
				extra = add.digits
			}
			merged, mergeErr := m.list(o.digits, extra)
			if !emit(termList{o.term, merged}, mergeErr) {
				return
			}
			if more && add.term == o.term {
				add, err, more = next()
			}
		}
		for ; err == nil && more; add, err, more = next() {
			if !emit(add, nil) {
				return
			}
		}
		if err != nil {
			yield(termList{}, err)
		}
	}
}

// list merges an old list, under the new rows, and a new one.
func (m *merger) list(old, added []byte) ([]byte, error) {
	o, err := newList(old, m.oldChunks)
	if err != nil {
		return nil, err
	}
	last, same := int64(-1), 0
	for o.row < m.head {
		last, same = o.row, len(old)-len(o.rest)
		if err := o.next(); err != nil {
			return nil, err
		}
	}
	if o.row >= m.still && len(added) == 0 {
		return old, nil
	}
	a, err := newList(added, m.newChunks)
	if err != nil {
		return nil, err
	}
	out := append(m.buf[:0], old[:same]...)
	defer func() { m.buf = out }()
	for end := int64(m.newChunks); ; {
		row, from := end, &o
		for o.row < o.n && m.rows[o.row] < 0 {
			if err := o.next(); err != nil {
				return nil, err
			}
		}
		if o.row < o.n {
			row = int64(m.rows[o.row])
		}
		if a.row < row {
			row, from = a.row, &a
		}
		if row == end {
			return out, nil
		}
		out = appendPosting(out, row-last-1, from.tf)
		last = row
		if from == &o && o.row >= m.tail && a.row == a.n {
			out = append(out, o.rest...)
			return out, nil
		}
		if err := from.next(); err != nil {
			return nil, err
		}
	}
}

// postingsLine is the line of a frame, and its first term.
type postingsLine struct {
	first string
	line  []byte
}

// postingsLines packs lists into lines of at most postingsFrame bytes, or one
// list.
func postingsLines(lists iter.Seq2[termList, error]) iter.Seq2[postingsLine, error] {
	return func(yield func(postingsLine, error) bool) {
		var terms, postings, word []byte
		first := ""
		end := func() bool {
			if len(terms) == 0 {
				return true
			}
			line := slices.Concat([]byte(postingsBegin), terms, []byte(postingsField), postings, []byte(postingsEnd+"\n"))
			terms, postings = terms[:0], postings[:0]
			return yield(postingsLine{first, line}, nil)
		}
		for l, err := range lists {
			switch {
			case err != nil:
			case !isTerm(l.term):
				err = fmt.Errorf("the analyzer gives the term %q, which is empty or has a space", l.term)
			case len(l.digits)+len(l.term) > maxLine-1024:
				err = fmt.Errorf("the postings of the term %.40q are too long", l.term)
			}
			if err != nil {
				yield(postingsLine{}, err)
				return
			}
			if len(terms)+len(postings)+len(l.term)+len(l.digits) > postingsFrame && !end() {
				return
			}
			if len(terms) == 0 {
				first = strings.Clone(l.term)
			} else {
				terms, postings = append(terms, ' '), append(postings, ' ')
			}
			word = record.AppendString(word[:0], l.term)
			terms = append(terms, word[1:len(word)-1]...)
			postings = append(postings, l.digits...)
		}
		end()
	}
}

// lengthsLine is the line of the lengths.
func lengthsLine(lens []uint32) []byte {
	tokens := uint64(0)
	for _, n := range lens {
		tokens += uint64(n)
	}
	line := append([]byte(lengthsBegin), strconv.FormatUint(tokens, 10)...)
	line = append(line, lengthsField...)
	for _, n := range lens {
		line = appendNumber(line, uint64(n))
	}
	return append(line, `"}`...)
}
