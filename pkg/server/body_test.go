package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A client that announces a body and does not send it cannot hold a connection,
// wherever its request goes.
func TestBodyThatDoesNotCome(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.ReadTimeout = 50 * time.Millisecond
		o.Token = "the-secret-token"
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) })
	})
	for _, line := range []string{"POST /nothing", "POST /ask", "GET /health", "POST /mcp", "POST /mcp authorized", "POST /ask authorized"} {
		line, authorized := strings.CutSuffix(line, " authorized")
		conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n", line)
		if authorized {
			fmt.Fprint(conn, "Authorization: Bearer the-secret-token\r\n")
		}
		fmt.Fprint(conn, "\r\n{")
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		conn.Close()
	}
}

// Once a body is there, the time for it says nothing about the time for the
// answer: a model thinks longer, and so does a reader of PDFs.
func TestBodyThatCame(t *testing.T) {
	const limit = 20 * time.Millisecond
	f := newFixture(t, func(o *Options) {
		o.ReadTimeout = limit
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if b, ok := r.Body.(*patientBody); ok {
				b.idle = limit // as an upload has it
			}
			for range 2 { // a reader of forms looks behind the end, too
				if _, err := io.ReadAll(r.Body); err != nil {
					t.Error(err)
				}
			}
			select {
			case <-r.Context().Done():
				t.Errorf("cancelled: %v", r.Context().Err())
			case <-time.After(5 * limit):
			}
		})
	})
	resp, err := http.Post(f.url+"/mcp", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}
