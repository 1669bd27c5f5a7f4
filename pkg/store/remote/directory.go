package remote

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"kb/pkg/store"
)

// directory is what a reader knows of all documents.
type directory struct {
	docs  []*entry       // that live, by path
	first []int          // ref of each document's first chunk, and the end
	byRow map[string]int // number of the document by its entry's row
	segs  []*segment
	refs  [][]int32 // of each segment's chunks; -1 for one that is gone
	lens  []int32   // tokens of each chunk, by ref
}

func newDirectory(m *manifest, segs []*segment) (*directory, error) {
	d := &directory{segs: segs, byRow: map[string]int{}, first: []int{0}}
	for _, s := range segs {
		for i, e := range s.docs {
			if !s.isDead(i) {
				d.docs = append(d.docs, e)
			}
		}
	}
	slices.SortFunc(d.docs, func(a, b *entry) int { return strings.Compare(a.Path, b.Path) })
	for i, e := range d.docs {
		if i > 0 && d.docs[i-1].Path == e.Path {
			return nil, fmt.Errorf("two documents have the path %s", e.Path)
		}
		d.byRow[e.Row] = i
		d.first = append(d.first, d.first[i]+e.Chunks)
		for _, n := range e.Lens {
			d.lens = append(d.lens, int32(n))
		}
	}
	if n := len(d.lens); len(d.docs) != m.Documents || n != m.Chunks {
		return nil, fmt.Errorf("%d documents and %d chunks, the manifest says %d and %d", len(d.docs), n, m.Documents, m.Chunks)
	}
	d.number()
	return d, nil
}

// number fills in refs.
func (d *directory) number() {
	d.refs = make([][]int32, len(d.segs))
	for i, s := range d.segs {
		refs := make([]int32, s.ref.Chunks)
		for j, e := range s.docs {
			at, live := d.byRow[e.Row]
			live = live && !s.isDead(j)
			for c := range e.Chunks {
				refs[s.first[j]+c] = -1
				if live {
					refs[s.first[j]+c] = int32(d.first[at] + c)
				}
			}
		}
		d.refs[i] = refs
	}
}

// find returns the number of the document at a path.
func (d *directory) find(path string) (int, bool) {
	return slices.BinarySearchFunc(d.docs, path, func(e *entry, path string) int { return strings.Compare(e.Path, path) })
}

// place is the document and chunk of a ref.
func (d *directory) place(ref int) (doc, chunk int) {
	doc = sort.SearchInts(d.first, ref+1) - 1
	return doc, ref - d.first[doc]
}

// ref is the ref of a vector by its key; false for one that is gone.
func (d *directory) ref(key string) (int, bool) {
	row, number, _ := cutLast(key)
	doc, ok := d.byRow[row]
	chunk, err := strconv.Atoi(number)
	if !ok || err != nil || chunk < 0 || chunk >= d.docs[doc].Chunks {
		return 0, false
	}
	return d.first[doc] + chunk, true
}

func cutLast(key string) (before, after string, ok bool) {
	i := strings.LastIndexByte(key, '/')
	if i < 0 {
		return key, "", false
	}
	return key[:i], key[i+1:], true
}

// allowed says which documents pass a filter, and how many chunks with vectors
// they have; nil if all pass.
func (d *directory) allowed(f store.Filter) (pass []bool, vectors int, err error) {
	m, err := store.NewMatcher(f)
	if err != nil {
		return nil, 0, err
	}
	all := m.All()
	if !all {
		pass = make([]bool, len(d.docs))
	}
	for i, e := range d.docs {
		if all || m.Match(e.Path, e.Meta) {
			vectors += e.Vectors
			if !all {
				pass[i] = true
			}
		}
	}
	return pass, vectors, nil
}
