package server

import (
	"net/http"

	"kb/pkg/live"
	"kb/pkg/store"
)

// health says whether questions can be answered. It needs no token and names no
// document.
func (s *server) health(w http.ResponseWriter, r *http.Request) error {
	lease, err := s.Index.Acquire(r.Context())
	if err != nil {
		s.Log.Error("the index cannot be read", "error", err.Error())
		return failf(http.StatusServiceUnavailable, "the index cannot be read")
	}
	defer lease.Release()
	info := lease.Info()
	_, stale := s.Index.Opened()
	body := healthBody{Status: "ok", Version: s.Version, Documents: info.Documents, Chunks: info.Chunks, Index: info.Version,
		Stale: stale, Resident: resident(lease), Models: s.Models, Uploads: s.Notes != nil}
	if info.Documents == 0 {
		body.Status = "empty"
	}
	return respond(w, http.StatusOK, body)
}

type healthBody struct {
	Status    string `json:"status"`
	Version   string `json:"version"`
	Documents int    `json:"documents"`
	Chunks    int    `json:"chunks"`
	Index     string `json:"index"`
	Stale     bool   `json:"stale"`    // there is a newer version, which cannot be opened
	Resident  int64  `json:"resident"` // bytes of the index that are kept in memory
	Uploads   bool   `json:"uploads"`  // documents can be added and removed
	Models    Models `json:"models"`
}

// resident is how much of the index is kept in memory, in bytes.
func resident(l *live.Lease) int64 {
	if r, ok := l.Reader().(store.Resident); ok {
		return r.Resident()
	}
	return 0
}
