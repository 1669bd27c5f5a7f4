package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"kb/pkg/store/pgvector/pgtest"
	"kb/pkg/store/remote/remotetest"
)

// TestStores runs the scripts of testdata/stores on each store: STORE is what
// --index takes, of an index that does not exist yet, OTHER another one in a
// file.
func TestStores(t *testing.T) {
	for _, s := range []struct {
		name string
		need func(testing.TB)
		url  func(testing.TB) string
	}{
		{"file", func(testing.TB) {}, func(testing.TB) string { return "store.jsonl.zst" }},
		{"postgres", pgtest.Need, pgtest.URL},
		{"chroma", remotetest.Chroma.Need, remotetest.Chroma.URL},
		{"milvus", remotetest.Milvus.Need, remotetest.Milvus.URL},
		{"milvus lite", remotetest.MilvusLite.Need, remotetest.MilvusLite.URL},
	} {
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
