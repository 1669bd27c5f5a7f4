// Package live keeps an index open while it changes, and the folder of notes
// behind it: what the HTTP server and the MCP server have in common.
//
// An [Index] is asked for a [Lease] before each piece of work. The lease holds
// one version of the index whole until it is released, whatever is written
// meanwhile; a version that was replaced is closed with its last lease. Whether
// there is a newer version costs one look at the store's stamp. One caller opens
// it; the others go on with the version before until it is there. A version
// that cannot be opened is told once, and the one before goes on serving.
//
// [Notes] adds files to a folder and takes them away, one change at a time, and
// brings the index in step with each.
package live

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"kb/pkg/search"
	"kb/pkg/store"
)

// Options are what an [Index] is made of.
type Options struct {
	Store store.Store
	// Searcher makes the searcher of a version that was opened. It fails where
	// the version cannot be searched with what is configured.
	Searcher func(store.Reader) (*search.Searcher, error)
	Warn     func(msg string) // may be nil
}

// Index is an index that is kept open. It is safe for many goroutines at once.
type Index struct {
	o       Options
	opening sync.Mutex // held while a version is opened

	mu      sync.Mutex
	now     *version
	failed  string // stamp of a version that could not be opened
	failure error  // why
	trouble string // the last warning
	opened  int
	places  places
}

// version is one version of the index, open.
type version struct {
	index    *Index
	stamp    string
	reader   store.Reader
	searcher *search.Searcher
	leases   int // guarded by Index.mu; one is the index's own
}

// New returns an index of which nothing is open yet.
func New(o Options) *Index {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return &Index{o: o}
}

// Name is that of the store.
func (x *Index) Name() string { return x.o.Store.Name() }

// Lease holds one version of the index. Release it.
type Lease struct {
	v        *version
	released sync.Once
}

// Reader reads the version; it must not be closed.
func (l *Lease) Reader() store.Reader { return l.v.reader }

// Searcher searches the version; it must not be closed.
func (l *Lease) Searcher() *search.Searcher { return l.v.searcher }

// Info describes the version.
func (l *Lease) Info() store.Info { return l.v.reader.Info() }

// Stamp tells versions apart; it is "" where there is no index yet.
func (l *Lease) Stamp() string { return l.v.stamp }

// Release gives the version back. Twice is once.
func (l *Lease) Release() { l.released.Do(func() { l.v.index.release(l.v) }) }

// Acquire leases the newest version. Where no index was built yet, it is an
// empty one. It fails only where no version could be opened at all.
func (x *Index) Acquire(ctx context.Context) (*Lease, error) {
	stamp, err := x.stamp(ctx)
	if err == nil {
		err = x.follow(stamp, false)
	}
	if lease := x.lease(); lease != nil {
		if err != nil && ctx.Err() == nil {
			x.warn(fmt.Sprintf("the index as it was goes on serving: %v", err))
		}
		return lease, nil
	}
	return nil, err
}

// Refresh opens the newest version if it is not open yet. It returns once the
// version is the one that [Index.Acquire] leases.
func (x *Index) Refresh(ctx context.Context) error {
	stamp, err := x.stamp(ctx)
	if err != nil {
		return err
	}
	return x.follow(stamp, true)
}

// Opened is how many versions were opened so far; stale says whether there is
// a newer one that cannot be.
func (x *Index) Opened() (n int, stale bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.opened, x.failed != ""
}

// Close closes the index once the last lease is released. Nothing can be
// leased afterwards but what is opened anew.
func (x *Index) Close() { x.replace(nil) }

// stamp asks the store. One that has no stamps is opened for its version.
func (x *Index) stamp(ctx context.Context) (string, error) {
	if s, ok := x.o.Store.(store.Stamper); ok {
		return s.Stamp(ctx)
	}
	r, err := x.o.Store.Open(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer r.Close()
	return r.Info().Version, nil
}

// follow opens the version of the stamp, unless it is open or known to be bad.
// Another caller may be about to: then, unless it must wait, it leaves it to
// that one where some version is open.
func (x *Index) follow(stamp string, wait bool) error {
	if known, err := x.knows(stamp); known {
		return err
	}
	if wait || !x.opening.TryLock() {
		if !wait && x.isOpen() {
			return nil
		}
		x.opening.Lock()
	}
	defer x.opening.Unlock()
	if known, err := x.knows(stamp); known {
		return err
	}
	// Who asks may go away; what is opened is for all.
	v, err := x.open(context.Background(), stamp)
	if err != nil {
		x.mu.Lock()
		if x.now != nil {
			x.failed, x.failure = stamp, err
		}
		x.mu.Unlock()
		return err
	}
	x.replace(v)
	return nil
}

// knows says whether nothing is to be opened for the stamp: because it is open,
// or because it failed in a way that it would again. An index that went away is
// served on.
func (x *Index) knows(stamp string) (known bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.now == nil:
		return false, nil
	case stamp == x.now.stamp || stamp == "":
		x.failed, x.failure = "", nil
		return true, nil
	case stamp == x.failed && lasting(x.failure):
		return true, x.failure
	}
	return false, nil
}

// lasting says whether an error lies in the version itself, or in what it would
// be searched with. Others, like too many open files, pass.
func lasting(err error) bool {
	var mismatch *search.MismatchError
	return errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNewer) || errors.As(err, &mismatch)
}

func (x *Index) isOpen() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.now != nil
}

func (x *Index) open(ctx context.Context, stamp string) (*version, error) {
	r, err := x.o.Store.Open(ctx)
	if errors.Is(err, store.ErrNotFound) {
		r, err = empty{}, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := x.o.Searcher(r)
	if err != nil {
		r.Close()
		return nil, err
	}
	return &version{index: x, stamp: stamp, reader: r, searcher: s, leases: 1}, nil
}

// replace makes v the version that is leased from now on.
func (x *Index) replace(v *version) {
	x.mu.Lock()
	old := x.now
	x.now = v
	if v != nil {
		x.failed, x.failure, x.trouble = "", nil, ""
		x.opened++
	}
	x.mu.Unlock()
	if old != nil {
		x.release(old)
	}
}

// lease returns a lease of the version that is open; nil where none is.
func (x *Index) lease() *Lease {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.now == nil {
		return nil
	}
	x.now.leases++
	return &Lease{v: x.now}
}

func (x *Index) release(v *version) {
	x.mu.Lock()
	v.leases--
	last := v.leases == 0
	x.mu.Unlock()
	if !last {
		return
	}
	if err := v.searcher.Close(); err != nil {
		x.o.Warn(fmt.Sprintf("closing a version of %s: %v", x.Name(), err))
	}
	if r, ok := v.reader.(store.Resident); ok && r.Resident() > 0 {
		v.reader, v.searcher = nil, nil
		debug.FreeOSMemory() // hundreds of megabytes, of which the next version has its own
	}
}

// warn warns, of the same thing only once.
func (x *Index) warn(msg string) {
	x.mu.Lock()
	again := x.trouble == msg
	x.trouble = msg
	x.mu.Unlock()
	if !again {
		x.o.Warn(msg)
	}
}
