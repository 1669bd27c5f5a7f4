// Package atomicfile writes small files in one step: who reads one finds all
// of it or what was there before. It is for caches, which may be lost, so
// nothing is synced to the disk.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces the file, readable by its owner alone, and makes the folders
// above it.
func Write(name string, content []byte) error {
	folder := filepath.Dir(name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(folder, ".tmp-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
