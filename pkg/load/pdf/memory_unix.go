//go:build linux || darwin

package pdf

import (
	"context"
	"sync"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// arena gives the instances their memory: address space for all that they may
// ever ask for, of which the system provides what is touched. Growing needs no
// copy. With the runtime's own slices, copies of a memory that grows to 256 MiB
// brought the process to 965 MB.
//
// An instance that is killed frees its memory while its code may still run, so
// memory goes back to the system only with release.
type arena struct {
	mu    sync.Mutex
	freed []*mapping
}

type mapping struct {
	arena *arena
	space []byte
}

func (a *arena) with(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, a)
}

// Allocate implements experimental.MemoryAllocator.
func (a *arena) Allocate(_, most uint64) experimental.LinearMemory {
	space, err := unix.Mmap(-1, 0, int(most), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		space = nil
	}
	return &mapping{arena: a, space: space}
}

// Reallocate implements experimental.LinearMemory; nil is out of memory.
func (m *mapping) Reallocate(size uint64) []byte {
	if size > uint64(len(m.space)) {
		return nil
	}
	return m.space[:size]
}

// Free implements experimental.LinearMemory.
func (m *mapping) Free() {
	m.arena.mu.Lock()
	defer m.arena.mu.Unlock()
	m.arena.freed = append(m.arena.freed, m)
}

// release returns what was freed. No instance may be running.
func (a *arena) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.freed {
		if m.space != nil {
			unix.Munmap(m.space)
		}
	}
	a.freed = nil
}
