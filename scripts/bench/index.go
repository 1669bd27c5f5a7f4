package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kb/scripts/bench/data"
)

const million = 1_000_000

// index measures an index of one size beside everything that searches the same
// vectors.
type index struct {
	*bencher
	rows, dim     int
	dir           string
	vectors, file string // float32, index
	database      string // of sqlite-vec, "" where there is none
	folder        string // of chromem-go, "" where it takes too long
	write         written
	cost          *cost // of the write
}

// written is what flat prints of a change.
type written struct {
	Put, Commit, CPU float64
	Size, Text       int64
}

func (w *written) wall() float64 { return w.Put + w.Commit }

func (b *bencher) index(rows, dim int) error {
	x := &index{bencher: b, rows: rows, dim: dim, dir: filepath.Join(b.data, fmt.Sprintf("%dx%d", rows, dim))}
	defer os.RemoveAll(x.dir)
	x.vectors, x.file = filepath.Join(x.dir, "vectors.f32"), filepath.Join(x.dir, "index.jsonl.zst")
	b.heading("%s chunks × %d dimensions", thousands(rows), dim)
	for _, part := range []func() error{x.build, x.oneShot, x.warm, x.lexical, x.change} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func (x *index) name() string { return fmt.Sprintf("%s × %d", thousands(x.rows), x.dim) }

func (x *index) tool(name string, args ...string) []string {
	return append([]string{filepath.Join(x.bin, name)}, args...)
}

// flat is a call of the tool flat that has dimension and rows.
func (x *index) flat(command string, args ...string) []string {
	return x.tool("flat", append([]string{command, strconv.Itoa(x.dim), strconv.Itoa(x.rows)}, args...)...)
}

// build writes the data of all programs.
func (x *index) build() error {
	if err := os.MkdirAll(x.dir, 0o777); err != nil {
		return err
	}
	if _, err := once(nil, x.flat("vectors", x.vectors)...); err != nil {
		return err
	}
	if _, err := once(nil, x.flat("queries", x.dir)...); err != nil {
		return err
	}
	var err error
	if x.cost, err = once(&x.write, x.flat("write", x.vectors, x.file)...); err != nil {
		return err
	}
	if x.rows < million && x.peers != "" {
		x.database = filepath.Join(x.dir, "sqlite")
		if _, err := once(nil, x.node("sqlitevec", "write", strconv.Itoa(x.dim), strconv.Itoa(x.rows), x.vectors, x.database)...); err != nil {
			return err
		}
	}
	if x.rows <= 10_000 {
		x.folder = filepath.Join(x.dir, "chromem")
		if _, err := once(nil, x.tool("chromem", "write", strconv.Itoa(x.dim), strconv.Itoa(x.rows), x.vectors, x.folder)...); err != nil {
			return err
		}
	}
	codes := float64(x.rows) * float64((x.dim+63)/64*64)
	vectors := float64(x.rows) * float64(4*x.dim)
	text := float64(x.write.Text)
	x.printf("Texts %.1f MB, float32 %.1f MB, index %.1f MB. Written in %.0f ms (%.0f ms of it the documents handed in, %.0f ms commit), %.0f ms CPU.\n\n",
		text/1e6, vectors/1e6, float64(x.write.Size)/1e6, x.write.wall(), x.write.Put, x.write.Commit, x.write.CPU)
	x.check("size, "+x.name(), "≤ float32 + 1.05 × codes + 0.9 × text", float64(x.write.Size)/1e6, (vectors+1.05*codes+0.9*text)/1e6, " MB")
	return nil
}

func (x *index) node(script string, args ...string) []string {
	return append([]string{"node", filepath.Join(x.peers, script+".cjs")}, args...)
}

func (x *index) query(run int) string {
	return filepath.Join(x.dir, fmt.Sprintf("query%02d.json", run%data.Queries))
}

// oneShot measures a process that searches once.
func (x *index) oneShot() error {
	programs := []program{
		{
			name: "kb search", dir: x.dir, stdin: x.query,
			args: fixed(x.kb, "search", "--mode", "vector", "--top-k", "10", "--index", x.file),
			env:  []string{"KB_EMBED_MODEL=bench", "KB_EMBED_BASE_URL=http://127.0.0.1:9/v1"},
		},
		{name: "an empty Go program", args: fixed(filepath.Join(x.bin, "empty"))},
		{name: "float32 file, pread and vek", args: x.withQuery(x.tool("f32", "pread", strconv.Itoa(x.dim), x.vectors)...)},
		{name: "float32 file, mmap and vek", args: x.withQuery(x.tool("f32", "mmap", strconv.Itoa(x.dim), x.vectors)...)},
	}
	programs = append(programs, program{name: "the index of kb alone, without its commands", args: x.withQuery(x.tool("flat", "search", x.file)...)})
	if x.database != "" {
		programs = append(programs,
			program{name: "sqlite-vec", args: x.withQuery(x.node("sqlitevec", "search", x.database)...)},
			program{name: "sqlite-vec without its search (the start of node)", args: x.withQuery(x.node("sqlitevec", "open", x.database)...)})
	}
	if x.folder != "" {
		programs = append(programs, program{name: "chromem-go, persistent", args: x.withQuery(x.tool("chromem", "search", x.folder)...)})
	}
	if err := x.same(programs); err != nil {
		return err
	}
	costs, err := turns(x.runs, programs...)
	if err != nil {
		return err
	}
	x.printf("One process, one search, ten hits (those of kb with their texts):\n\n")
	x.table(costs)
	own := median(costs[0].wall)
	if x.dim == 1024 {
		x.oneShotBudgets(own, costs)
	}
	return nil
}

func (x *index) oneShotBudgets(own float64, costs []*cost) {
	what := "one-shot search, " + x.name()
	scan := map[int]float64{10_000: 1, 100_000: 0.5, million: 1}[x.rows]
	x.check(what, fmt.Sprintf("≤ %g × the float32 scan (pread)", scan), own/median(costs[2].wall), scan, " ×")
	alone := median(costs[4].wall)
	x.printf("\nThe index alone takes %.2f of the float32 scan; the rest of kb search is the start of a large program.\n", alone/median(costs[2].wall))
	if x.database == "" {
		return
	}
	limit := map[int]float64{10_000: 8, 100_000: 12}[x.rows]
	x.check(what, fmt.Sprintf("≤ 1/%g of sqlite-vec", limit), own/median(costs[5].wall), 1/limit, " ×")
	x.printf("\nWithout the start of node sqlite-vec takes %.0f ms, %.1f times kb (whose own start is in there).\n",
		median(costs[5].wall)-median(costs[6].wall), (median(costs[5].wall)-median(costs[6].wall))/own)
}

func (x *index) withQuery(args ...string) func(int) []string {
	return func(run int) []string { return append(slices.Clip(args), x.query(run)) }
}

// same says whether kb finds what the float32 scan finds, for all queries.
func (x *index) same(programs []program) error {
	bad := 0
	for run := range data.Queries {
		var kb, scan cost
		if err := kb.add(&programs[0], run); err != nil {
			return err
		}
		if err := scan.add(&programs[2], run); err != nil {
			return err
		}
		rows, err := hitRows(kb.out)
		if err != nil {
			return err
		}
		if !slices.Equal(rows, strings.Fields(string(scan.out))) {
			bad++
		}
	}
	x.printf("kb and the float32 scan find the same ten rows in the same order for %d of %d queries.\n\n", data.Queries-bad, data.Queries)
	if bad > 0 {
		return fmt.Errorf("%d queries have other results than the float32 scan", bad)
	}
	return nil
}

// hitRows are the rows of the hits that kb printed.
func hitRows(out []byte) (rows []string, err error) {
	for line := range strings.Lines(string(out)) {
		var hit struct {
			Kind, Path string
			Line       int
		}
		if err := json.Unmarshal([]byte(line), &hit); err != nil {
			return nil, err
		}
		if hit.Kind != "hit" {
			continue
		}
		var doc int
		if _, err := fmt.Sscanf(hit.Path, "notes/%d.md", &doc); err != nil {
			return nil, err
		}
		rows = append(rows, strconv.Itoa(doc*data.ChunksADocument+hit.Line-1))
	}
	return rows, nil
}

// spread describes a series of times in ms.
type spread struct{ Min, Median, P95 float64 }

// warm measures searches in a process that keeps everything in memory.
func (x *index) warm() error {
	var own struct {
		Load             float64
		Kb, Vek, Clients spread
		PerSecond        float64
		Mismatches       int
	}
	c, err := once(&own, x.flat("warm", x.file, x.vectors)...)
	if err != nil {
		return err
	}
	x.printf("\nIn a process that keeps the index in memory (read in %.0f ms; %.0f MB with the float32 of the scan beside it):\n\n", own.Load, float64(c.peak)/1e6)
	x.printf("| search | ms, median (min) | p95 | × kb |\n| --- | --- | --- | --- |\n")
	row := func(name string, s spread) {
		x.printf("| %s | %.2f (%.2f) | %.2f | %.2f |\n", name, s.Median, s.Min, s.P95, s.Median/own.Kb.Median)
	}
	row("kb", own.Kb)
	row(fmt.Sprintf("kb, 8 clients at once, %.0f searches a second", own.PerSecond), own.Clients)
	row("float32 in memory, vek, 2 threads", own.Vek)
	if own.Mismatches > 0 {
		return fmt.Errorf("%d searches have other results than the float32 scan", own.Mismatches)
	}
	what := "warm search, " + x.name()
	budgeted := x.rows == 100_000 && x.dim == 1024
	if budgeted {
		x.check(what, "≤ 0.5 × vek in memory", own.Kb.Median/own.Vek.Median, 0.5, " ×")
	}
	if x.rows == million {
		return nil
	}
	var chromem spread
	if _, err := once(&chromem, x.tool("chromem", "warm", strconv.Itoa(x.dim), strconv.Itoa(x.rows), x.vectors)...); err != nil {
		return err
	}
	row("chromem-go", chromem)
	if x.database == "" {
		return nil
	}
	var queries []string
	for i := range data.Queries {
		queries = append(queries, x.query(i))
	}
	var sqlite, usearch spread
	if _, err := once(&sqlite, x.node("sqlitevec", append([]string{"warm", x.database}, queries...)...)...); err != nil {
		return err
	}
	row("sqlite-vec", sqlite)
	if _, err := once(&usearch, x.node("usearch", append([]string{strconv.Itoa(x.dim), strconv.Itoa(x.rows), x.vectors}, queries...)...)...); err != nil {
		return err
	}
	row("usearch exact, 2 threads", usearch)
	if budgeted {
		x.check(what, "≤ 1/3 of usearch exact", own.Kb.Median/usearch.Median, 1.0/3, " ×")
	}
	return nil
}

// lexical measures BM25.
func (x *index) lexical() error {
	if x.dim != x.dims[0] {
		return nil
	}
	question := "context deadline exceeded while a transport retries after an error"
	costs, err := turns(x.runs,
		program{name: "kb search --mode bm25", dir: x.dir, args: fixed(x.kb, "search", "--mode", "bm25", "--top-k", "10", "--index", x.file, question)},
		program{name: "an empty Go program", args: fixed(filepath.Join(x.bin, "empty"))})
	if err != nil {
		return err
	}
	x.printf("\n\n")
	x.table(costs)
	var read struct {
		Bytes, Hits int64
		CPU, Took   float64
	}
	if _, err := once(&read, x.tool("flat", "lexical", x.file)...); err != nil {
		return err
	}
	x.printf("\nSix terms: %.2f MB read from the index, for 20 hits with their texts.\n", float64(read.Bytes)/1e6)
	if x.rows == 100_000 {
		x.check("one-shot BM25, 100,000 chunks", "CPU ≤ 100 ms", median(costs[0].cpu), 100, " ms")
		x.check("one-shot BM25, 100,000 chunks", "≤ 1.5 MB read", float64(read.Bytes)/1e6, 1.5, " MB")
	}
	return nil
}

// change measures the replacement of one document of 20 chunks against a
// second full write, since the first one warmed the machine.
func (x *index) change() error {
	if x.dim != x.dims[0] {
		return nil
	}
	full := []written{x.write}
	peak := x.cost.peak
	if x.rows < million {
		for range min(2, x.changes-1) {
			var w written
			c, err := once(&w, x.flat("write", x.vectors, x.file+".again")...)
			if err != nil {
				return err
			}
			peak = max(peak, c.peak)
			full = append(full, w)
			os.Remove(x.file + ".again")
		}
	}
	var one []written
	var changePeak int64
	for range x.changes {
		var w written
		c, err := once(&w, x.flat("update", x.file)...)
		if err != nil {
			return err
		}
		changePeak = max(changePeak, c.peak)
		one = append(one, w)
	}
	wall := func(w written) float64 { return w.wall() }
	cpu := func(w written) float64 { return w.CPU }
	x.printf("\n| write | wall ms, median (min) | CPU ms, median (min) | peak MB |\n| --- | --- | --- | --- |\n")
	row := func(name string, all []written, peak int64) {
		x.printf("| %s | %.0f (%.0f) | %.0f (%.0f) | %.0f |\n", name,
			median(mapped(all, wall)), slices.Min(mapped(all, wall)), median(mapped(all, cpu)), slices.Min(mapped(all, cpu)), float64(peak)/1e6)
	}
	row("all documents, with their texts in memory", full, peak)
	row("one document of 20 chunks", one, changePeak)
	x.check("one document changed, "+x.name(), "≤ 1/6 of a full write", median(mapped(one, wall))/median(mapped(full, wall)), 1.0/6, " ×")
	return nil
}

func mapped(all []written, f func(written) float64) []float64 {
	out := make([]float64, len(all))
	for i, w := range all {
		out[i] = f(w)
	}
	return out
}
