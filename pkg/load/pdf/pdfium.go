package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdfium_errors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"kb/pkg/record"
)

// wasmPages caps the memory of an instance: 4,096 pages of 64 KiB.
const wasmPages = 4096

// wasmEngine runs PDFium in WebAssembly: a new instance for each document,
// dropped behind it. Compiling the module takes 4 s and 350 MB once, and 0.4 s
// and 60 MB when the compiled code comes from the cache.
type wasmEngine struct {
	cacheDir string
	patience time.Duration // with a document, before pages are counted
	tell     func(string)
	pool     pdfium.Pool
	compiled wazero.CompilationCache
	memory   arena
	broken   error // why it could not be started
}

func newPdfium(cacheDir string, tell func(string)) *wasmEngine {
	return &wasmEngine{cacheDir: cacheDir, patience: timeToOpen, tell: tell}
}

func (w *wasmEngine) close() error {
	if w.pool == nil {
		return nil
	}
	err := w.pool.Close()
	if w.compiled != nil {
		err = errors.Join(err, w.compiled.Close(context.Background()))
	}
	w.pool, w.compiled = nil, nil
	return err
}

func (w *wasmEngine) start() error {
	if w.pool != nil || w.broken != nil {
		return w.broken
	}
	err := w.init(w.openCache())
	if err != nil && w.compiled != nil { // a cache that another version left, or that is damaged
		w.compiled.Close(context.Background())
		w.compiled = nil
		w.tell(fmt.Sprintf("%s cannot be used (%s), compiling PDFium again", w.cacheDir, firstLine(err)))
		err = w.init(nil)
	}
	if err != nil {
		w.broken = fmt.Errorf("PDFium %w: %s", errCannotRun, firstLine(err))
	}
	return w.broken
}

func (w *wasmEngine) openCache() wazero.CompilationCache {
	if w.cacheDir == "" {
		return nil
	}
	c, err := wazero.NewCompilationCacheWithDir(filepath.Join(w.cacheDir, "wazero"))
	if err != nil {
		w.tell(fmt.Sprintf("no cache for the PDF engine, each start takes some seconds: %v", err))
		return nil
	}
	return c
}

func (w *wasmEngine) init(compiled wazero.CompilationCache) (err error) {
	defer recovered(&err)
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithCloseOnContextDone(true).
		WithMemoryLimitPages(wasmPages)
	if compiled != nil {
		config = config.WithCompilationCache(compiled)
	}
	w.compiled = compiled
	w.pool, err = webassembly.Init(webassembly.Config{
		Context:       w.memory.with(context.Background()),
		MaxIdle:       1,
		MaxTotal:      2, // one may be on its way out
		RuntimeConfig: config,
		FSConfig:      wazero.NewFSConfig(), // no files: the default is all of them
		Stdout:        io.Discard,
		Stderr:        io.Discard,
	})
	return err
}

func (w *wasmEngine) pages(ctx context.Context, data []byte) ([]rawPage, error) {
	if err := w.start(); err != nil {
		return nil, err
	}
	run := &wasmRun{data: data}
	began := time.Now()
	for {
		trapped, err := w.oneInstance(ctx, run, began)
		if err != nil {
			return nil, err
		}
		if !trapped || len(run.out) >= run.count {
			return run.out, run.verdict()
		}
	}
}

// oneInstance reads pages until the document's end or a trap, which leaves
// the instance useless and costs the page that it was on. It ends the instance
// at the deadline.
func (w *wasmEngine) oneInstance(ctx context.Context, run *wasmRun, began time.Time) (trapped bool, err error) {
	instance, err := w.pool.GetInstanceWithContext(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		return false, fmt.Errorf("PDFium %w: %s", errCannotRun, firstLine(err))
	}
	type outcome struct {
		trapped bool
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		trapped, err := run.read(instance)
		done <- outcome{trapped, err}
	}()
	defer w.memory.release()
	timer := time.NewTimer(time.Until(began.Add(w.patience)))
	defer timer.Stop()
	for {
		select {
		case o := <-done:
			if o.trapped { // closing would run its code again
				instance.Kill()
			} else {
				instance.Close()
			}
			return o.trapped, o.err
		case <-ctx.Done():
			err = ctx.Err()
		case <-timer.C:
			pages := run.finished.Load()
			deadline := began.Add(w.patience + time.Duration(pages)*timePerPage)
			if left := time.Until(deadline); left > 0 {
				timer.Reset(left)
				continue
			}
			err = failure(record.ClassTimeout, "gave up after %d s on page %d", int(time.Since(began).Seconds()), pages+1)
		}
		instance.Kill()
		<-done // the runtime leaves a cancelled instance at its next loop or call
		return false, err
	}
}

// wasmRun is the state of one document over the instances that read it.
type wasmRun struct {
	data     []byte
	count    int // pages of the document
	out      []rawPage
	size     int // of the text so far
	finished atomic.Int64
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

func (r *wasmRun) read(instance pdfium.Pdfium) (trapped bool, err error) {
	defer recovered(&err)
	opened, err := instance.OpenDocument(&requests.OpenDocument{File: &r.data})
	if err != nil {
		return false, openError(err)
	}
	counted, err := instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	if err != nil {
		return false, openError(err)
	}
	r.count = counted.PageCount
	if r.count > maxPages {
		return false, failure(record.ClassTooLarge, "%d pages are more than the limit of %d", r.count, maxPages)
	}
	for i := len(r.out); i < r.count; i++ {
		page, trapped := readPage(instance, opened.Document, i)
		if r.size += len(page.Text); r.size > maxText {
			return false, failure(record.ClassTooLarge, "more than %d MiB of text", maxText>>20)
		}
		r.out = append(r.out, page)
		r.finished.Add(1)
		if trapped {
			return true, nil
		}
	}
	return false, nil
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
