//go:build !windows

package openai

import "syscall"

// What sockets say of a connection.
const errRefused = syscall.ECONNREFUSED

var errsReset = []error{syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE}
