// Command pdfiumtrim writes pkg/load/pdf/pdfium.wasm.zst: PDFium as WebAssembly
// without the functions that reading text cannot reach, such as drawing,
// editing and forms.
//
//	go run ./scripts/pdfiumtrim pkg/load/pdf/pdfium.wasm.zst
//
// The whole module is the one that github.com/klippa-app/go-pdfium carries (of
// the version in go.mod); run this again after a change of that version. Of
// 6,327 functions 5,200 stay, of 3.9 MB of code 2.7. What that saves, compared
// in one run on two cores: compiling takes 3.0 s of CPU and 135 MB instead of
// 6.0 s and 390 MB, a start from the compile cache 0.10 s instead of 0.18 s,
// and the program is 4 MB smaller.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

const module = "github.com/klippa-app/go-pdfium"

// exports are the functions that go-pdfium calls on behalf of kb.
var exports = []string{
	"_initialize", "malloc", "free",
	"FPDF_InitLibrary", "FPDF_GetLastError",
	"FPDF_LoadMemDocument", "FPDF_CloseDocument", "FPDF_GetPageCount",
	"FPDF_LoadPage", "FPDF_ClosePage",
	"FPDFText_LoadPage", "FPDFText_ClosePage", "FPDFText_CountChars", "FPDFText_GetUnicode", "FPDFText_GetFontSize", "FPDFText_GetMatrix",
	"FPDFPage_CountObjects", "FPDFPage_GetObject", "FPDFPageObj_GetType",
	"FPDFBookmark_GetFirstChild", "FPDFBookmark_GetNextSibling", "FPDFBookmark_GetTitle", "FPDFBookmark_GetDest",
	"FPDFDest_GetDestPageIndex",
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("pdfiumtrim: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: pdfiumtrim OUTPUT")
	}
	whole, err := source()
	if err != nil {
		log.Fatal(err)
	}
	small, err := trim(whole, exports)
	if err != nil {
		log.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], enc.EncodeAll(small, nil), 0o644); err != nil {
		log.Fatal(err)
	}
}

func source() ([]byte, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m %s: %w", module, err)
	}
	return os.ReadFile(filepath.Join(string(bytes.TrimSpace(dir)), "internal", "pdfium_wasm", "pdfium.wasm"))
}
