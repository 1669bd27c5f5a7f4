package store

import (
	"crypto/sha256"
	"encoding/hex"

	"kb/pkg/record"
)

// Sum is a digest of a document's chunks: their ids, in order, and whether
// each has a vector.
func Sum(chunks []*record.Chunk) string {
	h := sha256.New()
	for _, c := range chunks {
		h.Write([]byte(c.ID))
		if len(c.Vector) > 0 {
			h.Write([]byte{'v'})
		}
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
