package pdf

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdfium_errors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"kb/pkg/record"
)

// wasmRun is the state of one document over the instances that read it.
type wasmRun struct {
	data     []byte
	began    time.Time // when compiled code got the document
	count    int       // pages of the document
	out      []rawPage
	size     int          // of the text so far
	finished atomic.Int64 // pages
	stopped  atomic.Bool  // the instance is being killed, its failures are ours
}

// begin returns when it was first called.
func (r *wasmRun) begin() time.Time {
	if r.began.IsZero() {
		r.began = time.Now()
	}
	return r.began
}

// verdict turns a document without any page that could be read into an error.
func (r *wasmRun) verdict() error {
	for _, p := range r.out {
		if p.Failed == "" {
			return nil
		}
	}
	if len(r.out) == 0 {
		return failure(record.ClassDamaged, "damaged PDF: it has no pages")
	}
	if strings.Contains(r.out[0].Failed, memoryTrap) {
		return failure(record.ClassTooLarge, "%s", r.out[0].Failed)
	}
	return failure(record.ClassDamaged, "damaged PDF: %s", r.out[0].Failed)
}

const memoryTrap = "it unpacks to more than 256 MiB, or is damaged"

// read goes on behind the pages that were read before.
func (r *wasmRun) read(instance pdfium.Pdfium) (ended ending, err error) {
	defer recovered(&err)
	opened, err := instance.OpenDocument(&requests.OpenDocument{File: &r.data})
	if err != nil {
		return finished, openError(err)
	}
	counted, err := instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	if err != nil {
		return finished, openError(err)
	}
	r.count = counted.PageCount
	if r.count > maxPages {
		return finished, failure(record.ClassTooLarge, "%d pages are more than the limit of %d", r.count, maxPages)
	}
	for i := len(r.out); i < r.count; i++ {
		page, hit := readPage(instance, opened.Document, i)
		if r.stopped.Load() {
			return finished, nil
		}
		if r.size += len(page.Text); r.size > maxText {
			return finished, failure(record.ClassTooLarge, "more than %d MiB of text", maxText>>20)
		}
		r.out = append(r.out, page)
		r.finished.Add(1)
		if hit {
			return trapped, nil
		}
	}
	return finished, nil
}

func readPage(instance pdfium.Pdfium, doc references.FPDF_DOCUMENT, i int) (page rawPage, trapped bool) {
	at := requests.Page{ByIndex: &requests.PageByIndex{Document: doc, Index: i}}
	got, err := instance.GetPageText(&requests.GetPageText{Page: at})
	if err != nil {
		if isTrap(err) {
			return rawPage{Failed: memoryTrap}, true
		}
		return rawPage{Failed: fmt.Sprintf("page %d cannot be read", i+1)}, false
	}
	page.Text = got.Text
	if strings.TrimSpace(got.Text) == "" {
		page.Graphics = hasGraphics(instance, at)
	}
	return page, false
}

// hasGraphics says whether a page without text shows something: a picture, a
// form, a shading, or text that was turned into outlines. A frame or a rule is
// nothing.
func hasGraphics(instance pdfium.Pdfium, at requests.Page) bool {
	const outlines = 50
	counted, err := instance.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: at})
	if err != nil {
		return false
	}
	if counted.Count >= outlines {
		return true
	}
	for i := range counted.Count {
		object, err := instance.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: at, Index: i})
		if err != nil {
			return false
		}
		kind, err := instance.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err != nil {
			return false
		}
		switch kind.Type {
		case enums.FPDF_PAGEOBJ_IMAGE, enums.FPDF_PAGEOBJ_FORM, enums.FPDF_PAGEOBJ_SHADING:
			return true
		}
	}
	return false
}

func openError(err error) error {
	switch {
	case errors.Is(err, pdfium_errors.ErrPassword):
		return failure(record.ClassPassword, "a password is needed")
	case errors.Is(err, pdfium_errors.ErrSecurity):
		return failure(record.ClassPassword, "encrypted in a way that cannot be read")
	case isTrap(err):
		return failure(record.ClassTooLarge, "%s", memoryTrap)
	}
	return failure(record.ClassDamaged, "damaged PDF")
}

// isTrap says whether a call ended in a trap of the WebAssembly runtime:
// PDFium traps when it runs out of memory.
func isTrap(err error) bool {
	return strings.Contains(err.Error(), "wasm error") || strings.Contains(err.Error(), "wasm stack trace")
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = failure(record.ClassCrashed, "the PDF engine broke down: %s", firstLine(fmt.Errorf("%v", p)))
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
