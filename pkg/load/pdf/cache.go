package pdf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"kb/pkg/atomicfile"
	"kb/pkg/record"
)

// cacheVersion changes with ledongthuc/pdf and with what is done to the text of
// either engine; PDFium's version is part of the name anyway.
const cacheVersion = "2"

// Bounds of the cache. Looking at all of its files takes a moment, so it is
// done once a day at most.
const (
	unused      = 30 * 24 * time.Hour // without use, until a file is removed
	cacheSize   = 512 << 20           // bytes
	pruneEvery  = 24 * time.Hour
	keepGivenUp = 24 * time.Hour // a timeout: it may come out better on another day
)

// cache keeps what came of each file in a file named by the engine and the
// file's hash: a line with the xxhash of the rest in hexadecimal, then JSON.
// What cannot be read, written or trusted is as if it were not there.
type cache struct {
	dir    string // "": no cache
	engine string // with its version
	wrote  bool
}

func newCache(cacheDir, engine string) cache {
	if cacheDir == "" {
		return cache{}
	}
	return cache{
		dir:    filepath.Join(cacheDir, "pdf"),
		engine: fmt.Sprintf("%s-%s-%s", engine, cacheVersion, checksum(packedModule)[:8]),
	}
}

type entry struct {
	Hash    string   `json:"hash"`
	Pages   []Page   `json:"pages,omitempty"`
	Running []string `json:"running,omitempty"`
	Class   string   `json:"class,omitempty"`
	Reason  string   `json:"reason,omitempty"`
}

func (c *cache) path(hash string) string {
	return filepath.Join(c.dir, c.engine, hash[:2], hash+".json")
}

func (c *cache) usable(hash string) bool { return c.dir != "" && len(hash) > 2 }

func (c *cache) get(hash string) (doc Doc, err error, ok bool) {
	if !c.usable(hash) {
		return Doc{}, nil, false
	}
	data, err := os.ReadFile(c.path(hash))
	if err != nil {
		return Doc{}, nil, false
	}
	sum, body, _ := strings.Cut(string(data), "\n")
	var e entry
	if sum != checksum(body) || json.Unmarshal([]byte(body), &e) != nil || e.Hash != hash {
		return Doc{}, nil, false
	}
	if e.Class == record.ClassTimeout && !younger(c.path(hash), keepGivenUp) {
		return Doc{}, nil, false
	}
	if e.Class != record.ClassTimeout { // whose age counts from when it was tried
		touch(c.path(hash))
	}
	if e.Class != "" {
		return Doc{}, &Error{Class: e.Class, Reason: e.Reason}, true
	}
	return Doc{Pages: e.Pages, Running: e.Running}, nil, true
}

// put keeps a result, but not what may come out better next time. A file that
// was given up is kept for a day, or it would cost its whole time in each run.
func (c *cache) put(hash string, doc Doc, err error) {
	if !c.usable(hash) {
		return
	}
	e := entry{Hash: hash, Pages: doc.Pages, Running: doc.Running}
	if err != nil {
		var failed *Error
		if !errors.As(err, &failed) || record.Transient(failed.Class) && failed.Class != record.ClassTimeout {
			return
		}
		e.Class, e.Reason = failed.Class, failed.Reason
	}
	body, err := json.Marshal(e)
	if err != nil {
		return
	}
	c.wrote = true
	atomicfile.Write(c.path(hash), append([]byte(checksum(string(body))+"\n"), body...))
}

func checksum(s string) string { return fmt.Sprintf("%016x", xxhash.Sum64String(s)) }

func younger(name string, age time.Duration) bool {
	info, err := os.Stat(name)
	return err == nil && time.Since(info.ModTime()) < age
}

// touch notes that a file was used.
func touch(name string) {
	now := time.Now()
	os.Chtimes(name, now, now)
}

// prune removes what was not used for long, and what was used least recently
// where all of it is too large.
func (c *cache) prune(now time.Time) {
	mark := filepath.Join(c.dir, "pruned")
	if info, err := os.Stat(mark); !c.wrote || err == nil && now.Sub(info.ModTime()) < pruneEvery {
		return
	}
	if err := atomicfile.Write(mark, nil); err != nil {
		return
	}
	type file struct {
		name string
		info fs.FileInfo
	}
	var files []file
	filepath.WalkDir(c.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == mark {
			return nil
		}
		if info, err := d.Info(); err == nil {
			files = append(files, file{name, info})
		}
		return nil
	})
	slices.SortFunc(files, func(a, b file) int { return b.info.ModTime().Compare(a.info.ModTime()) })
	size := int64(0)
	for _, f := range files {
		if size += f.info.Size(); size > cacheSize || now.Sub(f.info.ModTime()) > unused {
			os.Remove(f.name)
		}
	}
}
