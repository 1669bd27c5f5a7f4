package cache

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// entryOverhead is about what an entry costs besides its key and value.
const entryOverhead = 200

// Memory is a cache within this process. When it is full, what was not used
// for longest goes first.
type Memory struct {
	limit int
	now   func() time.Time

	mu    sync.Mutex
	size  int
	order *list.List // of *kept, used last in front
	byKey map[string]*list.Element
}

type kept struct {
	Entry
	until time.Time
}

func (k *kept) size() int { return len(k.Key) + len(k.Value) + entryOverhead }

// NewMemory returns an empty cache that holds up to limit bytes.
func NewMemory(limit int, now func() time.Time) *Memory {
	return &Memory{limit: limit, now: now, order: list.New(), byKey: map[string]*list.Element{}}
}

// Get implements [Cache]. It never fails.
func (m *Memory) Get(_ context.Context, keys []string) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([][]byte, len(keys))
	for i, key := range keys {
		e := m.byKey[key]
		if e == nil {
			continue
		}
		if k := e.Value.(*kept); m.now().Before(k.until) {
			m.order.MoveToFront(e)
			out[i] = k.Value
		} else {
			m.drop(e)
		}
	}
	return out, nil
}

// Set implements [Cache]. It never fails; an entry larger than the whole cache
// is not kept.
func (m *Memory) Set(_ context.Context, entries []Entry, ttl time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, entry := range entries {
		if e := m.byKey[entry.Key]; e != nil {
			m.drop(e)
		}
		k := &kept{entry, m.now().Add(ttl)}
		if k.size() > m.limit {
			continue
		}
		m.byKey[entry.Key] = m.order.PushFront(k)
		m.size += k.size()
	}
	for m.size > m.limit {
		m.drop(m.order.Back())
	}
	return nil
}

func (m *Memory) drop(e *list.Element) {
	k := m.order.Remove(e).(*kept)
	delete(m.byKey, k.Key)
	m.size -= k.size()
}

// Close implements [Cache].
func (m *Memory) Close() error { return nil }
