//go:build unix

package flat_test

import (
	"os/signal"
	"syscall"
)

const canLimit = true

// limitFiles makes every write beyond so many bytes of a file fail.
func limitFiles(n int64) error {
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = uint64(n)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}
