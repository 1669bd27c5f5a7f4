package flat_test

import (
	"path/filepath"
	"testing"

	"kb/pkg/store"
	"kb/pkg/store/flat"
	"kb/pkg/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return flat.New(filepath.Join(t.TempDir(), "index.jsonl.zst"))
	})
}

func TestConformanceResident(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return flat.New(filepath.Join(t.TempDir(), "index.jsonl.zst"), flat.Resident(1<<40))
	})
}
