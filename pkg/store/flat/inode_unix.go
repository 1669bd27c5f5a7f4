//go:build unix

package flat

import (
	"io/fs"
	"syscall"
)

// inode tells a file from one that replaced it.
func inode(stat fs.FileInfo) uint64 {
	if s, ok := stat.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
