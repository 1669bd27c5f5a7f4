// Package cache keeps what was paid for: vectors of texts and whole answers.
// A [Cache] is a place for small values that expire, in this process
// ([Memory]) or in Redis, where several share it ([Redis]). Losing an entry
// costs a request and nothing else, so a cache that fails is left alone for a
// while ([Guard]) and never fails what it was to speed up.
//
// Package cachetest holds the conformance suite.
package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Cache keeps values by key until they expire. Implementations are safe for
// many goroutines at once.
type Cache interface {
	// Get returns the values of the keys, in order; nil where there is none.
	Get(ctx context.Context, keys []string) ([][]byte, error)
	// Set keeps the entries for ttl, which must be positive. Values must not
	// be changed afterwards, neither by the caller nor by those who get them.
	Set(ctx context.Context, entries []Entry, ttl time.Duration) error
	Close() error
}

// Entry is a value and its key.
type Entry struct {
	Key   string
	Value []byte
}

// Key makes a key of parts: the name in front, which says what the value is,
// and 128 bits of a hash in which no two lists of parts are alike.
func Key(name string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		n := len(p)
		h.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
		h.Write([]byte(p))
	}
	return name + ":" + hex.EncodeToString(h.Sum(nil)[:16])
}
