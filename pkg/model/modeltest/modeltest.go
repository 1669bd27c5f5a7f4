// Package modeltest holds what tests of models need: an HTTP server that
// answers from a script, badly if told so, a well-behaved endpoint with a
// deterministic model behind it, and the conformance suite that every
// [kb/pkg/model] implementation passes.
package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Request is one request that a [Script] got.
type Request struct {
	Method string
	URL    string // path and query
	Header http.Header
	Body   string
	At     time.Time
}

// Reply answers one request.
type Reply func(w http.ResponseWriter, r *http.Request)

// Script is an [http.Handler] that gives its replies in turn, the last one for
// ever, and keeps the requests.
type Script struct {
	replies []Reply

	mu       sync.Mutex
	requests []Request
}

// NewScript makes a script of at least one reply.
func NewScript(replies ...Reply) *Script { return &Script{replies: replies} }

// ServeHTTP implements [http.Handler].
func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, Request{r.Method, r.URL.RequestURI(), r.Header.Clone(), string(body), time.Now()})
	s.mu.Unlock()
	s.replies[min(n, len(s.replies)-1)](w, r)
}

// Requests lists what came so far.
func (s *Script) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// JSON replies with a status, a body, and headers given as name, value, ….
func JSON(status int, body string, header ...string) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// Stream replies with status 200 and an event stream, each part sent on its
// own.
func Stream(parts ...string) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		startStream(w)
		for _, p := range parts {
			Send(w, p)
		}
	}
}

// Bytes is Stream a byte at a time, so that no character arrives whole.
func Bytes(text string) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		startStream(w)
		for i := range len(text) {
			Send(w, text[i:i+1])
		}
	}
}

// Cut is Stream, and then the connection breaks.
func Cut(parts ...string) Reply {
	return func(w http.ResponseWriter, r *http.Request) {
		Stream(parts...)(w, r)
		panic(http.ErrAbortHandler)
	}
}

func startStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	http.NewResponseController(w).Flush()
}

// Send writes a piece of a response and flushes it.
func Send(w http.ResponseWriter, text string) {
	io.WriteString(w, text)
	http.NewResponseController(w).Flush()
}

// Data is one event of a stream.
func Data(body string) string { return "data: " + body + "\n\n" }

// Content is an event with a piece of the answer.
func Content(text string) string {
	return Data(fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`, quote(text)))
}

// Finish is an event with a finish reason.
func Finish(reason string) string {
	return Data(fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%s}]}`, quote(reason)))
}

// Done is the last event of a stream.
const Done = "data: [DONE]\n\n"
