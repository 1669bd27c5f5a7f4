// Package server is kb over HTTP: search, cited answers as JSON or as
// server-sent events, conversations, the documents and their passages, uploads,
// metrics, an API description and a page.
//
// A request passes the same stations whatever it asks for (handle.go): it gets
// an id and a line in the log, a panic becomes a 500, the host, the origin and
// the token are checked (guard.go), its client's rate is limited (limit.go), and
// it is counted (metrics.go). Errors have one shape (respond.go).
//
// Questions that are the same at the same moment are answered once (flight.go):
// whoever asks listens to the events of one answer, from the first on, at its
// own pace. The call of the model ends when nobody listens any more.
package server

import (
	"log/slog"
	"net/http"
	"slices"
	"time"

	"kb/pkg/ask"
	"kb/pkg/live"
	"kb/pkg/session"
)

// Options are what a server is made of.
type Options struct {
	Index    *live.Index
	Notes    *live.Notes // nil: documents are neither added nor removed
	Ask      ask.Options // but for the searcher, how questions are answered
	Sessions session.Store
	MCP      http.Handler // at /mcp; nil: nothing is there
	OnlyMCP  bool         // there is nothing else but /health
	Version  string       // of kb
	Models   Models

	Token     string   // "": none is asked for
	Address   string   // host:port that is listened on, for what a client may call the server
	Hosts     []string // further names that the server is called by
	Origins   []string // of other sites whose pages may use the server; "*": all of them
	MaxUpload int64    // bytes of a request with files; 0: [MaxUpload]
	Rate      float64  // requests a second of one client; 0: no limit

	Log          *slog.Logger // nil: nothing is logged
	Now          func() time.Time
	KeepAlive    time.Duration // between signs of life in a stream; 0: 15 s
	ReadTimeout  time.Duration // that a client may take to send a request that is no upload; 0: 15 s
	WriteTimeout time.Duration // that a client may take to accept a piece of a response; 0: 20 s
}

// Models names the models that serve, for people.
type Models struct {
	Embed  string `json:"embed"`
	Chat   string `json:"chat"`
	Rerank string `json:"rerank"`
}

// MaxUpload is how many bytes a request with files may have by default.
const MaxUpload = 32 << 20

type server struct {
	Options
	guard   guard
	limiter *limiter
	metrics *metrics
	flights flights
	uploads chan struct{} // a place for each that is read
	mux     *http.ServeMux
}

// New returns the handler of all routes.
func New(o Options) http.Handler {
	o = withDefaults(o)
	s := &server{Options: o, guard: newGuard(o), limiter: newLimiter(o.Rate, o.Now), metrics: newMetrics(),
		uploads: make(chan struct{}, maxUploads), mux: http.NewServeMux()}
	s.register()
	return s
}

func withDefaults(o Options) Options {
	if o.MaxUpload == 0 {
		o.MaxUpload = MaxUpload
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = 15 * time.Second
	}
	if o.ReadTimeout == 0 {
		o.ReadTimeout = 15 * time.Second
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 20 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// handler answers a request, or says why it cannot.
type handler func(w http.ResponseWriter, r *http.Request) error

// route is one operation. Open ones ask for no token: they hold nothing of the
// notes.
type route struct {
	method, path string
	open         bool
	handler      handler
}

// routes are all operations; openapi.json describes those of the API.
func (s *server) routes() []route {
	routes := []route{
		{"GET", "/{$}", true, s.page},
		{"GET", "/assets/{file...}", true, s.asset},
		{"GET", "/docs", true, s.docsPage},
		{"GET", "/docs/{file}", true, s.docsFile},
		{"GET", "/openapi.json", true, s.openAPI},
		{"GET", "/health", true, s.health},
		{"GET", "/documents", false, s.documents},
		{"POST", "/documents", false, s.upload},
		{"GET", "/documents/{id}", false, s.document},
		{"DELETE", "/documents/{id}", false, s.remove},
		{"GET", "/passages/{id}", false, s.passage},
		{"GET", "/search", false, s.search},
		{"POST", "/ask", false, s.ask},
		{"POST", "/ask/stream", false, s.askStream},
		{"POST", "/chat", false, s.chat},
		{"POST", "/chat/stream", false, s.chatStream},
		{"GET", "/chat/{session}/history", false, s.history},
		{"DELETE", "/chat/{session}", false, s.forget},
		{"GET", "/metrics", false, s.showMetrics},
	}
	if s.MCP != nil {
		mcp := func(w http.ResponseWriter, r *http.Request) error { s.MCP.ServeHTTP(w, r); return nil }
		for _, method := range []string{"POST", "GET", "DELETE"} {
			routes = append(routes, route{method, "/mcp", false, mcp})
		}
	}
	if s.OnlyMCP {
		routes = slices.DeleteFunc(routes, func(r route) bool { return r.path != "/mcp" && r.path != "/health" })
	}
	return routes
}
