package load

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"kb/pkg/record"
)

// window bounds the files that are read ahead, in bytes; one larger file may
// be read alone.
const window = 16 << 20

// result is what became of one item.
type result struct {
	record   record.Record // nil where there is only a warning
	root     string
	warnings []string
	err      error
	weight   int64 // bytes to give back to the window
}

// readOrdered reads the entries among the items, several at a time, and
// yields the results in the order of the items. When the consumer stops, it
// returns only after everything that it started has ended.
func readOrdered(ctx context.Context, items iter.Seq2[Item, error], reader *Reader, known func(Entry) record.Record) iter.Seq2[result, error] {
	return func(yield func(result, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		room := newWindow(window)
		// A slot of the queue is a result to come; one more is in hand.
		queue := make(chan chan result, runtime.GOMAXPROCS(0))
		var running sync.WaitGroup
		defer func() {
			cancel()
			room.close()
			for range queue {
			}
			running.Wait()
		}()
		running.Go(func() {
			defer close(queue)
			produce(ctx, items, reader, known, room, queue, &running)
		})
		for slot := range queue {
			res := <-slot
			room.release(res.weight)
			if res.err != nil {
				yield(result{}, res.err)
				return
			}
			if res.record == nil {
				reader.warn(res.warnings)
				continue
			}
			if !yield(res, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(result{}, err)
		}
	}
}

func produce(ctx context.Context, items iter.Seq2[Item, error], reader *Reader, known func(Entry) record.Record, room *byteWindow, queue chan<- chan result, running *sync.WaitGroup) {
	for item, err := range items {
		slot := make(chan result, 1)
		select {
		case queue <- slot:
		case <-ctx.Done():
			return
		}
		res, entry := atOnce(item, err, known)
		if entry == nil {
			slot <- res
			if err != nil {
				return
			}
			continue
		}
		res.weight = room.acquire(entry.Size)
		running.Go(func() {
			res.record, res.warnings, res.err = reader.read(ctx, *entry)
			slot <- res
		})
	}
}

// atOnce answers what needs no reading; otherwise it returns the entry to read.
func atOnce(item Item, err error, known func(Entry) record.Record) (result, *Entry) {
	switch {
	case err != nil:
		return result{err: err}, nil
	case item.Skipped != nil:
		return result{record: item.Skipped, root: item.Skipped.Root}, nil
	case item.Root != nil:
		return result{record: item.Root, root: item.Root.Path}, nil
	case item.Entry == nil:
		return result{warnings: []string{item.Warning}}, nil
	}
	res := result{root: item.Entry.Root}
	if known != nil {
		if r := known(*item.Entry); r != nil {
			res.record = r
			return res, nil
		}
	}
	return res, item.Entry
}

// byteWindow is a semaphore of bytes for one acquirer.
type byteWindow struct {
	mu     sync.Mutex
	cond   *sync.Cond
	size   int64
	free   int64
	closed bool
}

func newWindow(size int64) *byteWindow {
	w := &byteWindow{size: size, free: size}
	w.cond = sync.NewCond(&w.mu)
	return w
}

// acquire waits for room and returns how much it took: all of the window for
// what is larger.
func (w *byteWindow) acquire(n int64) int64 {
	n = min(n, w.size)
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.free < n && !w.closed {
		w.cond.Wait()
	}
	w.free -= n
	return n
}

func (w *byteWindow) release(n int64) {
	w.mu.Lock()
	w.free += n
	w.mu.Unlock()
	w.cond.Signal()
}

// close lets acquire through.
func (w *byteWindow) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.cond.Signal()
}
