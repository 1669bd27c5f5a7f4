package build

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"kb/pkg/atomicfile"
	"kb/pkg/load"
)

// cache is what the last build saw. Its file is text: a line with the name of
// the form, the version of the index, its stamp, the settings, whether every
// file became a document, the paths that were built, and then a line for each
// file.
type cache struct {
	version  string // of the index
	stamp    string // of the index, see [store.Stamper]; "" where it has none
	settings string
	whole    bool // every file of the walk is in files
	paths    []string
	files    map[string]seen
}

// seen is one file.
type seen struct {
	size, modified int64 // bytes, Unix nanoseconds
	hash           string
	chunks, reused int
}

// unsure is a file that is there, and will be read again.
var unsure = seen{size: -1}

const cacheForm = "kb files 2"

// saw says whether the last build knew of the file.
func (c *cache) saw(path string) bool {
	if c == nil {
		return false
	}
	_, ok := c.files[path]
	return ok
}

func (c *cache) has(e load.Entry) bool {
	f, ok := c.files[e.Path]
	return ok && f.size == e.Size && f.modified == e.Modified.UnixNano()
}

// readCache returns nil when there is no cache that can be read: it is only a
// cache.
func readCache(name string) *cache {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	head := make([]string, 0, 6)
	for len(head) < cap(head) && lines.Scan() {
		head = append(head, lines.Text())
	}
	if len(head) < cap(head) || head[0] != cacheForm {
		return nil
	}
	c := &cache{version: head[1], stamp: head[2], settings: head[3], whole: head[4] == "whole", files: map[string]seen{}}
	for p := range strings.SplitSeq(head[5], "\x00") {
		c.paths = append(c.paths, p)
	}
	for lines.Scan() {
		path, f, ok := parseSeen(lines.Text())
		if !ok {
			return nil
		}
		c.files[path] = f
	}
	return c
}

func parseSeen(line string) (path string, f seen, ok bool) {
	fields := strings.SplitN(line, " ", 6)
	if len(fields) != 6 {
		return "", f, false
	}
	var errs [4]error
	f.size, errs[0] = strconv.ParseInt(fields[0], 10, 64)
	f.modified, errs[1] = strconv.ParseInt(fields[1], 10, 64)
	f.chunks, errs[2] = strconv.Atoi(fields[2])
	f.reused, errs[3] = strconv.Atoi(fields[3])
	f.hash = fields[4]
	return fields[5], f, errs == [4]error{}
}

// write replaces the cache file. Paths with a line end are left out, which
// costs them a reading.
func (c *cache) write(name string) error {
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	whole := "partial"
	if c.whole {
		whole = "whole"
	}
	fmt.Fprintf(&b, "%s\n%s\n%s\n%s\n%s\n%s\n", cacheForm, c.version, c.stamp, c.settings, whole, strings.Join(c.paths, "\x00"))
	paths := make([]string, 0, len(c.files))
	for p := range c.files {
		if !strings.ContainsAny(p, "\r\n") {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	for _, p := range paths {
		f := c.files[p]
		fmt.Fprintf(&b, "%d %d %d %d %s %s\n", f.size, f.modified, f.chunks, f.reused, f.hash, p)
	}
	return atomicfile.Write(name, b.Bytes())
}
