package milvus_test

import (
	"testing"

	"kb/pkg/store"
	"kb/pkg/store/milvus"
	"kb/pkg/store/remote/remotetest"
	"kb/pkg/store/storetest"
)

func open(t testing.TB, url string) store.Store {
	t.Helper()
	s, err := milvus.New(url, milvus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	remotetest.Milvus.Need(t)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, remotetest.Milvus.URL(t)) })
}

func TestConformanceLite(t *testing.T) {
	remotetest.MilvusLite.Need(t)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, remotetest.MilvusLite.URL(t)) })
}
