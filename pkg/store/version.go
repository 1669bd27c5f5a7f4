package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
)

// Version is [Info.Version] of an index with these settings and documents, in
// the order of their paths: the first 16 bytes, in hex, of the sha256 of the
// settings as JSON and, for each document, of path, hash and sum, each with a
// zero byte behind. All stores give equal content the same version.
func Version(s Settings, docs iter.Seq[*Document]) string {
	sum := sha256.New()
	var settings bytes.Buffer
	enc := json.NewEncoder(&settings)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // cannot fail: strings and numbers
	sum.Write(bytes.TrimSuffix(settings.Bytes(), []byte{'\n'}))
	for d := range docs {
		for _, part := range []string{d.Path, d.Hash, d.Sum} {
			sum.Write([]byte(part))
			sum.Write([]byte{0})
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
