package server

import (
	"io"
	"net/http"
	"time"
)

// patientBody is the body of a request. A client has a limited time to send it,
// or to send some more where there is an idle time; it has none to hold a
// connection with a request that never comes whole, whether anybody reads it or
// not. At the end of the body the limit is gone: net/http takes it away, when it
// begins to look whether the client is still there.
type patientBody struct {
	io.ReadCloser
	deadline func(time.Time) error
	idle     time.Duration // until the next bytes; 0: no limit but until
	until    time.Time
	whole    bool // it came to its end
}

// limitBody gives the client its time from now on.
func limitBody(w http.ResponseWriter, r *http.Request, limit time.Duration) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	b := &patientBody{ReadCloser: r.Body, deadline: http.NewResponseController(w).SetReadDeadline, until: time.Now().Add(limit)}
	_ = b.deadline(b.until)
	r.Body = b
}

func (b *patientBody) Read(p []byte) (int, error) {
	if b.idle > 0 && !b.whole {
		next := time.Now().Add(b.idle)
		if next.After(b.until) {
			next = b.until
		}
		_ = b.deadline(next)
	}
	n, err := b.ReadCloser.Read(p)
	b.whole = b.whole || err == io.EOF
	return n, err
}
