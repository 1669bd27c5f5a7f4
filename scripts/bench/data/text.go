package data

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Texts reads n pieces of about size bytes, in whole lines, from the Go source
// tree at a folder, and starts again from its beginning when that is used up.
// Each piece begins with its number, so that no two are equal.
func Texts(root string, n, size int) ([]string, error) {
	out := make([]string, 0, n)
	for len(out) < n {
		before := len(out)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if utf8.Valid(content) && len(content) < 1<<20 {
				out = cut(out, content, n, size)
			}
			if len(out) == n {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(out) == before {
			return nil, errors.New(root + ": no Go files")
		}
	}
	return out, nil
}

func cut(out []string, content []byte, n, size int) []string {
	var b strings.Builder
	for line := range bytes.Lines(content) {
		b.Write(line)
		if b.Len() >= size && len(out) < n {
			out = append(out, fmt.Sprintf("piece %d\n%s", len(out), b.String()))
			b.Reset()
		}
	}
	return out
}
