package live

import (
	"context"
	"fmt"
	"sync"
)

// places finds the document of a chunk: stores find chunks by what they say,
// not by their ids. What was found stays true while the document does, so it is
// kept from version to version, and all chunks are listed at most once for each
// of them: 0.5 s for 100,000.
type places struct {
	mu      sync.Mutex
	paths   map[string]string // by chunk id
	listed  bool
	version string // stamp of the version that was listed
}

// find returns the path of the document that has or had the chunk.
func (p *places) find(ctx context.Context, l *Lease, id string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if path, ok := p.paths[id]; ok {
		has, err := l.has(ctx, path, id)
		if has || err != nil {
			return path, err
		}
	}
	if !p.listed || p.version != l.Stamp() {
		if err := p.list(ctx, l); err != nil {
			return "", err
		}
	}
	path, ok := p.paths[id]
	if !ok {
		return "", fmt.Errorf("passage %q: %w", id, ErrNotFound)
	}
	return path, nil
}

func (p *places) list(ctx context.Context, l *Lease) error {
	paths := map[string]string{}
	last := ""
	for c, err := range l.Reader().Chunks(ctx, "", false) {
		if err != nil {
			return err
		}
		if c.Path != last {
			last = c.Path // one string for all chunks of a document
		}
		paths[c.ID] = last
	}
	p.paths, p.listed, p.version = paths, true, l.Stamp()
	return nil
}

func (l *Lease) has(ctx context.Context, path, id string) (bool, error) {
	for c, err := range l.Reader().Chunks(ctx, path, false) {
		if err != nil || c.ID == id {
			return err == nil, err
		}
	}
	return false, nil
}
