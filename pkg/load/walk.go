package load

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kb/pkg/record"
)

// Entry is a file that is worth reading.
type Entry struct {
	Path     string // as a document's path
	Root     string // the folder that was walked; "" for a file named by itself
	Size     int64
	Modified time.Time
}

// Item is one step of a walk: exactly one of its fields is set.
type Item struct {
	Entry   *Entry
	Skipped *record.Skipped
	Root    *record.Root // a folder came to its end; the counts of what is read are left to the caller
	Warning string       // a pattern in a .kbignore that cannot be used
	Folder  string       // a folder that is going to be listed; of [WalkFolders] alone
}

// Types are the extensions of the files that are read without a hook.
const Types = ".md, .markdown, .txt, .html, .htm, .docx and .pdf"

// Walk lists the files below the paths, sorted by path within each. Of a
// folder it takes the [Types] and those of the hooks, and passes over hidden
// files and folders, node_modules, symbolic links, other types, Word's lock
// files (~$name.docx) and what a .kbignore names (see [ignoreFile]). A path given by name is taken although
// it is hidden, ignored or a link; of another type, it is skipped. A file that
// is reached twice is listed once.
//
// A path that is not there is skipped. A folder of which a part could not be
// listed has no Root, as nothing may be concluded from what was not seen.
func Walk(ctx context.Context, paths []string, hooks Hooks) iter.Seq2[Item, error] {
	return walk(ctx, paths, hooks, false)
}

// WalkFolders is [Walk] that names each folder, too, before it lists it: who
// wants to hear of changes can begin to listen there and misses none.
func WalkFolders(ctx context.Context, paths []string, hooks Hooks) iter.Seq2[Item, error] {
	return walk(ctx, paths, hooks, true)
}

func walk(ctx context.Context, paths []string, hooks Hooks, folders bool) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		w := &walker{ctx: ctx, hooks: hooks, folders: folders, seen: make(map[string]bool), roots: make(map[string]bool), yield: yield}
		for _, p := range paths {
			if !w.root(p) {
				return
			}
		}
	}
}

type walker struct {
	ctx      context.Context
	hooks    Hooks
	folders  bool            // they are yielded, too
	seen     map[string]bool // by resolved path
	roots    map[string]bool // that were walked
	yield    func(Item, error) bool
	warnings []string // not yielded yet
	whole    bool     // nothing of the folder was missed so far
	rootOf   string   // the folder that is walked
	real     string   // the same, resolved
	other    map[string]int
}

// root walks one argument. Like all methods here that return a bool, it
// returns false when the walk is over.
func (w *walker) root(arg string) bool {
	name := filepath.Clean(arg)
	info, err := os.Stat(name)
	if err != nil {
		return w.skip(slashed(name), "", record.ClassUnreadable, reason(err))
	}
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return w.skip(slashed(name), "", record.ClassUnreadable, reason(err))
	}
	if !info.IsDir() {
		w.rootOf, w.real = "", ""
		return w.named(name, real, info)
	}
	if w.roots[slashed(name)] {
		return true
	}
	w.roots[slashed(name)] = true
	w.rootOf, w.real, w.whole, w.other = slashed(name), real, true, nil
	if !w.folder("", ignoresAbove(name, w.warn)) {
		return false
	}
	return !w.whole || w.yield(Item{Root: &record.Root{Path: w.rootOf, Other: w.other}}, nil)
}

// named takes a file that was named by itself.
func (w *walker) named(name, real string, info fs.FileInfo) bool {
	switch {
	case !info.Mode().IsRegular():
		return w.skip(slashed(name), "", record.ClassUnsupported, "not a regular file")
	case !w.reads(name):
		return w.skip(slashed(name), "", record.ClassUnsupported, "unsupported type: only "+Types+" files are read (KB_LOADER_… names a program for others)")
	}
	return w.file(slashed(name), real, info)
}

