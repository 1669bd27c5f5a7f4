package flat

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

func workerCount() int { return max(1, min(runtime.GOMAXPROCS(0), maxWorkers)) }

// parallel calls the functions that newWorker makes, one for each goroutine,
// with 0 to n-1, and returns the first error by number.
func parallel(n int, newWorker func() func(int) error) error {
	errs := make([]error, n)
	var next, failed atomic.Int64
	var wg sync.WaitGroup
	for range min(n, workerCount()) {
		work := newWorker()
		wg.Go(func() {
			for failed.Load() == 0 {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = work(i); errs[i] != nil {
					failed.Store(1)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// result is what work made of one item.
type result[R any] struct {
	value R
	err   error
}

// ordered maps the items in several goroutines and yields the results in the
// order of the items. Each goroutine works with its own function from
// newWorker. Besides one for each goroutine only the one that is yielded is under
// way, so memory does not depend on the number of items. The first error ends the sequence.
func ordered[T, R any](items iter.Seq[T], newWorker func() func(T) (R, error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		n := workerCount()
		queue := make(chan chan result[R], n-1)
		stop := make(chan struct{})
		idle := make(chan func(T) (R, error), n)
		for range n {
			idle <- nil
		}
		go func() {
			defer close(queue)
			for item := range items {
				work := <-idle
				if work == nil {
					work = newWorker()
				}
				out := make(chan result[R], 1)
				go func() {
					value, err := work(item)
					out <- result[R]{value, err}
					idle <- work
				}()
				select {
				case queue <- out:
				case <-stop:
					<-out
					return
				}
			}
		}()
		defer func() {
			close(stop)
			for out := range queue {
				<-out
			}
		}()
		for out := range queue {
			r := <-out
			if !yield(r.value, r.err) || r.err != nil {
				return
			}
		}
	}
}
