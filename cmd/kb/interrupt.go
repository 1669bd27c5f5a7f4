package main

import (
	"sync"
	"time"
)

// interrupts lets a command take Ctrl-C for itself, as chat does to stop an
// answer and not the program.
type interrupts struct {
	mu    sync.Mutex
	take  func()
	grace time.Duration // 0 is the usual one
	own   bool          // whether the end of the command counts
}

// end lets a command that is interrupted take so long to come to its own end,
// and that end count: a server lets the answers end that it is giving.
func (i *interrupts) end(grace time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.own, i.grace = true, grace
}

// more lets a command that is interrupted take so long all the same: a build
// writes what it paid for.
func (i *interrupts) more(grace time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.grace = grace
}

func (i *interrupts) ending() (own bool, grace time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.own, i.grace
}

// wait gives a command that was interrupted the time that it may take, also
// where it asks for more meanwhile, and returns the exit code.
func (i *interrupts) wait(done <-chan int) int {
	for waited := time.Duration(0); ; {
		own, may := i.ending()
		if may = max(may, grace); waited >= may {
			return exitInterrupted
		}
		select {
		case code := <-done:
			if own {
				return code
			}
			return exitInterrupted
		case <-time.After(may - waited):
			waited = may
		}
	}
}

// give makes f the taker; nil gives Ctrl-C back to the program.
func (i *interrupts) give(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.take = f
}

// taken says whether somebody took it.
func (i *interrupts) taken() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.take == nil {
		return false
	}
	i.take()
	return true
}
