package embed

import (
	"crypto/sha256"

	"kb/pkg/model"
)

// maxCache is how many bytes of vectors are remembered for equal texts, which may
// cost money. Repeated passages (licences, templates, copies of a file) mostly lie
// close together, so the oldest entry goes first.
const maxCache = 32 << 20

// maxOfflineCache is the same where a vector costs 40 µs and nothing else: the
// memory would take longer to fill than the vectors to make.
const maxOfflineCache = 4 << 20

// key stands for a text; 128 bits make a collision less likely than a fault of
// the machine.
type key [16]byte

func keyOf(purpose model.Purpose, text string) key {
	h := sha256.New()
	h.Write([]byte{byte(purpose)})
	h.Write([]byte(text))
	return key(h.Sum(nil)[:16])
}

// cache remembers the slots of texts, those without an answer among them.
type cache struct {
	slots map[key]*slot
	order []key // oldest first
	dim   int   // of the vectors seen last
	limit int   // bytes
}

func newCache(info model.Info) cache {
	c := cache{slots: map[key]*slot{}, dim: 1024, limit: maxCache}
	if info.BaseURL == "" {
		c.limit = maxOfflineCache
	}
	return c
}

func (c *cache) get(k key) *slot { return c.slots[k] }

func (c *cache) put(k key, s *slot) {
	c.slots[k] = s
	c.order = append(c.order, k)
	for len(c.order) > c.capacity() {
		delete(c.slots, c.order[0])
		c.order = c.order[1:]
	}
}

// capacity is how many vectors fit, going by the oldest one known.
func (c *cache) capacity() int {
	oldest := c.slots[c.order[0]]
	if oldest.batch == nil || oldest.batch.finished() {
		if n := len(oldest.vector); n > 0 {
			c.dim = n
		}
	}
	return c.limit / (4*c.dim + 100)
}
