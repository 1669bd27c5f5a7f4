package flat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/storetest"
	"kb/pkg/vector"
)

func TestNumbers(t *testing.T) {
	for _, v := range []uint64{0, 1, 31, 32, 33, 1023, 1024, 1<<31 - 1, 1<<35 - 1} {
		text := appendNumber(nil, v)
		if got, n := number(append(text, "xyz"...)); got != v || n != len(text) {
			t.Errorf("%d: %q gives %d, %d", v, text, got, n)
		}
	}
	for _, bad := range []string{"", "!", "g", "gggggggggggg", "g\x00", "Ã"} {
		if v, n := number([]byte(bad)); n != 0 {
			t.Errorf("%q gives %d, %d", bad, v, n)
		}
	}
}

func TestFindPostings(t *testing.T) {
	lists := func(yield func(termList, error) bool) {
		for i, term := range []string{"a", "ab", "b\"c", "b\\", "差旅", "旅"} {
			if !yield(termList{term, appendPosting(nil, int64(i), 1)}, nil) {
				return
			}
		}
	}
	for l, err := range postingsLines(lists) {
		if err != nil || l.first != "a" {
			t.Fatal(l.first, err)
		}
		line := bytes.TrimSuffix(l.line, []byte{'\n'})
		for term, want := range map[string]string{"a": "B", "ab": "D", "b\"c": "F", "b\\": "H", "差旅": "J", "旅": "L", "b": "", "": "", "a ab": "", "差": ""} {
			if got, err := findPostings(line, term); string(got) != want || err != nil {
				t.Errorf("%q: %q, %v; want %q", term, got, err, want)
			}
		}
		all, err := parsePostings(nil, line)
		if err != nil || len(all) != 6 || all[2].term != "b\"c" || string(all[5].digits) != "L" {
			t.Errorf("%+v, %v", all, err)
		}
		for i := range line {
			parsePostings(nil, line[:i])
			findPostings(line[:i], "旅")
		}
	}
	for _, bad := range []string{"", "two words"} {
		for _, err := range postingsLines(func(yield func(termList, error) bool) { yield(termList{bad, []byte("A")}, nil) }) {
			if err == nil {
				t.Errorf("the term %q was accepted", bad)
			}
		}
	}
}

// TestBorders: each document is in segments exactly once, no segment is too
// large, and a change moves few borders.
func TestBorders(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	type doc struct {
		path   string
		chunks int
	}
	cut := func(docs []doc) map[string]bool {
		segments := map[string]bool{}
		next, row := 0, 0
		for _, pieces := range cutSegments(len(docs), func(i int) string { return docs[i].path }, func(i int) int { return docs[i].chunks }) {
			size, name := 0, ""
			for _, p := range pieces {
				if p.doc != next || p.from != row {
					t.Fatalf("piece %+v where document %d, chunk %d was expected", p, next, row)
				}
				if row = p.to; row == docs[p.doc].chunks {
					next, row = next+1, 0
				}
				size += p.to - p.from
				name += fmt.Sprint(docs[p.doc].path, p.from, " ")
			}
			if size > maxRows {
				t.Fatalf("a segment of %d", size)
			}
			segments[name] = true
		}
		if next != len(docs) {
			t.Fatalf("%d of %d documents", next, len(docs))
		}
		return segments
	}
	for _, most := range []int{1, 40, 5000} {
		var docs []doc
		for i := range 4000 {
			docs = append(docs, doc{fmt.Sprintf("notes/%05d.md", i), rng.IntN(most + 1)})
		}
		before := cut(docs)
		after := cut(slices.Insert(docs, 1000, doc{"notes/01000x.md", 3}))
		moved := 0
		for s := range after {
			if !before[s] {
				moved++
			}
		}
		t.Logf("up to %d chunks: %d segments, %d moved", most, len(after), moved)
		if moved > 6 {
			t.Errorf("up to %d chunks: %d of %d segments moved", most, moved, len(after))
		}
	}
}

