// Command flat drives the index for the benchmark: what a process does besides
// this is little. It prints one line of JSON.
//
//	flat notes FOLDER                     generate 1,000 notes of 6 KB
//	flat vectors DIM ROWS FILE            generate a file of float32
//	flat queries DIM ROWS FOLDER          generate queries as kb reads them
//	flat write DIM ROWS FILE INDEX        index its vectors with texts
//	flat update DIM ROWS INDEX            replace one document
//	flat warm DIM ROWS INDEX FILE         search while all is in memory
//	flat lexical INDEX                    one BM25 search
//	flat search INDEX QUERY-FILE          one vector search; prints rows
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/scripts/bench/data"
)

// Model and base URL of the generated vectors; the driver sets the same for kb.
const (
	model   = "bench"
	baseURL = "http://127.0.0.1:9/v1"
)

func main() {
	out, err := run(context.Background(), os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "flat:", err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(out)
}

func run(ctx context.Context, command string, args []string) (any, error) {
	switch command {
	case "notes":
		return nil, notes(args[0])
	case "lexical":
		return lexical(ctx, args[0])
	case "search":
		return search(ctx, args[0], args[1])
	}
	dim, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, err
	}
	rows, err := strconv.Atoi(args[1])
	if err != nil {
		return nil, err
	}
	switch command {
	case "vectors":
		return nil, vectors(dim, rows, args[2])
	case "queries":
		return nil, queries(dim, rows, args[2])
	case "write":
		return write(ctx, dim, rows, args[2], args[3])
	case "update":
		return update(ctx, dim, rows, args[2])
	case "warm":
		return warm(ctx, dim, rows, args[2], args[3])
	}
	return nil, fmt.Errorf("no command %q", command)
}

func vectors(dim, rows int, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 4<<20) // large writes make pages that are read faster
	g := data.NewVectors(dim)
	doc := make([]float32, data.ChunksADocument*dim)
	for i := range rows / data.ChunksADocument {
		g.Document(doc, i)
		if _, err := w.Write(data.Bytes(doc)); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// notes writes 1,000 files.
func notes(dir string) error {
	texts, err := goTexts(1000, 6000)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for i, t := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.md", i)), []byte("# Note\n\n"+t), 0o666); err != nil {
			return err
		}
	}
	return nil
}

func goTexts(n, size int) ([]string, error) {
	return data.Texts(filepath.Join(os.Getenv("GOROOT"), "src"), n, size)
}

