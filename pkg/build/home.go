package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kb/pkg/atomicfile"
)

// Home is the folder that the relative paths of one index count from: the one
// in which it was built. The index must not hold it (it is the same bytes on
// every machine), so a cache file does. Where that is lost, the folder of the
// next build is the home.
type Home struct {
	file string // of the cache; "" for none
	dir  string // the home; "" where it is not known
	here string // the working directory
}

// OpenHome reads the cache file. With move, the working directory is the home
// from now on.
func OpenHome(file string, move bool) (*Home, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	h := &Home{file: file, here: resolve(wd)}
	data, err := os.ReadFile(file)
	dir := strings.TrimSuffix(string(data), "\n")
	if err != nil || move || !filepath.IsAbs(dir) {
		return h, nil // there is none, or none that can be used: it is only a cache
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		h.dir = dir
	}
	return h, nil
}

// ElsewhereError means that a relative path was to be built in another folder
// than the home of the index, where it names other files.
type ElsewhereError struct {
	Path string // as it was given or is in the index
	Home string
	Here string
	Root bool // the index has it, or files in it
}

func (e *ElsewhereError) Error() string {
	if e.Root {
		return fmt.Sprintf("the index was built in %s: its %s is %s, and cannot be built from %s",
			e.Home, e.Path, filepath.Join(e.Home, filepath.FromSlash(e.Path)), e.Here)
	}
	return fmt.Sprintf("the index was built in %s, and its paths count from there, but %s counts from %s", e.Home, e.Path, e.Here)
}

// Hint says what to do next.
func (e *ElsewhereError) Hint() string {
	if e.Root {
		return fmt.Sprintf("run kb build in %s; or, if the notes were moved here, add --here", e.Home)
	}
	return fmt.Sprintf("name it by its absolute path: kb build %s", filepath.Join(e.Here, filepath.FromSlash(e.Path)))
}

// Locate spells paths that are to be built as the index spells them, so that a
// folder is not indexed twice because it was named relative to the working
// directory once and as an absolute path another time. It fails with an
// [ElsewhereError] where a relative path would count from another folder than
// the home. Relative paths that it returns count from the home: see
// [Home.Enter].
func (h *Home) Locate(paths, roots []string) ([]string, error) {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		spelled, known, err := h.spell(p, slices.Concat(roots, out))
		if err != nil {
			return nil, err
		}
		if h.away() && !filepath.IsAbs(spelled) && (!known || resolve(p) != resolve(h.Absolute(spelled))) {
			return nil, &ElsewhereError{Path: spelled, Home: h.dir, Here: h.here, Root: known}
		}
		out = append(out, spelled)
	}
	return out, nil
}

// LocateRoots is [Home.Locate] for roots as the index spells them, in the
// place of paths. It fails where one of them names something in the working
// directory, too: that may be where the notes were moved to.
func (h *Home) LocateRoots(roots []string) ([]string, error) {
	if !h.away() {
		return h.Locate(roots, roots)
	}
	for _, root := range roots {
		if filepath.IsAbs(root) {
			continue
		}
		if _, err := os.Stat(filepath.FromSlash(root)); !errors.Is(err, fs.ErrNotExist) {
			return nil, &ElsewhereError{Path: root, Home: h.dir, Here: h.here, Root: true}
		}
	}
	return roots, nil
}

// Enter makes the home the working directory, where that is another one and
// one of the paths that [Home.Locate] returned counts from it, and says so.
func (h *Home) Enter(paths []string) (moved bool, err error) {
	if !h.away() || !slices.ContainsFunc(paths, func(p string) bool { return !filepath.IsAbs(p) }) {
		return false, nil
	}
	if err := os.Chdir(h.dir); err != nil {
		return false, fmt.Errorf("the folder that the index was built in: %w", err)
	}
	h.here = h.dir
	return true, nil
}

func (h *Home) away() bool { return h.dir != "" && h.dir != h.here }

// base is the folder that the paths of the index count from.
func (h *Home) base() string {
	if h.dir != "" {
		return h.dir
	}
	return h.here
}

// spell returns the path as it is in the index if it is a root there, or lies
// below or above one; known says whether it does. Other paths are cleaned.
func (h *Home) spell(p string, roots []string) (spelled string, known bool, err error) {
	real := resolve(p)
	for _, root := range roots {
		at := resolve(h.Absolute(root))
		if below, ok := inside(at, real); ok {
			return path.Join(root, below), true, nil
		}
		if below, ok := inside(real, at); ok {
			spelled, err = h.above(real, root, below)
			return spelled, true, err
		}
		if filepath.ToSlash(filepath.Clean(p)) == root { // of the same name, in another place
			return root, true, nil
		}
	}
	return filepath.ToSlash(filepath.Clean(p)), false, nil
}

// above spells a folder so that what lies below a root in it keeps its path.
func (h *Home) above(real, root, below string) (string, error) {
	spelled := filepath.ToSlash(real)
	if !filepath.IsAbs(root) {
		up, err := filepath.Rel(h.base(), real)
		if err != nil {
			return "", err
		}
		spelled = filepath.ToSlash(up)
	}
	if path.Join(spelled, below) != root {
		return "", &OverlapError{Path: spelled, Root: root}
	}
	return spelled, nil
}

// OverlapError means that a folder holds a root of the index, whose documents
// would have other paths as a part of it.
type OverlapError struct{ Path, Root string }

func (e *OverlapError) Error() string {
	return fmt.Sprintf("%s is in the index already, and would be indexed again as a part of %s", e.Root, e.Path)
}

// Hint says what to do next.
func (e *OverlapError) Hint() string { return fmt.Sprintf("remove it first: kb rm %s", e.Root) }

// Absolute is where a root of the index lies in the file system.
func (h *Home) Absolute(root string) string {
	name := filepath.FromSlash(root)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(h.base(), name)
}

// Remember makes the working directory the home, if one of the paths that
// were built counts from it.
func (h *Home) Remember(paths []string) error {
	if h.file == "" || h.dir == h.here {
		return nil
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return atomicfile.Write(h.file, []byte(h.here+"\n"))
		}
	}
	return nil
}

// resolve is the path from the root, without symbolic links as far as it
// exists.
func resolve(p string) string {
	abs, err := filepath.Abs(p)
	if err != nil {
		return filepath.Clean(p)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	return abs
}

// inside says whether p is the folder or lies below it, and where.
func inside(folder, p string) (below string, ok bool) {
	rel, err := filepath.Rel(folder, p)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
