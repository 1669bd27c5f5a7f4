package pgvector_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/pgvector/pgtest"
	"kb/pkg/store/storetest"
)

// TestKilledServer: whenever the server is killed in the middle of a change, it
// has the old documents afterwards or the new ones, whole, and the next change
// works.
func TestKilledServer(t *testing.T) {
	server := pgtest.Start(t)
	s := open(t, server.URL)
	g := storetest.NewGenerator(31, 512)
	old := g.Docs(900) // 6 MB of vectors: more than one batch
	storetest.Write(t, s, g.Settings(), old...)
	changed := make([]*storetest.Doc, len(old))
	for i := range old {
		changed[i] = g.Doc(old[i].Path)
	}

	t.Run("before the commit", func(t *testing.T) {
		tx, err := s.Begin(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		for i, d := range changed {
			if i == 500 {
				server.Kill()
			}
			if err = tx.Put(t.Context(), d.Document, d.Chunks); err != nil {
				break
			}
		}
		if err == nil {
			_, err = tx.Commit(t.Context(), g.Settings())
		}
		wantLost(t, err)
		server.Again()
		storetest.Check(t, s, g, storetest.NewReference(old...))
	})

	for _, delay := range []time.Duration{30 * time.Millisecond, 150 * time.Millisecond, 600 * time.Millisecond} {
		t.Run("in the commit, after "+delay.String(), func(t *testing.T) {
			tx, err := s.Begin(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			for _, d := range changed {
				if err := tx.Put(t.Context(), d.Document, d.Chunks); err != nil {
					t.Fatal(err)
				}
			}
			done := make(chan error)
			go func() {
				_, err := tx.Commit(context.Background(), g.Settings())
				done <- err
			}()
			time.Sleep(delay) // wherever that is in the commit
			server.Kill()
			err = <-done
			server.Again()
			if err == nil {
				storetest.Check(t, s, g, storetest.NewReference(changed...))
				storetest.Write(t, s, g.Settings(), old...)
				return
			}
			wantLost(t, err)
			r := storetest.Open(t, s)
			if one := firstChunk(t, r); one.ID == changed[0].Chunks[0].ID { // it was the answer that was lost
				storetest.Check(t, s, g, storetest.NewReference(changed...))
				storetest.Write(t, s, g.Settings(), old...)
			} else {
				storetest.Check(t, s, g, storetest.NewReference(old...))
			}
		})
	}
	storetest.Write(t, s, g.Settings(), changed...)
	storetest.Check(t, s, g, storetest.NewReference(changed...))
}

func wantLost(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("a change succeeded on a server that was killed")
	}
	hint, ok := err.(interface{ Hint() string })
	if !ok || hint.Hint() == "" || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%v", err)
	}
}

func firstChunk(t *testing.T, r store.Reader) *record.Chunk {
	t.Helper()
	chunks, err := r.Fetch(t.Context(), []store.Ref{0}, false)
	if err != nil {
		t.Fatal(err)
	}
	return chunks[0]
}
