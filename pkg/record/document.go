package record

import (
	"bytes"
	"encoding/json"
)

// readDocument reads a line in the usual form of a document without pages, as
// [readChunk] does it: encoding/json, which reads all others, goes three times
// over a text and takes four times as long. FuzzDocument holds one against the
// other.
func readDocument(line []byte, d *Document) bool {
	ok := true
	whole := walk(line, func(key, value []byte) bool {
		ok = d.read(key, value)
		return ok
	})
	return ok && whole
}

// read reads one field; false for one that encoding/json must read.
func (d *Document) read(key, value []byte) bool {
	str := func(s *string) (ok bool) {
		*s, ok = readString(value)
		return ok
	}
	switch string(key) {
	case "kind":
		return string(value) == `"document"`
	case "id":
		return str(&d.ID)
	case "path":
		return str(&d.Path)
	case "root":
		return str(&d.Root)
	case "title":
		return str(&d.Title)
	case "media_type":
		return str(&d.MediaType)
	case "hash":
		return str(&d.Hash)
	case "modified":
		return str(&d.Modified)
	case "text":
		return str(&d.Text)
	case "meta":
		d.Meta = bytes.Clone(value)
		return value[0] == '{' && json.Valid(value)
	}
	return false
}
