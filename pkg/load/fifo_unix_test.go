//go:build unix

package load

import (
	"slices"
	"syscall"
	"testing"
)

func TestPipesAreNotOpened(t *testing.T) {
	folder(t, map[string]string{"n/a.md": "a"})
	if err := syscall.Mkfifo("n/pipe.md", 0o600); err != nil {
		t.Skip(err)
	}
	want := []string{"n/a.md", "n/pipe.md: unsupported", "n/ 1 1", "n/pipe.md: unsupported"}
	if got := run(t, Options{}, "n", "n/pipe.md"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
