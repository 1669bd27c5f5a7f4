package main

import "sync"

// interrupts lets a command take Ctrl-C for itself, as chat does to stop an
// answer and not the program.
type interrupts struct {
	mu   sync.Mutex
	take func()
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
