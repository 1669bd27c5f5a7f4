package load

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// IgnoreName is the name of the files that say what a walk passes over.
const IgnoreName = ".kbignore"

// maxIgnore is how much of a .kbignore is read, in bytes.
const maxIgnore = 1 << 20

// ignoreFile holds the patterns of one .kbignore, which apply below its
// folder. The syntax is that of .gitignore: one pattern a line; # begins a
// comment and \ takes the meaning of the character behind it; a pattern with a
// / inside or in front counts from the folder, any other in each folder below;
// a / at the end names folders only; * ? [a-z] [[:alpha:]] match within a name and ** any
// number of folders; ! takes a file in again. The last pattern that matches
// decides, those of folders further down after those further up, and nothing
// is taken in again below an ignored folder.
//
// Besides those in and below the folder that is walked, the .kbignore files
// between the working directory and that folder count.
type ignoreFile struct {
	folder   string // path of the folder as documents have it
	patterns []ignorePattern
}

type ignorePattern struct {
	segments   []string // between the slashes
	negated    bool
	folderOnly bool
}

// ignored says whether the patterns leave out the file at a path.
func ignored(full string, folder bool, files []ignoreFile) bool {
	out := false
	for _, f := range files {
		rel := full
		if f.folder != "." {
			rel = strings.TrimPrefix(strings.TrimPrefix(full, f.folder), "/")
		}
		names := strings.Split(rel, "/")
		for _, p := range f.patterns {
			if (folder || !p.folderOnly) && matchSegments(p.segments, names) {
				out = !p.negated
			}
		}
	}
	return out
}

// IgnoresAbove names the .kbignore files that count for what is below root and
// stand above it, from the working directory down, whether they are there or
// not; none where root does not lie below the working directory.
func IgnoresAbove(root string) []string {
	root = filepath.Clean(root)
	if !filepath.IsLocal(root) || root == "." {
		return nil
	}
	var names []string
	folder := "."
	for _, name := range strings.Split(slashed(root), "/") {
		names = append(names, path.Join(folder, IgnoreName))
		folder = path.Join(folder, name)
	}
	return names
}

// ignoresAbove reads them.
func ignoresAbove(root string, warn func(string)) []ignoreFile {
	var files []ignoreFile
	for _, name := range IgnoresAbove(root) {
		if f, ok := readIgnore(filepath.FromSlash(name), path.Dir(name), warn); ok {
			files = append(files, f)
		}
	}
	return files
}

// Ignored says whether a walk of the folder passes over a file of this name
// in it because of a .kbignore.
func Ignored(folder, name string) bool {
	root := filepath.Clean(folder)
	files := ignoresAbove(root, func(string) {})
	if own, ok := readIgnore(filepath.Join(root, IgnoreName), slashed(root), func(string) {}); ok {
		files = append(files, own)
	}
	return ignored(path.Join(slashed(root), name), false, files)
}

func readIgnore(file, folder string, warn func(string)) (ignoreFile, bool) {
	complain := func(why string) {
		warn(path.Join(folder, IgnoreName) + ": " + why)
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ignoreFile{}, false
	case err == nil && (!info.Mode().IsRegular() || info.Size() > maxIgnore):
		complain("not a regular file below 1 MiB, not used")
		return ignoreFile{}, false
	}
	data, err := os.ReadFile(file)
	if err != nil {
		complain(reason(err) + ", not used")
		return ignoreFile{}, false
	}
	f := ignoreFile{folder: folder}
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		p, ok, err := parsePattern(line)
		if err != nil {
			complain("bad pattern " + strings.TrimSpace(line) + ", not used")
		} else if ok {
			f.patterns = append(f.patterns, p)
		}
	}
	return f, len(f.patterns) > 0
}

// parsePattern reads one line; ok is false for a blank line or a comment.
func parsePattern(line string) (p ignorePattern, ok bool, err error) {
	line = strings.TrimRight(line, "\r\n")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if strings.HasPrefix(line, "#") {
		return p, false, nil
	}
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.folderOnly = strings.CutSuffix(line, "/")
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false, nil
	}
	if !anchored {
		line = "**/" + line
	}
	for segment := range strings.SplitSeq(line, "/") {
		segment = classes().Replace(segment)
		if _, err := path.Match(segment, ""); err != nil {
			return p, false, err
		}
		p.segments = append(p.segments, segment)
	}
	return p, true, nil
}

// classes turns what .gitignore writes into what [path.Match] reads.
func classes() *strings.Replacer {
	return strings.NewReplacer("[!", "[^", "[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:alnum:]", "a-zA-Z0-9",
		"[:lower:]", "a-z", "[:upper:]", "A-Z", "[:xdigit:]", "0-9a-fA-F", "[:space:]", " \t")
}

// matchSegments matches names against a pattern in which ** stands for any
// number of names; at the end, for at least one. It backs up to the last **
// only, so the time is bounded by the product of the lengths.
func matchSegments(pattern, names []string) bool {
	p, n := 0, 0
	star, from := -1, 0
	for n < len(names) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			if p == len(pattern)-1 {
				return true
			}
			star, from = p, n
			p++
			continue
		case p < len(pattern) && matchName(pattern[p], names[n]):
			p++
			n++
			continue
		case star < 0:
			return false
		}
		from++
		p, n = star+1, from
	}
	return p == len(pattern)
}

func matchName(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
