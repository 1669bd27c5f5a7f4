package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"kb/pkg/load"
)

// ears listen to the events of folders. They know a folder by the name that it
// had when it was listened to first, as fsnotify does; so when one moved, or
// may have, all begins anew with the next walk.
type ears struct {
	open opener
	hint func()
	n    notifier // nil: closed; only the goroutine that walks uses it

	mu      sync.Mutex      // of what the pump writes, too
	heard   map[string]bool // paths of files that events came for
	folders map[string]bool // that are listened to
	doubted bool            // what is listened to may not be what there is
	lost    bool            // the kernel dropped events
	err     error           // why they cannot listen any more
}

// notifier is what is used of [fsnotify.Watcher].
type notifier interface {
	Add(folder string) error
	Close() error
}

// opener opens a notifier, and gives its channels, which it closes at the end.
type opener func() (notifier, <-chan fsnotify.Event, <-chan error, error)

func listen() (notifier, <-chan fsnotify.Event, <-chan error, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, nil, nil, err
	}
	return w, w.Events, w.Errors, nil
}

// errStopped is why ears do not listen that were told to stop.
var errStopped = errors.New("not listening")

// stop closes the ears for good.
func (e *ears) stop() {
	e.close()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = errStopped
}

func (e *ears) close() {
	if e.n != nil {
		e.n.Close()
		e.n = nil
	}
}

// begin makes ready for a walk. It returns what was heard since the last one,
// and whether something was not.
func (e *ears) begin() (heard map[string]bool, lost bool) {
	e.mu.Lock()
	heard, lost = e.heard, e.lost
	e.heard, e.lost = map[string]bool{}, false
	anew := e.err == nil && (e.n == nil || e.doubted)
	e.mu.Unlock()
	if anew {
		e.renew()
	}
	return heard, lost
}

// renew opens a notifier that listens to nothing yet.
func (e *ears) renew() {
	e.close()
	n, events, errs, err := e.open()
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.err = err
		return
	}
	e.n, e.folders, e.doubted = n, map[string]bool{}, false
	go e.pump(events, errs)
}

// pump takes events until the notifier is closed.
func (e *ears) pump(events <-chan fsnotify.Event, errs <-chan error) {
	for events != nil || errs != nil {
		select {
		case event, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			e.take(event)
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			e.fail(err)
		}
	}
}

// take notes one event. One without a name comes from a folder that fsnotify
// has lost track of.
func (e *ears) take(event fsnotify.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	name := filepath.ToSlash(filepath.Clean(event.Name))
	switch {
	case e.folders[name]:
		e.doubted = e.doubted || event.Has(fsnotify.Remove|fsnotify.Rename)
	case event.Name == "":
		e.doubted = true
	case hidden(name):
		return
	default:
		e.heard[name] = true
	}
	e.hint()
}

// hidden says whether a walk passes over all files of this name.
func hidden(name string) bool {
	base := path.Base(name)
	return base[0] == '.' && base != "." && base != ".." && base != load.IgnoreName
}

// fail notes an error of the notifier.
func (e *ears) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.doubted = true
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		e.lost = true
	} else if e.err == nil {
		e.err = err
	}
	e.hint()
}

// doubt has the next walk begin anew.
func (e *ears) doubt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.doubted = true
}

// listen begins to listen to a folder. One that is not there or may not be
// read is for the walk to report.
func (e *ears) listen(folder string) {
	if e.n == nil || e.failed() != nil {
		return
	}
	err := e.n.Add(filepath.FromSlash(folder)) // not under e.mu: it may wait for the pump
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil:
		e.folders[folder] = true
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
	default:
		e.err = err
	}
}

// failed says why not all folders are listened to; nil if they are.
func (e *ears) failed() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// explain says what to do about it.
func explain(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "no more folders can be watched: fs.inotify.max_user_watches is used up (sysctl fs.inotify.max_user_watches=524288 raises it)"
	case errors.Is(err, syscall.EMFILE):
		return "folders cannot be watched: fs.inotify.max_user_instances is used up, or too many files are open"
	}
	return fmt.Sprintf("folders cannot be watched (%v)", err)
}
