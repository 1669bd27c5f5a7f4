package record

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// DocumentID is the id of the document at a path: the first 16 hex digits of
// the sha256 of the path.
func DocumentID(path string) string { return short("document", path) }

// ChunkID is the id of a chunk: it changes with the document's path, the
// place in the document and the text, and with nothing else, so equal
// documents cut in the same way keep their ids.
func ChunkID(document string, seq, start int, text string) string {
	return short("chunk", document, strconv.Itoa(seq), strconv.Itoa(start), text)
}

// QueryID is the id of a question.
func QueryID(text string) string { return short("query", text) }

func short(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
