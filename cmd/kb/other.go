package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kb/pkg/record"
)

// noteOther keeps in mind which files a walk passed over for their type.
func (c *console) noteOther(r *record.Root) {
	if c.other == nil {
		c.other = map[string]int{}
	}
	for ext, n := range r.Other {
		c.other[ext] += n
	}
}

// shownTypes is how many types of other files are named.
const shownTypes = 6

// printOther says how many files of other types there are, so that nobody
// looks for them in the index.
func printOther(e *env, other map[string]int) {
	types := slices.SortedFunc(maps.Keys(other), func(a, b string) int {
		return cmp.Or(cmp.Compare(other[b], other[a]), cmp.Compare(a, b))
	})
	total := 0
	var parts []string
	for i, ext := range types {
		total += other[ext]
		if i < shownTypes {
			parts = append(parts, fmt.Sprintf("%s %d", plainLine(ext), other[ext]))
		}
	}
	if total == 0 {
		return
	}
	if len(types) > shownTypes {
		parts = append(parts, "…")
	}
	st := e.style()
	fmt.Fprintln(e.stdout, st.dim(st.wrapped(fmt.Sprintf("%s of other types not read: %s", count(total, "file"), strings.Join(parts, ", ")))))
}
