package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// register puts the routes into the mux: one entry a path, so that another
// method than those of the path is told which there are.
func (s *server) register() {
	byPath := map[string]map[string]route{}
	for _, r := range s.routes() {
		if byPath[r.path] == nil {
			byPath[r.path] = map[string]route{}
		}
		byPath[r.path][r.method] = r
	}
	for path, methods := range byPath {
		s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { s.dispatch(w.(*response), r, methods) })
	}
	rest := nothingHere
	if s.OnlyMCP {
		rest = onlyAgents
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.answer(w.(*response), r, route{method: r.Method, open: true, handler: rest})
	})
}

func nothingHere(_ http.ResponseWriter, r *http.Request) error {
	return failf(http.StatusNotFound, "there is no %s; GET /docs lists what there is", r.URL.Path)
}

func onlyAgents(_ http.ResponseWriter, r *http.Request) error {
	return failf(http.StatusNotFound, "there is no %s; this server is for agents, at /mcp", r.URL.Path)
}

func (s *server) dispatch(w *response, r *http.Request, methods map[string]route) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	rt, ok := methods[method]
	if !ok {
		allowed := make([]string, 0, len(methods))
		for m := range methods {
			allowed = append(allowed, m)
			rt.path = methods[m].path
		}
		slices.Sort(allowed)
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		rt.open, rt.handler = true, func(http.ResponseWriter, *http.Request) error {
			return failf(http.StatusMethodNotAllowed, "%s takes %s", r.URL.Path, strings.Join(allowed, " and "))
		}
	}
	s.answer(w, r, rt)
}

// ServeHTTP takes a request through all stations.
func (s *server) ServeHTTP(plain http.ResponseWriter, r *http.Request) {
	began := s.Now()
	w := newResponse(plain, s.WriteTimeout)
	id := requestID(r)
	w.Header().Set("X-Request-Id", id)
	secure(w.Header())
	limitBody(w, r, s.ReadTimeout)
	defer func() {
		if fault := recover(); fault != nil {
			s.panicked(w, r, id, fault)
		}
		took := s.Now().Sub(began)
		s.metrics.request(w.route, r.Method, w.code(), took)
		level := slog.LevelInfo
		if strings.HasPrefix(r.URL.Path, "/assets/") && w.code() < http.StatusBadRequest {
			level = slog.LevelDebug // the page is two dozen files
		}
		s.Log.Log(r.Context(), level, "request", "id", id, "client", client(r), "method", r.Method, "path", loggedPath(r),
			"status", w.code(), "bytes", w.bytes, "ms", took.Milliseconds())
		if w.broken {
			panic(http.ErrAbortHandler) // the connection is of no more use
		}
	}()
	if err := s.guard.check(w.Header(), r); err != nil {
		s.fail(w, r, err)
		return
	}
	if isPreflight(r) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// loggedPath is the path for the log, without the name of a session: who knows
// that can read the conversation.
func loggedPath(r *http.Request) string {
	rest, ok := strings.CutPrefix(r.URL.Path, "/chat/")
	if !ok || rest == "stream" {
		return r.URL.Path
	}
	_, what, deeper := strings.Cut(rest, "/")
	if deeper {
		return "/chat/…/" + what
	}
	return "/chat/…"
}

// answer runs the handler of a route.
func (s *server) answer(w *response, r *http.Request, rt route) {
	w.route = rt.path
	err := s.limiter.admit(r, rt)
	if err == nil && !rt.open {
		err = s.guard.authorize(w.Header(), r)
	}
	if err == nil {
		err = rt.handler(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// fail answers with an error, unless the response has begun.
func (s *server) fail(w *response, r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		w.status = statusGone
		return
	}
	f := failure(err)
	if f.status >= 500 {
		s.Log.Error("failed", "id", w.Header().Get("X-Request-Id"), "path", loggedPath(r), "error", err.Error())
	}
	if w.status == 0 {
		f.write(w)
	}
}

// statusGone is what the log says of a client that went away before it was
// answered.
const statusGone = 499

// panicked answers with a 500 in place of what a handler could not finish.
func (s *server) panicked(w *response, r *http.Request, id string, fault any) {
	if fault != http.ErrAbortHandler {
		s.Log.Error("panic", "id", id, "path", loggedPath(r), "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
	}
	if w.status == 0 {
		failf(http.StatusInternalServerError, "%s", internal).write(w)
		return
	}
	w.broken = true
}

// requestID takes over the id that a proxy gave, where it is a sane one.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	sane := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c)
	}
	if id != "" && len(id) <= 128 && strings.TrimFunc(id, sane) == "" {
		return id
	}
	return randomID()
}

func randomID() string {
	var raw [8]byte
	rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}

// client is the address that the connection comes from. What headers say of it
// is not believed.
func client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// response remembers what was sent, and gives the client a limited time to
// accept each piece.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	route   string
	status  int
	bytes   int64
	broken  bool
}

func newResponse(w http.ResponseWriter, timeout time.Duration) *response {
	return &response{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}
}

// Unwrap is for [http.ResponseController].
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.patience()
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.patience()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// FlushError is what [http.ResponseController] calls.
func (w *response) FlushError() error {
	w.patience()
	return w.control.Flush()
}

// Flush is for handlers that know [http.Flusher] only.
func (w *response) Flush() { _ = w.FlushError() }

// patience begins the time for the next piece. A connection without deadlines,
// as in tests, has none.
func (w *response) patience() { w.control.SetWriteDeadline(time.Now().Add(w.timeout)) }

func (w *response) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}
