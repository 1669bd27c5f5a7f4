// Command f32 is the plainest exact search there is: it scans a file of
// float32 vectors with vek in two goroutines and prints the numbers of the ten
// best rows.
//
//	f32 pread|mmap DIM FILE QUERY-FILE
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"kb/pkg/record"
	"kb/pkg/vector"
)

const (
	k      = 10
	window = 256 << 10 // bytes a read, the fastest of 64 KiB to 1 MiB
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "f32:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var dim int
	if _, err := fmt.Sscan(args[1], &dim); err != nil {
		return err
	}
	f, err := os.Open(args[2])
	if err != nil {
		return err
	}
	q, err := query(args[3])
	if err != nil {
		return err
	}
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	rows := int(stat.Size()) / (4 * dim)
	read := pread(f, dim)
	if args[0] == "mmap" {
		if read, err = mapped(f, int(stat.Size()), dim); err != nil {
			return err
		}
	}
	for _, s := range scan(read, q, dim, rows) {
		fmt.Println(s.Row)
	}
	return nil
}

func query(path string) ([]float32, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var q record.Query
	err = json.Unmarshal(raw, &q)
	return q.Vector, err
}

// rowsReader returns the rows from one number to another.
type rowsReader func(buf []float32, from, to int) ([]float32, error)

func pread(f *os.File, dim int) rowsReader {
	return func(buf []float32, from, to int) ([]float32, error) {
		buf = buf[:(to-from)*dim]
		raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), 4*len(buf))
		_, err := f.ReadAt(raw, int64(from)*int64(dim)*4)
		if err == io.EOF {
			err = nil
		}
		return buf, err
	}
}

func mapped(f *os.File, size, dim int) (rowsReader, error) {
	raw, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	all := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(raw))), size/4)
	return func(_ []float32, from, to int) ([]float32, error) { return all[from*dim : to*dim], nil }, nil
}

// scan scores all rows, with half of them in each of two goroutines.
func scan(read rowsReader, q []float32, dim, rows int) []vector.Scored {
	workers := min(2, runtime.GOMAXPROCS(0))
	tops := make([]*vector.TopK, workers)
	var wg sync.WaitGroup
	for w := range workers {
		tops[w] = vector.NewTopK(k)
		wg.Go(func() {
			step := max(1, window/(4*dim))
			buf := make([]float32, step*dim)
			for from, end := rows*w/workers, rows*(w+1)/workers; from < end; from += step {
				to := min(from+step, end)
				part, err := read(buf, from, to)
				if err != nil {
					panic(err)
				}
				for i := range to - from {
					if s := float64(vector.Dot(q, part[i*dim:(i+1)*dim])); !tops[w].Full() || s > tops[w].Worst().Score {
						tops[w].Add(vector.Scored{Row: int64(from + i), Score: s})
					}
				}
			}
		})
	}
	wg.Wait()
	best := vector.NewTopK(k)
	for _, t := range tops {
		for _, s := range t.Sorted() {
			best.Add(s)
		}
	}
	return best.Sorted()
}
