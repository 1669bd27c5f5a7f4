package main

import (
	"runtime"
	"runtime/debug"
)

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

// withTightHeap runs a stage that holds much, too: the collector then runs when the
// heap has grown by a half instead of the whole. What kb index holds is nearly all
// arrays without pointers, which cost the collector nothing; with the headroom, for
// where it holds little, it takes 2.33 in place of 2.60 s CPU for 6 MB of text, and
// 177 in place of 200 MB. kb chunk holds a document: of 66 MB it takes 145 in place
// of 180 MB while its chunks are written.
func withTightHeap(stage func() error) error {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	return withHeadroom(stage)
}
