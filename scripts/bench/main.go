// Command bench measures what kb costs, beside other programs that do the
// same, all in one run: see scripts/bench.sh. It prints Markdown.
//
// Programs that are compared take turns, so that whatever else the machine
// does meets them alike. Times are wall time and CPU time (user and system) of
// whole processes, median and minimum; the budgets are ratios of medians.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// size says what a run covers.
type size struct {
	name    string
	rows    []int // of the indexes
	dims    []int
	runs    int // of each short process
	changes int // of an index
}

var sizes = map[string]size{
	"quick": {"quick", []int{10_000}, []int{1024, 384}, 9, 3},
	"":      {"default", []int{10_000, 100_000}, []int{1024, 384}, 21, 5},
	"large": {"large", []int{10_000, 100_000, 1_000_000}, []int{1024}, 21, 3},
}

func main() {
	kb := flag.String("kb", "", "the `program` to measure")
	notes := flag.String("notes", "", "`folder` of the sample notes")
	dir := flag.String("dir", "", "`folder` for data and peers; the peers stay there")
	run := flag.String("run", os.Getenv("KB_BENCH"), "quick, large, or neither")
	flag.Parse()
	s, ok := sizes[*run]
	if !ok {
		fmt.Fprintf(os.Stderr, "bench: KB_BENCH is %q; it may be quick or large\n", *run)
		os.Exit(2)
	}
	if err := bench(*kb, *notes, *dir, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bencher is one run of the benchmark.
type bencher struct {
	size
	kb, notes string
	bin, data string
	peers     string // folder of the node programs, "" where they cannot be had
	goroot    string
	*report
}

func bench(kb, notes, dir string, s size) (err error) {
	b := &bencher{size: s, kb: kb, notes: notes, bin: filepath.Join(dir, "bin"), data: filepath.Join(dir, "data"), report: &report{out: os.Stdout}}
	defer os.RemoveAll(b.data)
	for _, d := range []string{b.bin, b.data} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return err
		}
	}
	if err := b.prepare(dir); err != nil {
		return err
	}
	for _, part := range []func() error{b.machine, b.processes, b.indexing, b.indexes, b.budgets} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// indexes measures each size of index, and drops it before the next.
func (b *bencher) indexes() error {
	for _, rows := range b.rows {
		for _, dim := range b.dims {
			if err := b.index(rows, dim); err != nil {
				return fmt.Errorf("%d × %d: %w", rows, dim, err)
			}
		}
	}
	return nil
}
