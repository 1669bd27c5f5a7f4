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
	grace time.Duration
}

// end lets a command that is interrupted take so long to come to its own end,
// and that end count: a server lets the answers end that it is giving.
func (i *interrupts) end(grace time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.grace = grace
}

// ending is what was said to end; 0 where nothing was.
func (i *interrupts) ending() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.grace
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
