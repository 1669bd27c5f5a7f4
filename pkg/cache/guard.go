package cache

import (
	"context"
	"errors"
	"sync"
	"time"
)

// pause is how long a service that failed is left alone.
const pause = 30 * time.Second

// Breaker keeps in mind whether a service works, so that one that is down
// costs one attempt and one warning, and is tried again half a minute later.
type Breaker struct {
	now  func() time.Time
	warn func(error)

	mu    sync.Mutex
	again time.Time // not tried before
	down  bool
}

// NewBreaker returns the breaker of a service that is thought to work. warn
// is told the first failure of each outage.
func NewBreaker(now func() time.Time, warn func(error)) *Breaker {
	return &Breaker{now: now, warn: warn}
}

// Usable says whether the service is to be tried.
func (b *Breaker) Usable() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.now().Before(b.again)
}

// Note takes in how an attempt ended, and returns whether it succeeded. That a
// caller gave up says nothing about the service.
func (b *Breaker) Note(ctx context.Context, err error) bool {
	if err != nil && (ctx.Err() != nil || errors.Is(err, context.Canceled)) {
		return false
	}
	b.mu.Lock()
	first := err != nil && !b.down
	b.down = err != nil
	if b.down {
		b.again = b.now().Add(pause)
	}
	b.mu.Unlock()
	if first {
		b.warn(err)
	}
	return err == nil
}

// Guard returns a cache that never fails: while the one behind it does, it is
// an empty one.
func Guard(c Cache, b *Breaker) Cache { return &guard{c, b} }

type guard struct {
	cache   Cache
	breaker *Breaker
}

func (g *guard) Get(ctx context.Context, keys []string) ([][]byte, error) {
	if g.breaker.Usable() {
		values, err := g.cache.Get(ctx, keys)
		if g.breaker.Note(ctx, err) {
			return values, nil
		}
	}
	return make([][]byte, len(keys)), nil
}

func (g *guard) Set(ctx context.Context, entries []Entry, ttl time.Duration) error {
	if len(entries) > 0 && g.breaker.Usable() {
		g.breaker.Note(ctx, g.cache.Set(ctx, entries, ttl))
	}
	return nil
}

func (g *guard) Close() error { return g.cache.Close() }
