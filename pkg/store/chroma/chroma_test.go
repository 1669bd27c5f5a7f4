package chroma_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"kb/pkg/store"
	"kb/pkg/store/chroma"
	"kb/pkg/store/storetest"
)

var names atomic.Int64

// server is the URL of a Chroma server, such as scripts/services.sh starts.
func server(t testing.TB) string {
	url := os.Getenv("KB_TEST_CHROMA_URL")
	if url == "" {
		t.Skip("KB_TEST_CHROMA_URL is not set: scripts/services.sh chroma -- go test ./pkg/store/chroma")
	}
	return url
}

func open(t testing.TB, url string) store.Store {
	s, err := chroma.New(url, chroma.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	url := server(t)
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, fmt.Sprintf("%s/t%d-%d", url, os.Getpid(), names.Add(1)))
	})
}
