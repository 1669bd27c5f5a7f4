//go:build !linux

package watch

// remoteSystem is not known here: --poll is for such file systems.
func remoteSystem(string) string { return "" }
