//go:build linux || darwin

package pdf

import "syscall"

// limitProcess lets the system refuse more memory than that, in bytes, and end
// the process after that much CPU time, in seconds. What cannot be set is left.
func limitProcess(memory, cpu uint64) {
	syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: memory, Max: memory})
	syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: cpu, Max: cpu})
}
