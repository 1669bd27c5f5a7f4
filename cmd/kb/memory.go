package main

import "runtime"

// headroom is how much more memory a stage may fill before the garbage collector
// looks at it: of a heap of 4 MB, which documents that flow through leave, it
// would run for each 4 MB that a stage allocates.
const headroom = 16 << 20

// withHeadroom runs a stage with that much room. The collector runs when the heap
// has doubled, so a block that is not touched, and takes no memory therefore,
// is a limit that works at any size of heap: a larger GOGC would multiply what a
// large document takes, too.
func withHeadroom(stage func() error) error {
	block := make([]byte, headroom)
	defer runtime.KeepAlive(block)
	return stage()
}
