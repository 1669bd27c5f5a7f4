package server

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"time"
)

// The page: web/index.html at /, and web/assets/ at /assets/. It runs in the
// browser on what this server sends and nothing else, see secure.
//
//go:embed web
var web embed.FS

// The description of the API, and a page that shows it. A test holds it against
// the routes and against what they answer.
//
//go:embed docs
var docs embed.FS

func (s *server) page(w http.ResponseWriter, r *http.Request) error {
	return serveFile(w, r, web, "web/index.html")
}

func (s *server) asset(w http.ResponseWriter, r *http.Request) error {
	return serveFile(w, r, web, "web/assets/"+r.PathValue("file"))
}

func (s *server) docsPage(w http.ResponseWriter, r *http.Request) error {
	return serveFile(w, r, docs, "docs/index.html")
}

func (s *server) docsFile(w http.ResponseWriter, r *http.Request) error {
	return serveFile(w, r, docs, "docs/"+r.PathValue("file"))
}

func (s *server) openAPI(w http.ResponseWriter, r *http.Request) error {
	return serveFile(w, r, docs, "docs/openapi.json")
}

// serveFile serves an embedded file. Browsers ask each time whether it is still
// the one that they have, for it changes with the program.
func serveFile(w http.ResponseWriter, r *http.Request, files fs.FS, name string) error {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return nothingHere(w, r)
	}
	sum := sha256.Sum256(content)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, path.Base(name), time.Time{}, bytes.NewReader(content))
	return nil
}
