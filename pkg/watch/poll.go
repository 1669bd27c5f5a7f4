package watch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"kb/pkg/load"
)

// startPolling begins to walk at intervals, from what the last look found.
func (w *watcher) startPolling(ctx context.Context, every time.Duration) {
	w.every = every
	go w.poll(ctx, every, w.files)
}

// poll hints when a walk finds other files than the walk before. It is at rest
// for at least ten times as long as a walk takes.
func (w *watcher) poll(ctx context.Context, every time.Duration, last files) {
	for took := time.Duration(0); sleep(ctx, max(every, 10*took)); {
		began := time.Now()
		now, err := scan(ctx, w.paths, w.o.Hooks, func(string) {})
		if err != nil {
			return // the context ended
		}
		took = time.Since(began)
		if !now.equal(last) {
			w.hint()
		}
		last = now
	}
}

// sleep returns false when the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// watchRoots hints when a path of the watch is another file or folder than
// before, by name, and when a .kbignore above it changed.
func (w *watcher) watchRoots(ctx context.Context) {
	names := slices.Clone(w.paths)
	for _, p := range w.paths {
		names = append(names, load.IgnoresAbove(p)...)
	}
	last := stat(names)
	for sleep(ctx, rootsEvery) {
		now := stat(names)
		if !slices.EqualFunc(now, last, sameFile) {
			w.ears.doubt()
			w.hint()
		}
		last = now
	}
}

// stat looks at files by name; nil for one that is not there.
func stat(names []string) []fs.FileInfo {
	infos := make([]fs.FileInfo, len(names))
	for i, name := range names {
		if info, err := os.Stat(filepath.FromSlash(name)); err == nil {
			infos[i] = info
		}
	}
	return infos
}

// sameFile says whether a file is the same as before, as it was. What is in a
// folder is no part of that.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && (a.IsDir() || a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()))
}
