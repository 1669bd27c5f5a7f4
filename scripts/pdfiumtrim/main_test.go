package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// The module in the tree is what this program makes of the one in go.mod.
func TestUpToDate(t *testing.T) {
	whole, err := source()
	if err != nil {
		t.Skip(err)
	}
	want, err := trim(whole, exports)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile("../../pkg/load/pdf/pdfium.wasm.zst")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if got, err := z.DecodeAll(packed, nil); err != nil || !bytes.Equal(got, want) {
		t.Errorf("pkg/load/pdf/pdfium.wasm.zst is of another version (%v): go generate ./pkg/load/pdf", err)
	}
}
