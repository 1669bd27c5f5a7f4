package pdf

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/tetratelabs/wazero"

	"kb/pkg/atomicfile"
)

// codeCache keeps the machine code that PDFium is compiled to: 15 MB that take
// seconds to make. The WebAssembly runtime writes the files and trusts what it
// finds in them but for the code itself: a damaged length or offset would end
// the process. So each file is sealed: the xxhash of its bytes is appended,
// which the runtime does not read; and a file whose seal is broken is removed
// before the runtime sees it.
//
// Processes may share the folder: files appear under their names when they are
// whole, and one that is removed too early is only made again.
type codeCache struct{ dir string } // "": no cache

func newCodeCache(cacheDir string) codeCache {
	if cacheDir == "" {
		return codeCache{}
	}
	return codeCache{dir: filepath.Join(cacheDir, "pdfium", fmt.Sprintf("%016x", xxhash.Sum64String(packedModule)))}
}

// warm removes what cannot be used and says whether there is anything left.
func (c codeCache) warm() bool {
	sealed := 0
	for _, name := range c.files() {
		if isSealed(name) {
			sealed++
		} else {
			os.Remove(name)
		}
	}
	return sealed > 0
}

// files are those of the runtime, which names a folder by its version and a
// file by the module and the processor. What a process that was killed left is
// removed.
func (c codeCache) files() (whole []string) {
	if c.dir == "" {
		return nil
	}
	all, _ := filepath.Glob(filepath.Join(c.dir, "*", "*"))
	for _, name := range all {
		if !strings.Contains(filepath.Base(name), "tmp") {
			whole = append(whole, name)
		} else if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > time.Hour {
			os.Remove(name)
		}
	}
	return whole
}

// open returns nil without an error where there is no cache.
func (c codeCache) open(warm bool) (wazero.CompilationCache, error) {
	if c.dir == "" {
		return nil, nil
	}
	if !warm {
		if err := writable(c.dir); err != nil {
			return nil, err
		}
	}
	return wazero.NewCompilationCacheWithDir(c.dir)
}

func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// seal seals the files that the runtime has written, and removes the code of
// other versions that nobody has used for a month.
func (c codeCache) seal() {
	for _, name := range c.files() {
		if data, err := os.ReadFile(name); err == nil && !isSealed(name) {
			sum := xxhash.Sum64(data)
			atomicfile.Write(name, binary.LittleEndian.AppendUint64(data, sum))
		}
	}
	others, _ := filepath.Glob(filepath.Join(filepath.Dir(c.dir), "*"))
	for _, dir := range others {
		if info, err := os.Stat(dir); err == nil && dir != c.dir && time.Since(info.ModTime()) > unused {
			os.RemoveAll(dir)
		}
	}
}

// touch notes that the code was used.
func (c codeCache) touch() { touch(c.dir) }

func isSealed(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < 8 {
		return false
	}
	hash := xxhash.New()
	if _, err := io.CopyN(hash, f, info.Size()-8); err != nil {
		return false
	}
	var seal [8]byte
	_, err = io.ReadFull(f, seal[:])
	return err == nil && binary.LittleEndian.Uint64(seal[:]) == hash.Sum64()
}
