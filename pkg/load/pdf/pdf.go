// Package pdf takes the text out of PDF files, page by page.
//
// Two engines do it. pdfium is Google's PDFium compiled to WebAssembly: it
// reads 58 of 59 readable test files, runs without cgo, and a hostile file can
// neither leave its sandbox, nor take more than 256 MiB, nor run on after its
// deadline. plain is ledongthuc/pdf in a child process: it reads 22 of the 59,
// and loops or dies on hostile files, so the child has limits and is killed.
// auto is pdfium, and plain for what pdfium cannot open or where it cannot run.
//
// What either finds is cleaned in the same way: ligatures, hyphens and lines
// that the page layout cut are mended, running headers and footers are removed,
// and a page whose text layer is missing or useless says so in its status.
//
// Nothing is started before the first file that the cache does not know.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"kb/pkg/record"
)

// Names of engines.
const (
	Auto   = "auto"
	PDFium = "pdfium"
	Plain  = "plain"
)

// Statuses of a page, as in [record.Page]; "" is a page with text.
const (
	StatusEmpty      = "empty"         // nothing on it
	StatusNoText     = "no_text_layer" // pictures only: needs OCR
	StatusUnreadable = "unreadable"    // a text layer without usable characters
	StatusError      = "error"         // the page could not be read
)

// Limits of one document.
const (
	maxPages     = 20_000
	maxText      = 256 << 20              // bytes of text
	timeToOpen   = 8 * time.Second        // plus
	timePerPage  = 100 * time.Millisecond // for each page that was read
	timeFallback = 4 * time.Second        // in place of timeToOpen where plain runs behind pdfium
)

// ValidEngine says whether there is an engine of this name; "" is auto.
func ValidEngine(name string) error {
	switch name {
	case "", Auto, PDFium, Plain:
		return nil
	}
	return fmt.Errorf("unknown PDF engine %q, it is one of auto, pdfium, plain", name)
}

// Options are settings of an [Extractor].
type Options struct {
	Engine     string // "": auto
	CacheDir   string // for text and compiled code; "": no cache
	NoCache    bool   // read anew, and do not keep the text
	Executable string // this program, which runs [Worker] as [WorkerCommand]; "": plain is off
	// Status gets what is going on while one waits, "" at its end; nil: nobody
	// watches. It is called from the goroutine of Extract.
	Status func(line string)
}

// Doc is what a file holds.
type Doc struct {
	Pages   []Page   // each page of the file, in order
	Running []string // headers and footers that were removed, with # for numbers
}

// Page is one page.
type Page struct {
	Text     string               `json:"text,omitempty"`
	Status   string               `json:"status,omitempty"`
	Headings []record.PageHeading `json:"headings,omitempty"`
}

// Error says why a file has no text.
type Error struct {
	Class  string // one of the record.Class constants
	Reason string // for people
}

func (e *Error) Error() string { return e.Reason }

func failure(class, format string, args ...any) error {
	return &Error{Class: class, Reason: fmt.Sprintf(format, args...)}
}

// rawPage is a page as an engine sees it.
type rawPage struct {
	Text     string `json:"text,omitempty"`
	Graphics bool   `json:"graphics,omitempty"` // there is something drawn on a page without text
	Failed   string `json:"failed,omitempty"`   // why the page could not be read

	Sizes     []float32  `json:"-"` // of the type at the beginning of each line, in points; 0: unknown
	Bookmarks []bookmark `json:"-"` // that lead to the page
}

// engine reads all pages of a document; errors are an [Error], that of the
// context, or errCannotRun.
type engine interface {
	pages(ctx context.Context, data []byte) ([]rawPage, error)
	close() error
}

// errCannotRun is a fault of the engine, not of the document.
var errCannotRun = errors.New("engine cannot run")

// Extractor reads PDF files with one engine, one file at a time: each may take
// as much memory as a document may have. It may be used by many goroutines.
type Extractor struct {
	cache cache
	turn  chan struct{} // holds one token
	run   func(ctx context.Context, data []byte) ([]rawPage, error)
	all   []engine
	news  []string // for people, not yet handed out; guarded by turn
}

// NewExtractor returns an extractor; Close it.
func NewExtractor(opt Options) *Extractor {
	name := opt.Engine
	if name == "" {
		name = Auto
	}
	x := &Extractor{turn: make(chan struct{}, 1)}
	if !opt.NoCache {
		x.cache = newCache(opt.CacheDir, name)
	}
	x.turn <- struct{}{}
	status := opt.Status
	if status == nil {
		status = func(string) {}
	}
	wasm := newPdfium(opt.CacheDir, x.tell, status)
	child := newPlain(opt.Executable, timeToOpen)
	switch name {
	case PDFium:
		x.run = wasm.pages
	case Plain:
		x.run = child.pages
	default:
		child.patience = timeFallback
		x.run = func(ctx context.Context, data []byte) ([]rawPage, error) { return x.auto(ctx, data, wasm, child) }
	}
	x.all = []engine{wasm, child}
	return x
}

func (x *Extractor) tell(msg string) { x.news = append(x.news, msg) }

// Close ends what was started.
func (x *Extractor) Close() error {
	<-x.turn
	defer func() { x.turn <- struct{}{} }()
	x.cache.prune(time.Now())
	var errs []error
	for _, e := range x.all {
		errs = append(errs, e.close())
	}
	return errors.Join(errs...)
}

// Extract returns the text of a file; hash is the hex sha256 of data. news are
// messages about the engine and the cache, each handed out once. The error is
// an [Error] or that of the context.
func (x *Extractor) Extract(ctx context.Context, data []byte, hash string) (doc Doc, news []string, err error) {
	if i := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-")); i < 0 {
		return Doc{}, nil, failure(record.ClassNotPDF, "not a PDF")
	}
	if doc, err, ok := x.cache.get(hash); ok {
		return doc, nil, err
	}
	select {
	case <-x.turn:
	case <-ctx.Done():
		return Doc{}, nil, ctx.Err()
	}
	defer func() { x.turn <- struct{}{} }()
	raw, err := x.run(ctx, data)
	news, x.news = x.news, nil
	if errors.Is(err, errCannotRun) {
		err = failure(record.ClassCrashed, "%v", err)
	}
	if err == nil {
		doc = clean(raw)
	}
	if ctx.Err() != nil {
		return Doc{}, news, ctx.Err()
	}
	x.cache.put(hash, doc, err)
	return doc, news, err
}

// auto tries plain where pdfium fails on the file as such, but not for
// passwords and after a deadline. Where both fail, pdfium's word counts.
func (x *Extractor) auto(ctx context.Context, data []byte, wasm, child engine) ([]rawPage, error) {
	pages, err := wasm.pages(ctx, data)
	var e *Error
	switch {
	case err == nil, ctx.Err() != nil:
		return pages, err
	case errors.As(err, &e) && e.Class != record.ClassDamaged && e.Class != record.ClassCrashed:
		return nil, err
	}
	if errors.Is(err, errCannotRun) {
		x.tell(fmt.Sprintf("%v, using the plain PDF engine, which reads fewer files", err))
	}
	if pages, plainErr := child.pages(ctx, data); plainErr == nil {
		return pages, nil
	}
	return nil, err
}
