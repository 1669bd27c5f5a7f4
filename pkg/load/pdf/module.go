package pdf

import (
	_ "embed"

	"github.com/klauspost/compress/zstd"
)

// packedModule is PDFium as WebAssembly (BSD-3-Clause and Apache-2.0, see
// https://pdfium.googlesource.com/pdfium/+/main/LICENSE), reduced to what text
// needs and compressed.
//
//go:generate go run kb/scripts/pdfiumtrim pdfium.wasm.zst
//go:embed pdfium.wasm.zst
var packedModule string

// module unpacks it; it takes some 15 ms.
func module() ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.DecodeAll([]byte(packedModule), nil)
}
