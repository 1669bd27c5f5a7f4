package main

import (
	"errors"

	"golang.org/x/sys/windows"
)

// nobodyReads says whether a write failed since the reader of a pipe is gone.
func nobodyReads(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) || errors.Is(err, windows.ERROR_PIPE_NOT_CONNECTED)
}

// escapes says whether a console understands escape sequences, which those
// before Windows Terminal have to be told to.
func escapes(fd uintptr) bool {
	const vt = windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(fd), &mode) != nil {
		return false
	}
	return mode&vt != 0 || windows.SetConsoleMode(windows.Handle(fd), mode|vt) == nil
}
