//go:build !windows

package atomicfile

import "os"

// Replace gives a file another name in its folder, in one step where a file has
// that name. Who has that one open goes on reading it.
func Replace(from, to string) error { return os.Rename(from, to) }

// Open opens a file for reading, so that it can be replaced meanwhile.
func Open(name string) (*os.File, error) { return os.Open(name) }
