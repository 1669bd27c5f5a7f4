package pdf

import (
	"context"
	"fmt"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/tetratelabs/wazero"

	"kb/pkg/record"
)

// trial is how long PDFium is interpreted before it is compiled.
//
// Compiling takes 3 s of CPU, once; a start with the compiled code 0.1 s, and
// one of the interpreter, which needs none, 0.45 s. But the interpreter takes
// ten times as long with a document. So a few small files are read at once by
// the interpreter, and by the time it has taken as long as compiling takes,
// there is work that is worth it.
const trial = 3 * time.Second

// wasmEngine runs PDFium in WebAssembly: a new instance for each document,
// dropped behind it.
type wasmEngine struct {
	code     codeCache
	patience time.Duration // with a document, before pages are counted
	trial    time.Duration // left for the interpreter
	tell     func(string)  // for people, whatever happens
	status   func(string)  // for people who watch
	memory   arena
	box      *sandbox
	tried    bool  // the box is an interpreter
	broken   error // why there is no box
}

func newPdfium(cacheDir string, tell, status func(string)) *wasmEngine {
	return &wasmEngine{code: newCodeCache(cacheDir), patience: timeToOpen, trial: trial, tell: tell, status: status}
}

func (w *wasmEngine) close() error {
	if w.box == nil {
		return nil
	}
	box := w.box
	w.box = nil
	return box.close()
}

// start makes the box if there is none: of compiled code, or an interpreter
// while it is on trial.
func (w *wasmEngine) start() error {
	if w.box != nil || w.broken != nil {
		return w.broken
	}
	warm := w.code.warm()
	var err error
	if w.tried = !warm && w.trial > 0; w.tried {
		w.box, err = newSandbox(wazero.NewRuntimeConfigInterpreter(), nil, &w.memory)
	} else {
		w.box, err = w.compiled(warm)
	}
	if err != nil {
		w.broken = fmt.Errorf("PDFium %w: %s", errCannotRun, firstLine(err))
	}
	return w.broken
}

// compiled takes the code from the cache, or makes it and puts it there.
func (w *wasmEngine) compiled(warm bool) (*sandbox, error) {
	if warm {
		w.code.touch()
	} else {
		w.status("preparing the PDF engine, once")
		defer w.status("")
	}
	code, err := w.code.open(warm)
	if err != nil {
		w.tell(fmt.Sprintf("no cache for the PDF engine, it has to be prepared each time: %v", err))
	}
	box, err := newSandbox(wazero.NewRuntimeConfig(), code, &w.memory)
	if err != nil && code != nil { // such as a full disk
		w.tell(fmt.Sprintf("%s cannot be used: %s", w.code.dir, firstLine(err)))
		return newSandbox(wazero.NewRuntimeConfig(), nil, &w.memory)
	}
	if err == nil && code != nil {
		w.code.seal()
	}
	return box, err
}

func (w *wasmEngine) pages(ctx context.Context, data []byte) ([]rawPage, error) {
	run := &wasmRun{data: data}
	for {
		if err := w.start(); err != nil {
			return nil, err
		}
		again, err := w.attempt(ctx, run)
		if err != nil {
			return nil, err
		}
		if !again {
			return run.result()
		}
	}
}

// attempt reads pages with one instance: to the document's end, to a trap,
// which costs the page that it was on, or to the end of the trial. In the
// latter cases the rest has to be read again, by another instance.
func (w *wasmEngine) attempt(ctx context.Context, run *wasmRun) (again bool, err error) {
	instance, err := w.box.pool.GetInstanceWithContext(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		return false, fmt.Errorf("PDFium %w: %s", errCannotRun, firstLine(err))
	}
	defer w.memory.release()
	began := time.Now()
	ended, err := w.watch(ctx, instance, run)
	if !w.tried {
		return err == nil && ended == trapped && len(run.out) < run.count, err
	}
	w.trial -= time.Since(began)
	if ended == expired {
		w.trial, err = 0, nil
	}
	if w.trial <= 0 {
		w.close()
	}
	return err == nil && (ended == expired || ended == trapped && len(run.out) < run.count), err
}

// Ways in which an instance ends.
type ending int

const (
	finished ending = iota
	trapped         // the instance is useless
	expired         // the time is over
)

// watch runs the instance, ends it, and returns how it came to its end. Where
// its time is over it returns an error as well.
func (w *wasmEngine) watch(ctx context.Context, instance pdfium.Pdfium, run *wasmRun) (ending, error) {
	type outcome struct {
		ended ending
		err   error
	}
	done := make(chan outcome, 1)
	run.stopped.Store(false)
	go func() {
		ended, err := run.read(instance)
		done <- outcome{ended, err}
	}()
	began := time.Now()
	if !w.tried {
		began = run.begin()
	}
	timer := time.NewTimer(time.Until(began.Add(w.time(run.finished.Load()))))
	defer timer.Stop()
	var err error
	for err == nil {
		select {
		case o := <-done:
			if o.ended == trapped { // closing would run its code again
				instance.Kill()
			} else {
				instance.Close()
			}
			return o.ended, o.err
		case <-ctx.Done():
			err = ctx.Err()
		case <-timer.C:
			pages := run.finished.Load()
			if left := w.time(pages) - time.Since(began); left > 0 {
				timer.Reset(left)
				continue
			}
			err = failure(record.ClassTimeout, "gave up after %d s on page %d", int(time.Since(began).Seconds()), pages+1)
		}
	}
	run.stopped.Store(true)
	instance.Kill()
	<-done // the runtime leaves a cancelled instance at its next loop or call
	if ctx.Err() != nil {
		return finished, ctx.Err()
	}
	return expired, err
}

// time is how long the interpreter may take, or all other instances together
// for a document of which they have read so many pages.
func (w *wasmEngine) time(pages int64) time.Duration {
	if w.tried {
		return w.trial
	}
	return w.patience + time.Duration(pages)*timePerPage
}