func TestMerge(t *testing.T) {
	seq := func(lists ...string) func(func(termList, error) bool) {
		return func(yield func(termList, error) bool) {
			for _, l := range lists {
				var digits []byte
				last := int64(-1)
				for _, c := range l[1:] {
					row := int64(c - 'a')
					digits = appendPosting(digits, row-last-1, int(row)%3+1)
					last = row
				}
				if !yield(termList{l[:1], digits}, nil) {
					return
				}
			}
		}
	}
	// Rows a to f of the old index: b is gone, the rest is a, d, e, f, g of the new.
	m := newMerger([]int32{0, -1, 3, 4, 5, 6}, 8)
	if m.head != 1 || m.tail != 2 {
		t.Errorf("head %d, tail %d", m.head, m.tail)
	}
	var got []string
	for l, err := range m.merge(seq("1ab", "2b", "3bf", "5c"), seq("0c", "3bh", "4b", "9h")) {
		if err != nil {
			t.Fatal(err)
		}
		text := l.term
		p, err := newList(l.digits, 8)
		for ; err == nil && p.row < 8; err = p.next() {
			text += string(rune('a' + p.row))
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, text)
	}
	if want := []string{"0c", "1a", "3bgh", "4b", "5d", "9h"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	failed := errors.New("failed")
	for _, err := range m.merge(func(yield func(termList, error) bool) { yield(termList{}, failed) }, seq("0c")) {
		if !errors.Is(err, failed) {
			t.Error(err)
		}
	}
}

func TestSpill(t *testing.T) {
	dir := t.TempDir()
	s := spill{dir: dir, pattern: ".x.tmp-*"}
	block := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
	var at []int64
	for i := range 12 {
		block[0] = byte('A' + i)
		off, err := s.add(block[:min(len(block), 100<<10<<i)]) // small ones first, as of a note
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, off)
	}
	for i, off := range at {
		got, err := s.read(off, 16, nil)
		if err != nil || got[0] != byte('A'+i) {
			t.Errorf("block %d: %q, %v", i, got, err)
		}
	}
	s.close()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestRows: every vector comes back bit by bit from the spill and from its line,
// and lines are sparse that should be.
func TestRows(t *testing.T) {
	numbers := []float32{0, 0, 0, 0, 0, 0, float32(math.Copysign(0, -1)), 1, -0.25, math.SmallestNonzeroFloat32}
	same := func(a, b []float32) bool {
		return slices.EqualFunc(a, b, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
	}
	var w rowWriter
	var r rowReader
	var arena rowArena
	var memory vector.Row
	for n := 1; n < 3000; n += 1 + n/7 {
		for _, id := range []string{"1", `a",\"dim\":`, `\`, ""} {
			want := make([]float32, n)
			want[n/2] = 1
			filled := 1
			for i := range want {
				if i == n/2 {
					continue
				}
				want[i] = numbers[(i*i+n)%len(numbers)]
				if len(id) == 1 && i%4 == 0 {
					want[i] = float32(i) // many values
				}
				if math.Float32bits(want[i]) != 0 {
					filled++
				}
			}
			row := vector.RowOf(want, &memory)
			if got := readRow(appendRow([]byte("xxx"), row)[3:], n, 1, &arena); !same(got.Dense(n), want) {
				t.Fatalf("spill of %d elements: %v, want %v", n, got.Dense(n), want)
			}
			line := bytes.TrimSuffix(w.append(nil, id, row, n), []byte{'\n'})
			if sparse := bytes.Contains(line, []byte(placesField)); sparse != (2*filled < n) {
				t.Fatalf("%d of %d elements: %s", filled, n, line)
			}
			gotID, got, err := parseVectorLine(line)
			if err != nil || gotID != id || !same(got, want) {
				t.Fatalf("%s: %q, %v, %v, want %v", line, gotID, got, err, want)
			}
			if got, err := r.read(line, n); err != nil || !same(got.Dense(n), want) {
				t.Fatalf("%s: %v, %v, want %v", line, got, err, want)
			}
			if !json.Valid(line) {
				t.Fatalf("not JSON: %s", line)
			}
		}
	}
}

// TestOrdered: the results come in order, and stopping early waits for all.
func TestOrdered(t *testing.T) {
	numbers := func(yield func(int) bool) {
		for i := range 500 {
			if !yield(i) {
				return
			}
		}
	}
	worker := func() func(int) (int, error) {
		return func(i int) (int, error) {
			if i == 300 {
				return 0, errors.New("three hundred")
			}
			return i * i, nil
		}
	}
	n := 0
	for v, err := range ordered(numbers, worker) {
		if n == 300 {
			if err == nil {
				t.Error("no error")
			}
			continue
		}
		if v != n*n || err != nil {
			t.Fatalf("%d: %d, %v", n, v, err)
		}
		n++
	}
	if n != 300 {
		t.Errorf("%d results", n)
	}
	for range ordered(numbers, worker) {
		break
	}
}

// memory is a file that is not on a disk.
func memory(data []byte) *file {
	return &file{r: bytes.NewReader(data), size: int64(len(data)), disk: int64(len(data)), name: "memory"}
}

// tinyIndex has sparse vectors from dimension 8 on.
func tinyIndex(t testing.TB, dim int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index")
	g := storetest.NewGenerator(72, dim)
	g.Words, g.Chunks, g.Sparse = 3, 2, dim >= 8
	storetest.Write(t, New(path), g.Settings(), g.Docs(3)...)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// FuzzOpen reads a file of any content: every call ends, with an answer or an
// error, and takes no more memory than the file can justify.
func FuzzOpen(f *testing.F) {
	for _, dim := range []int{0, 3, 12} {
		data := tinyIndex(f, dim)
		f.Add(data, 0, byte(0))
		f.Add(data[:len(data)/2], 20, byte(1))
		table := bytes.LastIndex(data, le.AppendUint32(nil, skippableMagic))
		f.Add(data[:table], 40, byte(0x80))
	}
	f.Fuzz(func(t *testing.T, data []byte, at int, xor byte) {
		data = bytes.Clone(data)
		if len(data) > 0 {
			data[uint(at)%uint(len(data))] ^= xor
		}
		dec, err := newDecoders(1)
		if err != nil {
			t.Fatal(err)
		}
		defer dec.close()
		for range walk(t.Context(), memory(data), dec) {
		}
		r, err := newReader(memory(data))
		if err != nil {
			return
		}
		defer r.Close()
		ask(t.Context(), r)
	})
}

func ask(ctx context.Context, r *reader) {
	q := make(record.Vector, max(r.head.Dim, 1))
	q[0] = 1
	r.Nearest(ctx, q, 3, store.Filter{})
	r.Lexical(ctx, []string{"w1", "标题"}, 3, store.Filter{Paths: []string{"**"}})
	for range r.Documents(ctx) {
	}
	for range r.Skipped(ctx) {
	}
	for range r.Chunks(ctx, "", true) {
	}
	if r.load(ctx) == nil {
		r.Nearest(ctx, q, 3, store.Filter{})
	}
}

// TestCraftedTerms: words that have most bits of an unseeded hash in common lie
// scattered in the table all the same.
func TestCraftedTerms(t *testing.T) {
	var table termTable
	for i := 0; len(table.terms) < 1000; i++ {
		if term := fmt.Sprintf("%08x", i); xxhash.Sum64String(term)&(1<<10-1) == 0 {
			table.number(term)
		}
	}
	run, longest := 0, 0
	for _, s := range table.slots {
		if run++; s.number == 0 {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest > 100 {
		t.Errorf("%d slots in a row are full", longest)
	}
}

// FuzzContent mutates the text inside of the frames, which a checksum does not
// protect from a hostile writer. Offsets stay right where the length does. The
// base64 of one vector is padded by two characters, one or none, by dimension.
func FuzzContent(f *testing.F) {
	var indexes []plainIndex
	for _, dim := range []int{1, 2, 3, 4, 12} {
		frames := newPlain(f, tinyIndex(f, dim))
		for i, text := range frames {
			f.Add(dim, i, 30, byte('9'), text)
			f.Add(dim, i, 30, text[30], bytes.ReplaceAll(text, []byte(`=="`), []byte(`AA"`)))
			f.Add(dim, i, 30, text[30], bytes.ReplaceAll(text, []byte(`="`), []byte(`A"`)))
		}
		indexes = append(indexes, frames)
	}
	f.Fuzz(func(t *testing.T, dim, i, at int, c byte, content []byte) {
		changed := slices.Clone(indexes[uint(dim-1)%uint(len(indexes))])
		j := int(uint(i) % uint(len(changed)))
		changed[j] = bytes.Clone(content)
		if len(content) > 0 {
			changed[j][uint(at)%uint(len(content))] = c
		}
		r, err := newReader(memory(changed.file(t)))
		if err != nil {
			return
		}
		defer r.Close()
		ask(t.Context(), r)
	})
}

// TestBomb: a small file that claims to be large is refused before memory is
// taken for it.
func TestBomb(t *testing.T) {
	set := frameSet{enc: &encoder{}}
	if err := set.text(bytes.Repeat([]byte("a line\n"), 1<<20)); err != nil {
		t.Fatal(err)
	}
	set.data = bytes.Repeat(set.data, 40) // 280 MB of text in a few kilobytes
	if _, err := newReader(memory(set.data)); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("a bomb of lines: %v", err)
	}
	lie := le.AppendUint32(nil, frameMagic)
	lie = append(lie, codesDescriptor)
	lie = le.AppendUint32(lie, math.MaxInt32)
	if _, err := contentSize(append(lie, 1, 0, 0, 0, 0, 0, 0)); err == nil {
		t.Error("a frame of 2 GiB was accepted")
	}
}
