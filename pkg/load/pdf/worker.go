package pdf

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	ledongthuc "github.com/ledongthuc/pdf"

	"kb/pkg/record"
)

// Limits of the child process.
const (
	workerMemory = 400 << 20
	workerStack  = 64 << 20
	workerCPU    = 120 // seconds, in case the parent is gone
	maxDepth     = 64  // of the tree of pages
	maxNodes     = 100_000
)

// Worker is the child process of the plain engine: it reads the length of a
// file in decimal, a line end and the file, and writes one JSON object a line:
// its pages, then the end. It sets limits for the whole process, so nothing
// else may run in it.
func Worker(stdin io.Reader, stdout io.Writer) error {
	limitProcess(workerMemory, workerCPU)
	debug.SetMaxStack(workerStack)
	debug.SetMemoryLimit(workerMemory / 2)
	data, err := readSized(stdin)
	if err != nil {
		return err
	}
	w := &worker{enc: make(chan message)}
	go w.watchMemory()
	go func() {
		end := message{Done: true}
		if err := w.document(data); err != nil {
			end = errorOf(err)
		}
		w.enc <- end
	}()
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	for m := range w.enc {
		if err := out.Encode(m); err != nil {
			return err
		}
		if m.Page == nil {
			return nil
		}
	}
	return nil
}

func readSized(stdin io.Reader) ([]byte, error) {
	r := bufio.NewReader(stdin)
	var size int
	if _, err := fmt.Fscanf(r, "%d\n", &size); err != nil || size < 0 {
		return nil, errors.New("this command is run by kb load for a PDF file, it reads the file's length, a line end and the file")
	}
	data := make([]byte, size)
	_, err := io.ReadFull(r, data)
	return data, err
}

type worker struct{ enc chan message }

// watchMemory ends the work where the system does not: the limit of the Go
// runtime only makes it collect garbage more often.
func (w *worker) watchMemory() {
	var m runtime.MemStats // runtime/metrics would cost every process its initialiser
	for range time.Tick(20 * time.Millisecond) {
		runtime.ReadMemStats(&m)
		if m.Sys-m.HeapReleased > workerMemory {
			w.enc <- message{Class: record.ClassTooLarge, Reason: fmt.Sprintf("it needs more than %d MiB of memory", workerMemory>>20)}
			return
		}
	}
}

func (w *worker) document(data []byte) (err error) {
	defer brokeDown(&err)
	data = repair(data)
	r, err := ledongthuc.NewReader(bytes.NewReader(data), int64(len(data)))
	if errors.Is(err, ledongthuc.ErrInvalidPassword) {
		return failure(record.ClassPassword, "a password is needed")
	}
	if err != nil {
		return err
	}
	tree := &pageTree{nodes: maxNodes, found: func(page ledongthuc.Value) { w.enc <- message{Page: w.page(page)} }}
	tree.walk(r.Trailer().Key("Root").Key("Pages"), 0)
	switch {
	case tree.nodes < 0:
		return failure(record.ClassTooLarge, "the tree of pages has more than %d nodes", maxNodes)
	case tree.pages == 0:
		return failure(record.ClassDamaged, "damaged PDF: it has no pages")
	}
	return nil
}

func (w *worker) page(v ledongthuc.Value) (page *rawPage) {
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		if err != nil {
			page = &rawPage{Failed: firstLine(err)}
		}
	}()
	// A nil map makes the library read the fonts of this page; shared over
	// pages it would go by their names, which repeat.
	text, err := ledongthuc.Page{V: v}.GetPlainText(nil)
	page = &rawPage{Text: text}
	if text == "" {
		page.Graphics = v.Key("Resources").Key("XObject").Len() > 0 || len(v.Key("Resources").Key("XObject").Keys()) > 0
	}
	return page
}

// pageTree finds the pages by walking the tree once: the library's own way
// walks it for each page and trusts the /Count and /Type of each node.
type pageTree struct {
	nodes int // that may still be looked at
	pages int
	found func(ledongthuc.Value)
}

func (t *pageTree) walk(v ledongthuc.Value, depth int) {
	if t.nodes--; t.nodes < 0 || depth > maxDepth {
		return
	}
	kids := v.Key("Kids")
	if kids.Kind() != ledongthuc.Array {
		if v.Kind() == ledongthuc.Dict {
			t.pages++
			t.found(v)
		}
		return
	}
	for i := range kids.Len() {
		t.walk(kids.Index(i), depth+1)
	}
}

func brokeDown(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%v", p)
	}
}
