//go:build race

package pdf

// The race detector maps more memory than the child process is allowed.
const race = true