// folder walks the folder at rel, a path below the root with / separators.
func (w *walker) folder(rel string, ignores []ignoreFile) bool {
	if err := w.ctx.Err(); err != nil {
		w.yield(Item{}, err)
		return false
	}
	if w.folders && !w.yield(Item{Folder: w.path(rel)}, nil) {
		return false
	}
	entries, err := os.ReadDir(filepath.Join(w.real, rel))
	if err != nil {
		w.whole = false
		if !w.skip(w.path(rel), w.rootOf, record.ClassUnreadable, reason(err)) {
			return false
		}
	}
	if own, ok := readIgnore(filepath.Join(w.real, rel, IgnoreName), w.path(rel), w.warn); ok {
		ignores = append(slices.Clip(ignores), own)
	}
	if !w.flush() {
		return false
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(sortKey(a), sortKey(b)) })
	for _, e := range entries {
		if w.passOver(e, path.Join(w.path(rel), e.Name()), ignores) {
			continue
		}
		below := path.Join(rel, e.Name())
		if e.IsDir() {
			if !w.folder(below, ignores) {
				return false
			}
		} else if !w.entry(below, e) {
			return false
		}
	}
	return true
}

func (w *walker) reads(name string) bool { return w.hooks.Read(name) }

// Read says whether files of this name's type are read, by one of the hooks or
// without.
func (h Hooks) Read(name string) bool {
	_, hooked := h.of(name)
	return hooked || MediaType(name) != ""
}

// sortKey lets a folder sort as its files will.
func sortKey(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

func (w *walker) passOver(e fs.DirEntry, full string, ignores []ignoreFile) bool {
	switch name := e.Name(); {
	case name[0] == '.':
		return true
	case e.Type()&fs.ModeSymlink != 0:
		if !ignored(full, false, ignores) {
			w.count(record.SymbolicLink)
		}
		return true
	case e.IsDir():
		if name == "node_modules" {
			return true
		}
	case strings.HasPrefix(name, "~$"):
		return true
	case !w.reads(name):
		if !ignored(full, false, ignores) {
			w.countOther(name)
		}
		return true
	}
	return ignored(full, e.IsDir(), ignores)
}

// countOther counts a file of a type that is not read, but for an index of kb
// and its lock, which are no notes. What follows a dot far from the end is no
// extension.
func (w *walker) countOther(name string) {
	if strings.HasSuffix(strings.TrimSuffix(name, ".lock"), ".jsonl.zst") {
		return
	}
	ext := strings.ToLower(filepath.Ext(name))
	if len(ext) < 2 || len(ext) > 10 || !utf8.ValidString(ext) {
		ext = record.NoExtension
	}
	w.count(ext)
}

func (w *walker) count(ext string) {
	if w.other == nil {
		w.other = make(map[string]int)
	}
	w.other[ext]++
}

// entry takes a file of a known type that was found in a folder.
func (w *walker) entry(rel string, e fs.DirEntry) bool {
	full := w.path(rel)
	if !utf8.ValidString(full) {
		return w.skip(strings.ToValidUTF8(full, "\ufffd"), w.rootOf, record.ClassUnsupported, "the file's name is not valid UTF-8, rename it")
	}
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed while we walk
		return true
	case err != nil:
		return w.skip(full, w.rootOf, record.ClassUnreadable, reason(err))
	case !info.Mode().IsRegular():
		return w.skip(full, w.rootOf, record.ClassUnsupported, "not a regular file")
	}
	return w.file(full, filepath.Join(w.real, filepath.FromSlash(rel)), info)
}

func (w *walker) file(full, real string, info fs.FileInfo) bool {
	if w.seen[real] {
		return true
	}
	w.seen[real] = true
	return w.yield(Item{Entry: &Entry{Path: full, Root: w.rootOf, Size: info.Size(), Modified: info.ModTime()}}, nil)
}

func (w *walker) skip(path, root, class, reason string) bool {
	return w.yield(Item{Skipped: &record.Skipped{Path: path, Root: root, Class: class, Reason: reason}}, nil)
}

func (w *walker) warn(msg string) { w.warnings = append(w.warnings, msg) }

func (w *walker) flush() bool {
	for _, msg := range w.warnings {
		if !w.yield(Item{Warning: msg}, nil) {
			return false
		}
	}
	w.warnings = w.warnings[:0]
	return true
}

// path is the path of a file below the root as reachable from the working
// directory: "a.md" below ".", "notes/a.md" below "notes".
func (w *walker) path(rel string) string { return path.Join(w.rootOf, rel) }

func slashed(name string) string { return filepath.ToSlash(name) }

// reason is an error of the file system without its operation and path, which
// the record names anyway.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}

// MediaType goes by the file's extension; "" for a type that is not read
// without a hook.
func MediaType(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".markdown":
		return "text/markdown"
	case ".txt":
		return "text/plain"
	case ".html", ".htm":
		return "text/html"
	case ".docx":
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	case ".pdf":
		return "application/pdf"
	}
	return ""
}
