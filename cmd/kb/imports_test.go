package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// layers are the packages of pkg/ from the leaves up. A package may import
// packages of lower layers only, so stages never import each other.
var layers = [][]string{
	{"record", "jsonl", "text", "markdown", "vector", "atomicfile"},
	{"model", "store", "bm25", "fuse"},
	{"load", "chunk", "embed", "index", "search", "rerank", "answer", "eval", "session", "cache"},
	{"ask", "build", "watch"},
	{"live"},
	{"server", "mcp"},
}

// within lists the imports between packages of one layer that are meant.
var within = map[string]bool{
	"jsonl→record": true, "store→bm25": true, "model→bm25": true,
}

func TestImportsRunOneWay(t *testing.T) {
	level := map[string]int{}
	for i, layer := range layers {
		for _, p := range layer {
			level[p] = i
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "kb/pkg/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from := area(fields[0])
		if _, ok := level[from]; !ok {
			t.Errorf("pkg/%s has no place among the layers", from)
		}
		for _, imp := range fields[1:] {
			to := area(imp)
			if to == "" || to == from || within[from+"→"+to] {
				continue
			}
			if level[to] >= level[from] {
				t.Errorf("%s imports %s: pkg/%s may not import pkg/%s", fields[0], imp, from, to)
			}
		}
	}
}

// area is the directory below pkg/ that an import path belongs to.
func area(path string) string {
	rest, ok := strings.CutPrefix(path, "kb/pkg/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// TestDependencies holds the list of README.md against go.mod.
func TestDependencies(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllSubmatch(mod, -1)
	if len(direct) == 0 {
		t.Error("go.mod names no dependency")
	}
	for _, m := range direct {
		if name := "`" + strings.TrimPrefix(string(m[1]), "github.com/") + "`"; !strings.Contains(string(readme), name) {
			t.Errorf("cmd/kb/README.md does not say what %s is for", name)
		}
	}
}
