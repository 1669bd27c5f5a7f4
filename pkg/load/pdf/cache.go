package pdf

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cespare/xxhash/v2"

	"kb/pkg/atomicfile"
	"kb/pkg/record"
)

// cacheVersion changes with the engines and with what is done to their text.
//
//	1: pdfium 1.21.4, ledongthuc/pdf 2026-09-07
const cacheVersion = "1"

// cache keeps what came of each file in a file named by the engine and the
// file's hash: a line with the xxhash of the rest in hexadecimal, then JSON.
// What cannot be read, written or trusted is as if it were not there.
type cache struct {
	dir    string // "": no cache
	engine string
}

type entry struct {
	Hash    string   `json:"hash"`
	Pages   []Page   `json:"pages,omitempty"`
	Running []string `json:"running,omitempty"`
	Class   string   `json:"class,omitempty"`
	Reason  string   `json:"reason,omitempty"`
}

func (c cache) path(hash string) string {
	return filepath.Join(c.dir, "pdf", cacheVersion+"-"+c.engine, hash[:2], hash+".json")
}

func (c cache) usable(hash string) bool { return c.dir != "" && len(hash) > 2 }

func (c cache) get(hash string) (doc Doc, err error, ok bool) {
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
	if e.Class != "" {
		return Doc{}, &Error{Class: e.Class, Reason: e.Reason}, true
	}
	return Doc{Pages: e.Pages, Running: e.Running}, nil, true
}

// put keeps a result, but not what may come out better next time.
func (c cache) put(hash string, doc Doc, err error) {
	if !c.usable(hash) {
		return
	}
	e := entry{Hash: hash, Pages: doc.Pages, Running: doc.Running}
	if err != nil {
		var failed *Error
		if !errors.As(err, &failed) || record.Transient(failed.Class) {
			return
		}
		e.Class, e.Reason = failed.Class, failed.Reason
	}
	body, err := json.Marshal(e)
	if err != nil {
		return
	}
	atomicfile.Write(c.path(hash), []byte(checksum(string(body))+"\n"+string(body)))
}

func checksum(s string) string { return fmt.Sprintf("%016x", xxhash.Sum64String(s)) }
