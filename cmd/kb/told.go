package main

import (
	"strings"
	"sync"

	"kb/pkg/build"
	"kb/pkg/record"
)

// mostTold is how many messages are remembered; with more, all are forgotten,
// and each may be told once more.
const mostTold = 1000

// told passes each message about a file on the first time that it comes: a
// server reads the same files again and again. What a later reading of the file
// does not say any more is told again when it comes back.
type told struct {
	pass func(string)
	mu   sync.Mutex
	said map[string]bool // by the reading of a file that goes on, or by an earlier one
}

func newTold(pass func(string)) *told { return &told{pass: pass, said: map[string]bool{}} }

// warn takes a message, which begins with the path of its file and a colon.
func (t *told) warn(message string) {
	t.mu.Lock()
	_, before := t.said[message]
	if !before && len(t.said) >= mostTold {
		clear(t.said)
	}
	t.said[message] = true
	t.mu.Unlock()
	if !before {
		t.pass(message)
	}
}

// follow has a build tell which files it read.
func (t *told) follow(opt *build.Options) {
	if t == nil {
		return
	}
	note := opt.Note
	opt.Note = func(r record.Record) {
		switch r := r.(type) {
		case *record.Document:
			t.forget(r.Path, false)
		case *record.Skipped:
			t.forget(r.Path, false)
		}
		note(r)
	}
}

// forget forgets what the reading of a file that ends here did not say, or all
// that was said of it.
func (t *told) forget(path string, all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for message, now := range t.said {
		if !strings.HasPrefix(message, path+": ") {
			continue
		}
		if t.said[message] = false; all || !now {
			delete(t.said, message)
		}
	}
}

// forgetRemoved forgets what was said of files that are gone.
func (t *told) forgetRemoved(reports []record.Record) {
	if t == nil {
		return
	}
	for _, r := range reports {
		if r, ok := r.(*record.Indexed); ok && r.Status == record.StatusRemoved {
			t.forget(r.Path, true)
		}
	}
}
