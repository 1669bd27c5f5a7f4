package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"time"

	"kb/pkg/live"
	"kb/pkg/record"
)

// Limits of a request with files. It may take as long as it likes while bytes
// come.
const (
	maxFiles     = 100
	maxUploads   = 8 // requests that are read at once; more wait
	uploadIdle   = 30 * time.Second
	uploadMost   = 10 * time.Minute
	formOverhead = 64 << 10 // bytes of a form that are no file's
)

// upload adds the files of a form to the notes and indexes them.
func (s *server) upload(w http.ResponseWriter, r *http.Request) error {
	if s.Notes == nil {
		return failf(http.StatusForbidden, "this server takes no files")
	}
	form, err := s.form(w, r)
	if err != nil {
		return err
	}
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	case <-r.Context().Done():
		return r.Context().Err()
	}
	u := &upload{s: s, ctx: r.Context()}
	defer u.discard()
	if err := u.read(form); err != nil {
		return err
	}
	if err := u.commit(); err != nil {
		return err
	}
	return u.respond(w)
}

// form is the body as the parts of a form.
func (s *server) form(w http.ResponseWriter, r *http.Request) (*multipart.Reader, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return nil, failf(http.StatusBadRequest, `files come as a form: curl -F file=@notes.md …`)
	}
	limit := s.MaxUpload + formOverhead
	if r.ContentLength > limit {
		return nil, tooLarge(s.MaxUpload)
	}
	if body, ok := r.Body.(*patientBody); ok {
		body.idle, body.until = uploadIdle, time.Now().Add(uploadMost)
	}
	return multipart.NewReader(http.MaxBytesReader(w, r.Body, limit), params["boundary"]), nil
}

func tooLarge(limit int64) error {
	text := fmt.Sprintf("%d bytes", limit)
	if limit >= 1<<20 {
		text = fmt.Sprintf("%d MB", limit>>20)
	}
	return failf(http.StatusRequestEntityTooLarge, "files may have %s together", text)
}

// upload is one request with files. Each is found good or not by itself; the
// good ones are added together.
type upload struct {
	s      *server
	ctx    context.Context
	files  []file
	staged []*live.Staged
}

// file is what becomes of one.
type file struct {
	name   string // as it was sent
	staged *live.Staged
	added  *live.Added
	err    error
}

func (u *upload) discard() {
	for _, s := range u.staged {
		s.Discard()
	}
}

// read stages the files of the form. It fails where the form cannot be read.
func (u *upload) read(form *multipart.Reader) error {
	for {
		part, err := form.NextRawPart()
		switch {
		case err == io.EOF && len(u.files) == 0:
			return failf(http.StatusBadRequest, `the form has no file under the name "file"`)
		case err == io.EOF:
			return nil
		case err != nil:
			return u.cut(err)
		case part.FormName() != "file":
			return failf(http.StatusBadRequest, `the form has a field %q; files come under the name "file"`, part.FormName())
		case len(u.files) == maxFiles:
			return failf(http.StatusRequestEntityTooLarge, "more than %d files", maxFiles)
		}
		content := &cutReader{r: part}
		name := sentName(part)
		staged, err := u.s.Notes.Stage(u.ctx, name, content)
		switch {
		case content.err != nil:
			return u.cut(content.err)
		case err == nil:
			u.staged = append(u.staged, staged)
		case failure(err).status >= 500:
			return err
		}
		u.files = append(u.files, file{name: name, staged: staged, err: err})
	}
}

// sentName is the name of a file as the client sent it. The standard library
// takes folders off the name, but only those of this system.
func sentName(part *multipart.Part) string {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return params["filename"]
}

// cutReader remembers that the content could not be read to its end.
type cutReader struct {
	r   io.Reader
	err error
}

func (c *cutReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// cut is a form that did not come whole.
func (u *upload) cut(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return tooLarge(u.s.MaxUpload)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return failf(http.StatusBadRequest, "the files did not come in time")
	case u.ctx.Err() != nil:
		return u.ctx.Err()
	}
	return failf(http.StatusBadRequest, "the form cannot be read: it did not come whole, or is none")
}

// commit adds the files that were found good.
func (u *upload) commit() error {
	if len(u.staged) == 0 {
		return u.files[0].err
	}
	added, err := u.s.Notes.Commit(u.ctx, u.staged...)
	if err != nil {
		return err
	}
	for i := range u.files {
		if f := &u.files[i]; f.staged != nil {
			f.added, added = added[0], added[1:]
		}
	}
	return nil
}

type addedBody struct {
	ID     string          `json:"id,omitempty"`
	Path   string          `json:"path,omitempty"`
	Name   string          `json:"name,omitempty"` // of a file that was refused, as it was sent
	Status string          `json:"status"`
	Chunks int             `json:"chunks"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// respond tells what became of the files: of one, or of a list.
func (u *upload) respond(w http.ResponseWriter) error {
	status := http.StatusOK
	bodies := make([]addedBody, len(u.files))
	for i, f := range u.files {
		if f.err != nil {
			bodies[i] = addedBody{Name: f.name, Status: "refused", Error: failure(f.err).body()}
			continue
		}
		a := f.added
		bodies[i] = addedBody{ID: a.ID, Path: a.Path, Status: a.Status, Chunks: a.Chunks}
		if a.Status == record.StatusCreated {
			status = http.StatusCreated
		}
	}
	if len(bodies) == 1 {
		return respond(w, status, bodies[0])
	}
	return respond(w, status, map[string]any{"documents": bodies})
}

// remove removes a document: its file and what the index has of it.
func (s *server) remove(w http.ResponseWriter, r *http.Request) error {
	if s.Notes == nil {
		return failf(http.StatusForbidden, "this server takes no files")
	}
	if err := s.Notes.Remove(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
