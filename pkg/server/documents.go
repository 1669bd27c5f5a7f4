package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"kb/pkg/live"
	"kb/pkg/record"
	"kb/pkg/store"
)

type documentBody struct {
	ID        string   `json:"id"`
	Path      string   `json:"path"`
	Title     string   `json:"title"`
	MediaType string   `json:"media_type"`
	Chunks    int      `json:"chunks"`
	Tags      []string `json:"tags"`
	Removable bool     `json:"removable"`
}

type skippedBody struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Class  string `json:"class"`
}

// with runs f with the newest version of the index.
func (s *server) with(ctx context.Context, f func(*live.Lease) error) error {
	lease, err := s.Index.Acquire(ctx)
	if err != nil {
		return unreadable(err)
	}
	defer lease.Release()
	return f(lease)
}

// unreadable is an index of which no version can be opened.
func unreadable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	f := failf(http.StatusServiceUnavailable, "the index cannot be read")
	f.cause = err
	return f
}

func (s *server) documents(w http.ResponseWriter, r *http.Request) error {
	return s.with(r.Context(), func(l *live.Lease) error {
		docs, err := l.Documents(r.Context())
		if err != nil {
			return err
		}
		skipped, err := l.Skipped(r.Context())
		if err != nil {
			return err
		}
		body := struct {
			Documents []documentBody `json:"documents"`
			Skipped   []skippedBody  `json:"skipped"`
		}{make([]documentBody, len(docs)), make([]skippedBody, len(skipped))}
		for i, d := range docs {
			body.Documents[i] = documentBody{d.ID, d.Path, d.Title, d.MediaType, d.Chunks, tags(d), s.Notes != nil && s.Notes.Has(d.Path)}
		}
		for i, f := range skipped {
			body.Skipped[i] = skippedBody{f.Path, f.Reason, f.Class}
		}
		return respond(w, http.StatusOK, body)
	})
}

// tags of a document; an empty list where it has none.
func tags(d store.Document) []string { return append([]string{}, store.Tags(d.Meta)...) }

type chunkBody struct {
	ID       string   `json:"id"`
	Seq      int      `json:"seq"`
	Page     int      `json:"page,omitempty"`
	Line     int      `json:"line,omitempty"`
	Headings []string `json:"headings"`
}

func (s *server) document(w http.ResponseWriter, r *http.Request) error {
	return s.with(r.Context(), func(l *live.Lease) error {
		d, err := l.Document(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		chunks := make([]chunkBody, len(d.Chunks))
		for i, c := range d.Chunks {
			chunks[i] = chunkBody{c.ID, c.Seq, c.Page, c.Line, headings(c)}
		}
		meta := d.Meta
		if meta == nil {
			meta = json.RawMessage("{}")
		}
		return respond(w, http.StatusOK, struct {
			ID        string          `json:"id"`
			Path      string          `json:"path"`
			Title     string          `json:"title"`
			MediaType string          `json:"media_type"`
			Removable bool            `json:"removable"`
			Meta      json.RawMessage `json:"meta"`
			Tags      []string        `json:"tags"`
			Text      string          `json:"text"`
			Chunks    []chunkBody     `json:"chunks"`
		}{d.ID, d.Path, d.Title, d.MediaType, s.Notes != nil && s.Notes.Has(d.Path), meta, tags(d.Document), d.Text, chunks})
	})
}

func headings(c *record.Chunk) []string {
	if c.Headings == nil {
		return []string{}
	}
	return c.Headings
}

// defaultContext is how many characters before and behind a passage are shown.
const defaultContext = 1500

func (s *server) passage(w http.ResponseWriter, r *http.Request) error {
	around := defaultContext
	if v := r.URL.Query().Get("context"); v == "all" {
		around = live.All
	} else if v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return failf(http.StatusBadRequest, "context is %q; it is a number of characters, or all", v)
		}
		around = n
	}
	return s.with(r.Context(), func(l *live.Lease) error {
		p, err := l.Passage(r.Context(), r.PathValue("id"), around)
		if err != nil {
			return err
		}
		c := p.Chunk
		return respond(w, http.StatusOK, struct {
			ID       string   `json:"id"`
			Document string   `json:"document"`
			Path     string   `json:"path"`
			Title    string   `json:"title"`
			Headings []string `json:"headings"`
			Page     int      `json:"page,omitempty"`
			Line     int      `json:"line,omitempty"`
			Seq      int      `json:"seq"`
			Of       int      `json:"of"`
			Before   string   `json:"before"`
			Text     string   `json:"text"`
			After    string   `json:"after"`
		}{c.ID, c.Document, c.Path, c.Title, headings(c), c.Page, c.Line, c.Seq, c.Of, p.Before, c.Text, p.After})
	})
}
