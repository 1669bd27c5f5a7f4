package pdf

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdfium_errors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/requests"

	"kb/pkg/record"
)

// wasmRun is the state of one document over the instances that read it.
type wasmRun struct {
	data     []byte
	began    time.Time // when compiled code got the document
	count    int       // pages of the document
	out      []rawPage
	outline  []bookmark
	outlined bool         // the outline was read, or an instance lost with it
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

// result is what was read, with the bookmarks on their pages.
func (r *wasmRun) result() ([]rawPage, error) {
	for _, b := range r.outline {
		if b.Page < len(r.out) {
			r.out[b.Page].Bookmarks = append(r.out[b.Page].Bookmarks, b)
		}
	}
	return r.out, r.verdict()
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
	if !r.outlined {
		r.outlined = true
		if r.outline, err = readOutline(instance, opened.Document); err != nil {
			r.outlined = !r.stopped.Load()
			return trapped, nil
		}
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
