package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"kb/pkg/record"
)

// Sum is a digest of a document's chunks: what they say, where they stand and
// whether each has a vector, but not the vectors themselves. Two documents of
// equal Hash, Meta and Sum need not be written again.
func Sum(chunks []*record.Chunk) string {
	h := sha256.New()
	var buf []byte
	put := func(s string) { buf = append(append(buf, s...), 0) }
	for _, c := range chunks {
		buf = buf[:0]
		put(c.ID)
		put(c.Title)
		put(strconv.Itoa(c.Page))
		put(strconv.Itoa(c.Line))
		put(strconv.FormatBool(len(c.Vector) > 0))
		put(c.Text)
		for _, s := range c.Headings {
			put(s)
		}
		for _, f := range c.Extra {
			put(f.Key)
			put(string(f.Value))
		}
		h.Write(append(buf, 1))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