// queries writes one file for each query.
func queries(dim, rows int, dir string) error {
	g := data.NewVectors(dim)
	for i := range data.Queries {
		q := record.Query{Text: "which pieces are near", Vector: g.Query(i, rows/data.ChunksADocument), Model: model, BaseURL: baseURL}
		line, err := record.Append(nil, &q)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("query%02d.json", i)), line, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// written says what a change of the index took.
type written struct {
	Put, Commit, CPU float64 // ms; CPU of both
	Size, Text       int64   // bytes
}

func write(ctx context.Context, dim, rows int, from, index string) (*written, error) {
	f, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	texts, err := goTexts(rows, 900)
	if err != nil {
		return nil, err
	}
	var out written
	for _, t := range texts {
		out.Text += int64(len(t))
	}
	began, cpu := time.Now(), cpuTime()
	tx, err := flat.New(index).Begin(ctx, true)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	raw := make([]byte, 4*dim*data.ChunksADocument)
	for doc := range rows / data.ChunksADocument {
		if _, err := f.ReadAt(raw, int64(doc)*int64(len(raw))); err != nil {
			return nil, err
		}
		d, chunks := document(doc, data.Floats(raw), dim, texts[doc*data.ChunksADocument:])
		if err := tx.Put(ctx, d, chunks); err != nil {
			return nil, err
		}
	}
	return &out, commit(ctx, tx, dim, &out, began, cpu)
}

func commit(ctx context.Context, tx store.Tx, dim int, out *written, began time.Time, cpu time.Duration) error {
	put := time.Now()
	info, err := tx.Commit(ctx, store.Settings{Model: model, BaseURL: baseURL, Dim: dim, Analyzer: "ngram-2"})
	out.Put, out.Commit, out.CPU, out.Size = ms(put.Sub(began)), ms(time.Since(put)), ms(cpuTime()-cpu), info.Size
	return err
}

// document makes a document of chunks; the line of a chunk is its row in there.
func document(doc int, vectors []float32, dim int, texts []string) (store.Document, []*record.Chunk) {
	path := fmt.Sprintf("notes/%06d.md", doc)
	d := store.Document{Path: path, ID: record.DocumentID(path), Hash: fmt.Sprintf("%064x", doc), Title: "Notes"}
	chunks := make([]*record.Chunk, data.ChunksADocument)
	for i := range chunks {
		chunks[i] = &record.Chunk{
			ID: record.ChunkID(d.ID, i+1, i, texts[i]), Document: d.ID, Path: path, Hash: d.Hash,
			Seq: i + 1, Of: len(chunks), Line: i + 1, Start: i, End: i + 1, Text: texts[i],
			Vector: vectors[i*dim : (i+1)*dim],
		}
	}
	return d, chunks
}

func update(ctx context.Context, dim, rows int, index string) (*written, error) {
	const doc = 200
	v := make([]float32, dim*data.ChunksADocument)
	data.NewVectors(dim).Document(v, rows+int(time.Now().UnixNano()%1e6))
	texts := make([]string, data.ChunksADocument)
	for i := range texts {
		texts[i] = fmt.Sprintf("changed %d at %d\n%s", i, time.Now().UnixNano(), strings.Repeat("for the better ", 60))
	}
	var out written
	began, cpu := time.Now(), cpuTime()
	tx, err := flat.New(index).Begin(ctx, true)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	d, chunks := document(doc, v, dim, texts)
	if err := tx.Put(ctx, d, chunks); err != nil {
		return nil, err
	}
	return &out, commit(ctx, tx, dim, &out, began, cpu)
}

// read says what a search took.
type read struct {
	Took, CPU float64 // ms
	Bytes     int64
	Hits      int
}

func lexical(ctx context.Context, index string) (*read, error) {
	before, began, cpu := bytesRead(), time.Now(), cpuTime()
	r, err := flat.New(index).Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	found, err := r.Lexical(ctx, []string{"context", "deadlin", "exceed", "transport", "retri", "error"}, 20, store.Filter{})
	if err != nil {
		return nil, err
	}
	refs := make([]store.Ref, len(found.Hits))
	for i, h := range found.Hits {
		refs[i] = h.Ref
	}
	if _, err := r.Fetch(ctx, refs, false); err != nil {
		return nil, err
	}
	return &read{ms(time.Since(began)), ms(cpuTime() - cpu), bytesRead() - before, len(refs)}, nil
}

// search is one search and its texts, without anything else that kb has.
func search(ctx context.Context, index, query string) ([]store.Ref, error) {
	raw, err := os.ReadFile(query)
	if err != nil {
		return nil, err
	}
	var q record.Query
	if err := json.Unmarshal(raw, &q); err != nil {
		return nil, err
	}
	r, err := flat.New(index).Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	hits, err := r.Nearest(ctx, q.Vector, k, store.Filter{})
	if err != nil {
		return nil, err
	}
	refs := make([]store.Ref, len(hits))
	for i, h := range hits {
		refs[i] = h.Ref
	}
	_, err = r.Fetch(ctx, refs, false)
	return refs, err
}

// bytesRead counts what this process has read from files, 0 where the system
// does not say.
func bytesRead() int64 {
	raw, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	var n int64
	fmt.Sscanf(string(raw), "rchar: %d", &n)
	return n
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func workers() int { return min(2, runtime.GOMAXPROCS(0)) }
