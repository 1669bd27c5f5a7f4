package chroma_test

import (
	"testing"

	"kb/pkg/store"
	"kb/pkg/store/chroma"
	"kb/pkg/store/remote/remotetest"
	"kb/pkg/store/storetest"
)

func open(t testing.TB, url string) store.Store {
	t.Helper()
	s, err := chroma.New(url, chroma.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	remotetest.Chroma.Need(t)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, remotetest.Chroma.URL(t)) })
}
