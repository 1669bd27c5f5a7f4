package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"kb/pkg/store"
)

// Version ladder. A reader accepts a manifest whose field "reader" is not above
// its own formatVersion.
//
//	1  rows, segments and tables as in the package comment
const (
	formatVersion = 1
	oldestReader  = 1
)

const (
	kindHead   = "head"
	kindChange = "change"
	kindLease  = "lease"
)

// manifest names all that one generation consists of.
type manifest struct {
	Format     int            `json:"format"`
	Reader     int            `json:"reader"`
	Generation int64          `json:"generation"`
	Group      string         `json:"group"` // of the change that made it
	Version    string         `json:"version"`
	Settings   store.Settings `json:"settings"`
	Analyzer   string         `json:"postings"` // the analyzer of the postings, with its version
	Documents  int            `json:"documents"`
	Chunks     int            `json:"chunks"`
	Vectors    int            `json:"vectors"`
	Tokens     int64          `json:"tokens"` // of all chunks
	Bytes      int64          `json:"bytes"`  // of rows and vectors
	Table      string         `json:"table,omitempty"`
	Mark       string         `json:"mark,omitempty"` // of the engine that wrote all this
	Segments   []segmentRef   `json:"segments"`
	Lists      blob           `json:"lists"`
	Swept      []sweep        `json:"sweep,omitempty"`
}

// segmentRef is a segment and which of its documents are gone.
type segmentRef struct {
	Blob   blob `json:"rows"`
	Chunks int  `json:"chunks"`
	Dead   blob `json:"dead,omitzero"` // a bit for each document, least first
	Bytes  int  `json:"bytes"`
}

// sweep is what one change replaced.
type sweep struct {
	At   int64 `json:"at"` // in seconds since 1970
	Rows blob  `json:"rows"`
}

func headKey(generation int64) string { return fmt.Sprintf("%s/%d", kindHead, generation) }

func (m *manifest) row() (Row, error) {
	data, err := json.Marshal(m)
	if err == nil && len(data) > MaxData {
		err = fmt.Errorf("the manifest has %d bytes, the limit is %d", len(data), MaxData)
	}
	return Row{Key: headKey(m.Generation), Kind: kindHead, Group: m.Group, Data: string(data)}, err
}

func (m *manifest) info() store.Info {
	return store.Info{Settings: m.Settings, Format: m.Format, Version: m.Version,
		Documents: m.Documents, Chunks: m.Chunks, Vectors: m.Vectors, Size: m.Bytes}
}

// newest reads the manifest of the last generation, or returns
// [store.ErrNotFound].
func (s *Store) newest(ctx context.Context) (*manifest, error) {
	rows, err := s.engine.List(ctx, kindHead)
	if err != nil {
		return nil, err
	}
	var newest *manifest
	for _, row := range rows {
		m, err := s.parseManifest(row.Data)
		if err != nil {
			return nil, err
		}
		if newest == nil || m.Generation > newest.Generation {
			newest = m
		}
	}
	if newest == nil {
		return nil, fmt.Errorf("%s: %w", s.Name(), store.ErrNotFound)
	}
	s.engine.Seen(newest.Mark)
	return newest, nil
}

func (s *Store) parseManifest(data string) (*manifest, error) {
	m := &manifest{}
	if err := json.Unmarshal([]byte(data), m); err != nil {
		return nil, s.damaged(fmt.Errorf("a manifest: %w", err))
	}
	switch {
	case m.Format < 1:
		return nil, s.damaged(errors.New("a manifest without a format"))
	case m.Reader > formatVersion:
		return nil, fmt.Errorf("%s: %w: it needs a reader of format %d, this one reads up to %d", s.Name(), store.ErrNewer, m.Reader, formatVersion)
	case m.Documents < 0, m.Chunks < 0, m.Vectors < 0, m.Vectors > m.Chunks, m.Settings.Dim < 0, m.Settings.Dim > store.MaxDim:
		return nil, s.damaged(errors.New("a manifest with numbers that cannot be"))
	}
	return m, nil
}

func (s *Store) damaged(err error) error {
	return &store.DamagedError{Name: s.Name(), Offset: -1, Err: err}
}
