package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// processes measures commands that do little, against a program that does
// nothing.
func (b *bencher) processes() error {
	b.heading("Short processes")
	notes := filepath.Join(b.data, "sample")
	if err := os.CopyFS(filepath.Join(notes, "notes"), os.DirFS(b.notes)); err != nil {
		return err
	}
	many, err := b.manyNotes()
	if err != nil {
		return err
	}
	env := []string{"XDG_CACHE_HOME=" + filepath.Join(b.data, "cache")}
	for _, dir := range []string{notes, many} {
		for range 2 { // the second looks at sizes and times, and keeps them
			if _, err := turns(1, program{name: "kb build", args: fixed(b.kb, "build", "notes"), dir: dir, env: env, ok: []int{6}}); err != nil {
				return err
			}
		}
	}
	in := func(name, dir string, args ...string) program {
		return program{name: name, args: fixed(append([]string{b.kb}, args...)...), dir: dir, env: env, ok: []int{6}}
	}
	costs, err := turns(2*b.runs,
		program{name: "an empty Go program", args: fixed(filepath.Join(b.bin, "empty"))},
		in("kb --version", notes, "--version"),
		in("kb --help", notes, "--help"),
		in("kb search ERR-5023, sample notes", notes, "search", "ERR-5023"),
		in("kb ask 建议每天学多久？, sample notes", notes, "ask", "建议每天学多久？"),
		in("kb build, nothing changed, sample notes", notes, "build"),
		in("kb build, nothing changed, 1,000 notes", many, "build"),
	)
	if err != nil {
		return err
	}
	b.table(costs)
	empty := median(costs[0].cpu)
	for _, c := range []struct {
		at    int
		limit float64
	}{{1, 2}, {2, 2}, {4, 3}, {6, 5}} {
		b.check(costs[c.at].name, fmt.Sprintf("CPU ≤ %g × an empty Go program", c.limit), median(costs[c.at].cpu)/empty, c.limit, " ×")
	}
	for _, c := range costs[1:3] {
		b.check(c.name, "resident memory ≤ 25 MB", float64(c.peak)/1e6, 25, " MB")
	}
	return nil
}

// manyNotes makes the folder of 1,000 notes of 6 KB.
func (b *bencher) manyNotes() (string, error) {
	dir := filepath.Join(b.data, "many")
	_, err := once(nil, filepath.Join(b.bin, "flat"), "notes", filepath.Join(dir, "notes"))
	return dir, err
}

// indexing measures each stage of the pipe over the 1,000 notes.
func (b *bencher) indexing() error {
	b.heading("Indexing 1,000 notes")
	dir := filepath.Join(b.data, "many")
	size := 0.0
	entries, err := os.ReadDir(filepath.Join(dir, "notes"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			size += float64(info.Size()) / 1e6
		}
	}
	b.printf("%.1f MB of text, offline, each stage by itself.\n\n| stage | CPU ms | wall ms | peak MB | CPU s a MB of text |\n| --- | --- | --- | --- | --- |\n", size)
	total, input := 0.0, ""
	for _, stage := range [][]string{{"load", "notes"}, {"chunk"}, {"embed", "--reuse=false"}, {"index", "--index", "stages.jsonl.zst"}} {
		p := program{name: "kb " + stage[0], args: fixed(append([]string{b.kb}, stage...)...), dir: dir, ok: []int{6},
			stdout: filepath.Join(dir, stage[0]+".jsonl")}
		if input != "" {
			from := input
			p.stdin = func(int) string { return from }
		}
		costs, err := turns(1, p)
		if err != nil {
			return err
		}
		c := costs[0]
		input = p.stdout
		total += c.cpu[0]
		b.printf("| %s | %.0f | %.0f | %.0f | %.3f |\n", c.name, c.cpu[0], c.wall[0], float64(c.peak)/1e6, c.cpu[0]/1000/size)
		limit, budget := 100.0, "peak memory ≤ 100 MB + the largest document"
		if stage[0] == "index" {
			stat, err := os.Stat(filepath.Join(dir, "stages.jsonl.zst"))
			if err != nil {
				return err
			}
			limit, budget = 100+1.5*float64(stat.Size())/1e6, "peak memory ≤ 100 MB + 1.5 × the file"
		}
		b.check(c.name, budget, float64(c.peak)/1e6, limit, " MB")
	}
	b.check("load, chunk, embed and index", "≤ 0.5 s CPU a MB of text", total/1000/size, 0.5, " s")
	return nil
}
