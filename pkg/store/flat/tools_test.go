package flat_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kb/pkg/store/flat"
	"kb/pkg/store/storetest"
)

// TestTools reads an index with nothing of this package: zstd finds it whole,
// jq reads each line, and the reader of scripts/read_index.py gets the vectors
// that went in.
func TestTools(t *testing.T) {
	for _, tool := range []string{"zstd", "jq", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing", tool)
		}
	}
	for _, sparse := range []bool{false, true} {
		t.Run(fmt.Sprintf("sparse %v", sparse), func(t *testing.T) { testTools(t, sparse) })
	}
}

func testTools(t *testing.T, sparse bool) {
	g := storetest.NewGenerator(91, 48)
	g.Sparse = sparse
	docs := g.Docs(40)
	path := filepath.Join(t.TempDir(), "index.jsonl.zst")
	info := storetest.Write(t, flat.New(path), g.Settings(), docs...)
	run := func(name string, args ...string) string {
		var errs bytes.Buffer
		cmd := exec.Command(name, args...)
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, errs.Bytes())
		}
		return string(out)
	}
	run("zstd", "-tq", path)
	kinds := run("sh", "-c", `zstd -dc "$0" | jq -r .kind | sort | uniq -c | tr -s ' '`, path)
	for kind, n := range map[string]int{"index": 1, "document": len(docs), "chunk": info.Chunks, "vector": info.Chunks, "directory": 1} {
		if line := fmt.Sprintf(" %d %s\n", n, kind); !strings.Contains(kinds, line) {
			t.Errorf("jq does not count%q in\n%s", line, kinds)
		}
	}
	said := run("python3", filepath.Join("..", "..", "..", "scripts", "read_index.py"), path)
	v := docs[0].Chunks[0].Vector
	for _, want := range []string{
		fmt.Sprintf("48 dimensions, version %s", info.Version),
		fmt.Sprintf("%.4f %.4f %.4f", v[0], v[1], v[2]),
		fmt.Sprintf("%8d chunk", info.Chunks),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("read_index.py does not say %q but\n%s", want, said)
		}
	}
}
