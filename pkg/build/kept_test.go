package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"kb/pkg/chunk"
	"kb/pkg/embed"
	"kb/pkg/index"
	"kb/pkg/model"
	"kb/pkg/model/offline"
	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/flat"
)

var errQuota = errors.New("quota exceeded")

// metered embeds one text a request, as many as are left, and is then stopped.
type metered struct {
	*offline.Embedder
	left, asked int
	stop        func()
}

func (m *metered) Batch() int { return 1 }

func (m *metered) Info() model.Info {
	return model.Info{Model: "metered", BaseURL: "http://model.test/v1"}
}

func (m *metered) Embed(ctx context.Context, p model.Purpose, texts []string) ([]record.Vector, error) {
	if m.left < len(texts) {
		m.stop()
		return nil, cmp.Or(ctx.Err(), errQuota)
	}
	m.left -= len(texts)
	m.asked += len(texts)
	return m.Embedder.Embed(ctx, p, texts)
}

// reuse is what the index has, as kb build gives it to the embedder.
func reuse(t *testing.T, s *flat.Store) embed.Reuse {
	t.Helper()
	r, err := s.Open(t.Context())
	if err != nil {
		return nil
	}
	t.Cleanup(func() { r.Close() })
	known, err := embed.FromReader(t.Context(), r, (&metered{}).Info())
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// A vector is paid for once, also where the server gives out in the middle of
// a build or somebody stops it; what the build did not come to is neither
// changed nor removed.
func TestVectorsAreKept(t *testing.T) {
	for name, want := range map[string]error{"quota": errQuota, "stopped": context.Canceled} {
		t.Run(name, func(t *testing.T) { testKept(t, want) })
	}
}

// fiveNotes makes a folder notes in an empty directory.
func fiveNotes(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("notes", 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := os.WriteFile(fmt.Sprintf("notes/%d.md", i), fmt.Appendf(nil, "note %d\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func testKept(t *testing.T, want error) {
	fiveNotes(t)
	s := flat.New("index.zst")
	e := &metered{Embedder: offline.NewEmbedder(), left: 3}
	run := func() (index.Result, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		e.stop = func() {
			if want == context.Canceled {
				cancel()
			}
		}
		_, result, err := Run(ctx, []string{"notes"}, Options{
			Store: s, Embedder: e, Embed: embed.Options{Concurrency: 1, Reuse: reuse(t, s)}, Now: time.Now,
			Chunk: chunk.Options{Size: 100},
		})
		return result, err
	}
	if result, err := run(); !errors.Is(err, want) || result.Created != 3 {
		t.Fatalf("%d documents kept, error %v", result.Created, err)
	}
	if err := os.Remove("notes/0.md"); err != nil {
		t.Fatal(err)
	}
	if result, err := run(); !errors.Is(err, want) || result.Removed != 0 {
		t.Fatalf("%d documents removed, error %v", result.Removed, err)
	}
	e.left = 5
	if result, err := run(); err != nil || result.Info.Documents != 4 || e.asked != 5 {
		t.Fatalf("%d documents, %d texts asked for, error %v", result.Info.Documents, e.asked, err)
	}
}

// beginning is a store in which something happens when a change begins.
type beginning struct {
	store.Store
	before func() error
}

func (b beginning) Begin(ctx context.Context, wait bool) (store.Tx, error) {
	if err := b.before(); err != nil {
		return nil, err
	}
	return b.Store.Begin(ctx, wait)
}

// Who stops a build while the index is written is told that this takes its time,
// and who runs out of disk, too, that nothing is kept.
func TestKeepingAtTheEnd(t *testing.T) {
	fiveNotes(t)
	ctx, cancel := context.WithCancel(t.Context())
	keeping := make(chan bool)
	e := &metered{Embedder: offline.NewEmbedder(), left: 5}
	s := beginning{flat.New("index.zst"), func() error { cancel(); <-keeping; return nil }}
	o := Options{Store: s, Embedder: e, Now: time.Now, Chunk: chunk.Options{Size: 100}, Keeping: func() { close(keeping) }}
	if _, result, err := Run(ctx, []string{"notes"}, o); err != nil || !result.Written || result.Created != 5 {
		t.Fatalf("%d documents kept, error %v", result.Created, err)
	}

	errFull := errors.New("no space left")
	e.left, e.stop = 3, func() {}
	warned := ""
	o.Store = beginning{flat.New("other.zst"), func() error { return errFull }}
	o.Warn = func(msg string) { warned = msg }
	if _, _, err := Run(t.Context(), []string{"notes"}, o); !errors.Is(err, errQuota) || warned != "the vectors that came are not kept: no space left" {
		t.Errorf("%v, warned of %q", err, warned)
	}
}
