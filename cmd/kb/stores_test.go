package main

import (
	"crypto/rand"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"kb/pkg/store/pgvector/pgtest"
	"kb/pkg/store/remote/remotetest"
)

// testStore is a store that tests run on.
type testStore struct {
	name string
	need func(testing.TB)
	url  func(testing.TB) string // what --index takes, of an index that does not exist yet
}

func testStores() []testStore {
	return []testStore{
		{"file", func(testing.TB) {}, func(testing.TB) string { return rand.Text() + ".jsonl.zst" }},
		{"postgres", pgtest.Need, pgtest.URL},
		{"chroma", remotetest.Chroma.Need, remotetest.Chroma.URL},
		{"milvus", remotetest.Milvus.Need, remotetest.Milvus.URL},
		{"milvus lite", remotetest.MilvusLite.Need, remotetest.MilvusLite.URL},
	}
}

// TestStores runs the scripts of testdata/stores on each store: STORE is what
// --index takes, of an index that does not exist yet, OTHER another one in a
// file.
func TestStores(t *testing.T) {
	for _, s := range testStores() {
		t.Run(s.name, func(t *testing.T) {
			s.need(t)
			testscript.Run(t, scripts(t, "testdata/stores", func(e *testscript.Env) error {
				e.Setenv("STORE", s.url(t))
				e.Setenv("OTHER", "other.jsonl.zst")
				return nil
			}))
		})
	}
}

// TestExportPairs copies an index from each store into each other one. What is
// exported of the copy is, byte for byte, what was exported of the first one,
// and that has all that was put in.
func TestExportPairs(t *testing.T) {
	dir := t.TempDir()
	kb := func(t *testing.T, stdin string, args ...string) (stdout, stderr string) {
		t.Helper()
		cmd := exec.Command(kbProgram(t), args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		var out, said strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != exitPartial { // for the chunk without a vector
			t.Fatalf("kb %s: %v: %s", args[0], err, &said)
		}
		return out.String(), said.String()
	}
	records := func(export string) string { // all but the line that names the store
		_, rest, _ := strings.Cut(export, "\n")
		return rest
	}
	filled := map[string]string{"file": "first.jsonl.zst"}
	kb(t, exported, "index", "--index", filled["file"])
	first, _ := kb(t, "", "export", "--index", filled["file"])
	if records(first) != exported {
		t.Fatalf("exported were\n%s\nput in were\n%s", records(first), exported)
	}
	for _, from := range testStores() {
		for _, to := range testStores() {
			if from.name == to.name {
				continue
			}
			all := t // indexes stay to its end
			t.Run(from.name+" to "+to.name, func(t *testing.T) {
				from.need(t)
				to.need(t)
				copied, index := "", to.url(all)
				out, _ := kb(t, "", "export", "--index", filled[from.name])
				_, said := kb(t, out, "index", "--index", index)
				if !strings.Contains(said, "whose content is the same now") {
					t.Errorf("kb index says %q", said)
				}
				if copied, _ = kb(t, "", "export", "--index", index); records(copied) != records(first) {
					t.Errorf("exported were\n%s\ncame of\n%s", records(copied), records(first))
				}
				if filled[to.name] == "" {
					filled[to.name] = index
				}
			})
		}
	}
}

// exported is an index with all that is easily lost: Chinese, zero bytes,
// characters outside of the first plane, fields of other programs, front matter,
// an empty chunk, one without a vector, and files that were skipped.
const exported = `{"kind":"chunk","id":"c1","document":"d1","path":"notes/a.md","title":"标题 \u0000 \"q\"","hash":"h1","seq":1,"of":3,"headings":["一","二"],"line":3,"start":0,"end":12,"text":"差旅\u0000审批 🌳","meta":{"date":"2026-03-04","tags":["red","蓝"]},"vector":"AACAPwAAAAAAAAAA","model":"m","base_url":"http://h/v1","dim":3,"query_prefix":"q: ","document_prefix":"d: ","x_own":{"a":[1,null]}}
{"kind":"chunk","id":"c2","document":"d1","path":"notes/a.md","title":"标题 \u0000 \"q\"","hash":"h1","seq":2,"of":3,"headings":[],"start":12,"end":12,"text":"","meta":{"date":"2026-03-04","tags":["red","蓝"]},"vector":"AAAAAAAAgD8AAAAA","model":"m","base_url":"http://h/v1","dim":3,"query_prefix":"q: ","document_prefix":"d: "}
{"kind":"chunk","id":"c3","document":"d1","path":"notes/a.md","title":"标题 \u0000 \"q\"","hash":"h1","seq":3,"of":3,"headings":[],"start":12,"end":20,"text":"refused","meta":{"date":"2026-03-04","tags":["red","蓝"]},"error":"the model refuses it"}
{"kind":"chunk","id":"c4","document":"d2","path":"notes/课程 b.pdf","title":"b","hash":"h2","seq":1,"of":1,"headings":[],"page":2,"start":0,"end":5,"text":"a\r\n\tb","vector":"AAAAAAAAAAAAAIA/","model":"m","base_url":"http://h/v1","dim":3,"query_prefix":"q: ","document_prefix":"d: "}
{"kind":"skipped","path":"notes/bad.md","root":"notes","reason":"no text","class":"no_text","hash":"h3"}
{"kind":"skipped","path":"notes/扫描.pdf","root":"notes","reason":"no text layer","class":"no_text_layer"}
{"kind":"root","path":"notes","documents":2,"skipped":2}
`
