// Package atomicfile replaces files in one step: who reads one finds all of it
// or what was there before, on Windows too. [Write] is for small files that may be
// lost, like caches: it syncs nothing to the disk.
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
		err = Replace(tmp.Name(), name)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
