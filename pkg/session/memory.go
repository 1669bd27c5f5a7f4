package session

import (
	"context"
	"slices"
	"sync"
	"time"
)

// maxSessions is how many sessions a process remembers, whoever begins them.
const maxSessions = 10_000

// Memory keeps sessions in this process, the [maxSessions] that were used last.
type Memory struct {
	ttl time.Duration
	now func() time.Time

	mu       sync.Mutex
	sessions map[string]*remembered
	sweep    time.Time // when forgotten sessions are looked for next
}

type remembered struct {
	turns []Turn
	until time.Time
}

// NewMemory returns a store that forgets a session ttl after its last turn.
func NewMemory(ttl time.Duration, now func() time.Time) *Memory {
	return &Memory{ttl: ttl, now: now, sessions: map[string]*remembered{}}
}

// Turns implements [Store]. It never fails.
func (m *Memory) Turns(_ context.Context, name string) ([]Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	if s := m.sessions[name]; s != nil && m.now().Before(s.until) {
		return slices.Clone(s.turns), nil
	}
	return nil, nil
}

// Append implements [Store]. It never fails.
func (m *Memory) Append(_ context.Context, name string, t Turn) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[name]
	if s == nil || !m.now().Before(s.until) {
		if s == nil && len(m.sessions) >= maxSessions {
			m.dropOldest()
		}
		s = &remembered{}
		m.sessions[name] = s
	}
	s.turns = last(append(s.turns, t))
	s.until = m.now().Add(m.ttl)
	return nil
}

// Delete implements [Store]. It never fails.
func (m *Memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, name)
	return nil
}

// dropOldest drops the session whose last turn was longest ago.
func (m *Memory) dropOldest() {
	oldest := ""
	for name, s := range m.sessions {
		if o := m.sessions[oldest]; o == nil || s.until.Before(o.until) || s.until.Equal(o.until) && name < oldest {
			oldest = name
		}
	}
	delete(m.sessions, oldest)
}

// forget drops what has expired, once in each lifetime.
func (m *Memory) forget() {
	now := m.now()
	if now.Before(m.sweep) {
		return
	}
	m.sweep = now.Add(m.ttl)
	for name, s := range m.sessions {
		if !now.Before(s.until) {
			delete(m.sessions, name)
		}
	}
}
