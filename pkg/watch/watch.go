// Package watch calls a function when the files of a folder have changed.
//
// What has changed is decided by a walk, the one that a build makes
// ([load.Walk]): its list of files, sizes and times is held against the list
// before. The events of the file system only say when to walk. So what a build
// passes over, like the temporary files of editors, hidden folders and what a
// .kbignore names, causes none; an event that was lost costs time and not a
// file; and as each folder is listened to before it is listed, a file that is
// written into a new folder is either listed or heard of.
//
// Where the file system gives no events, or not all, the walk is made at
// intervals. The roots themselves are looked at every second, by name: one
// that was removed, replaced or mounted gives no event that could be relied on.
package watch

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"kb/pkg/load"
)

// Options of a watch. Only OnChange is needed.
type Options struct {
	Hooks    load.Hooks    // as for [load.Walk]
	Settle   time.Duration // how long nothing must happen after a change; 0: 300 ms
	MaxDelay time.Duration // after this, a change that goes on is not waited for; 0: 5 s
	Poll     time.Duration // > 0: walk this often in place of listening for events
	// OnChange is called once at the start and then after each change that
	// settled, one call at a time. A change during a call leads to one more. If
	// it fails it is called again, after 1 s, 2 s, 4 s … up to a minute, or
	// when the next change has settled.
	OnChange func(ctx context.Context) error
	Warn     func(message string) // may be nil
}

const (
	defaultSettle   = 300 * time.Millisecond
	defaultMaxDelay = 5 * time.Second
	fallbackPoll    = 2 * time.Second // where events were wanted and there are none
	remotePoll      = 5 * time.Second // where there are events of what this machine does alone
	rootsEvery      = time.Second     // how often the roots are looked at
	firstRetry      = time.Second
	lastRetry       = time.Minute
)

// Run watches the files and folders at the paths until the context ends, and
// returns its error. While none of the paths is there, OnChange is not called.
func Run(ctx context.Context, paths []string, o Options) error {
	return newWatcher(paths, o, listen).run(ctx)
}

// watcher is one run.
type watcher struct {
	paths  []string
	o      Options
	hints  chan struct{} // something may have changed; holds one
	ears   *ears
	remote func(path string) string // see [remoteSystem]
	every  time.Duration            // between walks where it polls; 0: it listens

	files   files // as the last walk found them
	missing map[string]bool

	failures int    // of OnChange, since it last went well
	failure  string // the last one, as it was told
}

func newWatcher(paths []string, o Options, open opener) *watcher {
	o.Settle = cmp.Or(o.Settle, defaultSettle)
	o.MaxDelay = cmp.Or(o.MaxDelay, defaultMaxDelay)
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	w := &watcher{paths: paths, o: o, hints: make(chan struct{}, 1), missing: map[string]bool{}, remote: remoteSystem}
	w.ears = &ears{open: open, hint: w.hint}
	return w
}

// hint says that something may have changed. It never blocks.
func (w *watcher) hint() {
	select {
	case w.hints <- struct{}{}:
	default:
	}
}

func (w *watcher) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer w.ears.close()
	if w.o.Poll > 0 {
		w.ears.stop()
	}
	_, err := w.look(ctx)
	if err != nil {
		return err
	}
	switch path, system := w.remotePath(); {
	case w.o.Poll > 0:
		w.startPolling(ctx, w.o.Poll)
	case system != "" && w.every == 0:
		w.o.Warn(fmt.Sprintf("%s is on a file system (%s) that does not tell of what others change: also looking every %s", path, system, remotePoll))
		go w.poll(ctx, remotePoll, w.files)
	}
	go w.watchRoots(ctx)
	var retry <-chan time.Time
	for due := true; ; {
		if due && len(w.missing) < len(w.paths) {
			retry = w.change(ctx)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-retry:
			_, err = w.look(ctx)
			due = true
		case <-w.hints:
			settle(ctx, w.hints, w.o.Settle+w.every, w.o.MaxDelay+w.every)
			due, err = w.look(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// remotePath is the first path on a file system that does not tell of all
// changes, and the name of that.
func (w *watcher) remotePath() (path, system string) {
	for _, p := range w.paths {
		if system := w.remote(p); system != "" {
			return p, system
		}
	}
	return "", ""
}

// change calls OnChange. If it fails, what is returned says when to try again.
func (w *watcher) change(ctx context.Context) (retry <-chan time.Time) {
	err := w.o.OnChange(ctx)
	if err == nil || ctx.Err() != nil {
		w.failures, w.failure = 0, ""
		return nil
	}
	if message := err.Error(); message != w.failure {
		w.failure = message
		w.o.Warn(message + "; it will be tried again")
	}
	wait := min(firstRetry<<min(w.failures, 10), lastRetry)
	w.failures++
	return time.After(wait)
}

// look walks, and says whether it found other files than the last time.
func (w *watcher) look(ctx context.Context) (changed bool, err error) {
	heard, lost := w.ears.begin()
	now, err := scan(ctx, w.paths, w.o.Hooks, w.ears.listen)
	if err != nil {
		return false, err
	}
	changed = !now.equal(w.files) || now.hasAny(heard)
	w.files = now
	w.noteMissing()
	if lost {
		w.o.Warn("more changed at once than the kernel keeps events of (fs.inotify.max_queued_events): looked at all files")
	}
	if why := w.ears.failed(); why != nil && w.every == 0 {
		w.o.Warn(fmt.Sprintf("%s; looking for changes every %s instead", explain(why), fallbackPoll))
		w.ears.stop()
		w.startPolling(ctx, fallbackPoll)
	}
	return changed, nil
}

// noteMissing tells of the paths that went, or are back.
func (w *watcher) noteMissing() {
	for _, p := range w.paths {
		switch _, err := os.Stat(p); {
		case err != nil && !w.missing[p]:
			w.missing[p] = true
			w.o.Warn(p + " is not there: its documents stay as they are until it is back")
		case err == nil && w.missing[p]:
			delete(w.missing, p)
			w.o.Warn(p + " is back")
		}
	}
}
