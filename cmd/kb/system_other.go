//go:build !windows

package main

import (
	"errors"
	"syscall"
)

// nobodyReads says whether a write failed since the reader of a pipe is gone.
func nobodyReads(err error) bool { return errors.Is(err, syscall.EPIPE) }

// escapes says whether a terminal understands escape sequences.
func escapes(uintptr) bool { return true }
