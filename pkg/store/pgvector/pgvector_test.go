package pgvector_test

import (
	"testing"

	"kb/pkg/store"
	"kb/pkg/store/pgvector"
	"kb/pkg/store/pgvector/pgtest"
	"kb/pkg/store/storetest"
)

func open(t testing.TB, url string) *pgvector.Store {
	t.Helper()
	s, err := pgvector.New(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, pgtest.URL(t)) })
}
