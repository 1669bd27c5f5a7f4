package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"kb/pkg/record"
)

// Sum is a digest of a document's chunks: what they say, where they stand and
// whether each has a vector, but not the vectors themselves. Two documents of
// equal Hash, Meta and Sum need not be written again.
func Sum(chunks []*record.Chunk) string {
	h := sha256.New()
	for _, c := range chunks {
		fmt.Fprintf(h, "%s\x00%s\x00%d\x00%d\x00%t\x00%s\x00", c.ID, c.Title, c.Page, c.Line, len(c.Vector) > 0, c.Text)
		for _, s := range c.Headings {
			fmt.Fprintf(h, "%s\x00", s)
		}
		for _, f := range c.Extra {
			fmt.Fprintf(h, "%s\x00%s\x00", f.Key, f.Value)
		}
		h.Write([]byte{1})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
