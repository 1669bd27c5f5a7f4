//go:build !linux && !darwin

package pdf

// limitProcess does nothing here: the worker watches its memory, and the
// parent the time.
func limitProcess(memory, cpu uint64) {}
