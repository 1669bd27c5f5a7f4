package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Who may use the server, by what it was told when it was started.
func TestGuard(t *testing.T) {
	const ask = `{"question":"每天学习多久？"}`
	local := func(*Options) {}
	secret := func(o *Options) { o.Token = "the-secret-token" }
	public := func(o *Options) {
		o.Address, o.Token, o.Hosts = "0.0.0.0:80", "the-secret-token", []string{"KB.example.org"}
	}
	shared := func(o *Options) { o.Origins = []string{"https://wiki.example.org"} }
	bearer := "Bearer the-secret-token"
	for _, server := range []struct {
		name   string
		change func(*Options)
		cases  []guardCase
	}{
		{"on loopback", local, []guardCase{
			{"GET", "/health", nil, 200},
			{"GET", "/health", []string{"Host", "localhost"}, 200},
			{"GET", "/health", []string{"Host", "localhost:99"}, 200},
			{"GET", "/health", []string{"Host", "[::1]:8080"}, 200},
			{"GET", "/", []string{"Host", "rebound.example.org"}, 403},
			{"GET", "/health", []string{"Host", "127.0.0.1.example.org"}, 403},
			{"GET", "/health", []string{"Host", "192.168.1.7"}, 403},
			{"GET", "/search?q=x", []string{"Origin", "https://evil.example.org"}, 403},
			{"GET", "/search?q=x", []string{"Origin", "null"}, 403},
			{"GET", "/search?q=x", []string{"Sec-Fetch-Site", "cross-site"}, 403},
			{"GET", "/", []string{"Sec-Fetch-Site", "cross-site"}, 200},
			{"POST", "/ask", []string{"Origin", "https://evil.example.org"}, 403},
			{"POST", "/ask", []string{"Origin", "http://localhost", "Host", "localhost"}, 200},
			{"POST", "/ask", []string{"Origin", "http://localhost:99", "Host", "localhost"}, 403},
			{"DELETE", "/documents/x", []string{"Origin", "https://evil.example.org"}, 403},
			{"OPTIONS", "/ask", []string{"Origin", "https://evil.example.org", "Access-Control-Request-Method", "POST"}, 403},
			{"OPTIONS", "/ask", nil, 405},
			{"GET", "/documents", []string{"Authorization", "Bearer whatever"}, 200},
		}},
		{"with a token", secret, []guardCase{
			{"GET", "/health", nil, 200},
			{"GET", "/", nil, 200},
			{"GET", "/docs", nil, 200},
			{"GET", "/openapi.json", nil, 200},
			{"GET", "/documents", nil, 401},
			{"GET", "/metrics", nil, 401},
			{"GET", "/documents?token=the-secret-token", nil, 401},
			{"GET", "/documents", []string{"Authorization", "Bearer the-secret-tokem"}, 401},
			{"GET", "/documents", []string{"Authorization", "Basic the-secret-token"}, 401},
			{"GET", "/documents", []string{"Authorization", bearer}, 200},
			{"GET", "/documents", []string{"Authorization", "bearer the-secret-token"}, 200},
			{"POST", "/ask", nil, 401},
			{"POST", "/documents", nil, 401},
			{"DELETE", "/chat/x", nil, 401},
			{"GET", "/nothing", nil, 404},
		}},
		{"for others", public, []guardCase{
			{"GET", "/health", []string{"Host", "kb.example.org"}, 200},
			{"GET", "/health", []string{"Host", "kb.example.org.:443"}, 200},
			{"GET", "/health", []string{"Host", "192.168.1.7:80"}, 200},
			{"GET", "/health", []string{"Host", "rebound.example.org"}, 403},
			{"GET", "/documents", []string{"Host", "kb.example.org", "Authorization", bearer, "Origin", "https://kb.example.org"}, 200},
		}},
		{"for another site", shared, []guardCase{
			{"OPTIONS", "/ask", []string{"Origin", "https://wiki.example.org", "Access-Control-Request-Method", "POST"}, 204},
			{"POST", "/ask", []string{"Origin", "https://wiki.example.org", "Sec-Fetch-Site", "cross-site"}, 200},
			{"POST", "/ask", []string{"Origin", "https://wiki.example.org.evil.org"}, 403},
		}},
	} {
		t.Run(server.name, func(t *testing.T) {
			f := newFixture(t, server.change)
			for _, tc := range server.cases {
				r := f.send(tc.method, tc.path, ask, tc.header...)
				if r.status != tc.status {
					t.Errorf("%s %s %q: %d %.200s", tc.method, tc.path, tc.header, r.status, r.body)
				}
				for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Resource-Policy"} {
					if r.header.Get(name) == "" {
						t.Errorf("%s %s: no %s", tc.method, tc.path, name)
					}
				}
				allowed := r.header.Get("Access-Control-Allow-Origin")
				if strings.Contains(fmt.Sprint(tc.header), "wiki.example.org ") && tc.status < 300 && allowed != "https://wiki.example.org" || tc.status == 403 && allowed != "" {
					t.Errorf("%s %s %q: allowed for %q", tc.method, tc.path, tc.header, allowed)
				}
				if c := r.header.Get("Access-Control-Allow-Credentials"); c != "" {
					t.Errorf("credentials are allowed: %s", c)
				}
			}
			if strings.Contains(f.log.String(), "the-secret-token") {
				t.Errorf("the token is in the log:\n%s", f.log)
			}
		})
	}
}

type guardCase struct {
	method, path string
	header       []string
	status       int
}

// Ids of requests are taken over where they are sane.
func TestRequestID(t *testing.T) {
	f := newFixture(t, nil)
	for id, kept := range map[string]bool{"trace-1.a_B": true, "": false, "a b": false, "x\"y": false, strings.Repeat("x", 129): false} {
		got := f.send("GET", "/health", "", "X-Request-Id", id).header.Get("X-Request-Id")
		if (got == id) != kept || got == "" {
			t.Errorf("%q became %q", id, got)
		}
	}
	if log := f.log.String(); !strings.Contains(log, "id=trace-1.a_B") || strings.Count(log, "\n") != 5 {
		t.Errorf("the log is\n%s", log)
	}
}

// A client that asks too often waits; others, and who watches over the server,
// do not. Clients are forgotten once they are many.
func TestRate(t *testing.T) {
	now := time.Unix(1e9, 0)
	f := newFixture(t, func(o *Options) { o.Rate, o.Now = 2, func() time.Time { return now } })
	for n := range 6 {
		r := f.send("GET", "/documents", "")
		switch {
		case n < 4 && r.status != 200:
			t.Errorf("request %d: %d", n, r.status)
		case n >= 4 && (r.status != 429 || r.header.Get("Retry-After") != "1" || r.code() != "rate_limited"):
			t.Errorf("request %d: %d, %v", n, r.status, r.header)
		}
	}
	for _, path := range []string{"/health", "/metrics", "/", "/assets/main.js"} {
		if r := f.send("GET", path, ""); r.status != 200 {
			t.Errorf("%s: %d", path, r.status)
		}
	}
	now = now.Add(time.Second)
	for n, want := range []int{200, 200, 429} {
		if r := f.send("GET", "/documents", ""); r.status != want {
			t.Errorf("a second later, request %d: %d", n, r.status)
		}
	}
	l := newLimiter(1, func() time.Time { return now })
	for n := range 2 * maxClients {
		l.take(fmt.Sprint(n))
	}
	if l.order.Len() != maxClients || len(l.clients) != maxClients {
		t.Errorf("%d clients are remembered", len(l.clients))
	}
}

// A panic costs its request, tells nothing, and is in the log.
func TestPanic(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "GET" {
				w.Write([]byte("begun"))
			}
			panic("secret of the handler")
		})
	})
	if r := f.send("POST", "/mcp", ""); r.status != 500 || r.code() != "internal" || strings.Contains(r.body, "secret") {
		t.Errorf("%d %s", r.status, r.body)
	}
	if res, err := http.Get(f.url + "/mcp"); err == nil {
		defer res.Body.Close()
		if n, err := res.Body.Read(make([]byte, 100)); err == nil && n > 5 {
			t.Error("a response that was begun was ended as if it were whole")
		}
	}
	if r := f.send("POST", "/ask", `{"question":"每天学习多久？"}`); r.status != 200 {
		t.Errorf("after the panic: %d", r.status)
	}
	if log := f.log.String(); !strings.Contains(log, "secret of the handler") || !strings.Contains(log, "guard_test.go") {
		t.Errorf("the log is\n%s", log)
	}
}

// The files of the page are not in the log, but those that are not there.
func TestLogOfAssets(t *testing.T) {
	f := newFixture(t, nil)
	f.send("GET", "/assets/main.js", "")
	f.send("GET", "/assets/gone.js", "")
	if log := f.log.String(); strings.Contains(log, "main.js") || !strings.Contains(log, "gone.js") {
		t.Errorf("the log is\n%s", log)
	}
}

// The metrics count what happened.
func TestMetrics(t *testing.T) {
	f := newFixture(t, nil)
	f.send("POST", "/ask", `{"question":"每天学习多久？"}`)
	f.send("POST", "/ask", `{"question":"黑洞蒸发辐射的物理机制是什么？"}`)
	f.send("GET", "/documents/nothing", "")
	f.send("BREW", "/coffee", "")
	body := f.send("GET", "/metrics", "").body
	for _, want := range []string{
		`kb_http_requests_total{route="/ask",method="POST",status="200"} 2`,
		`kb_http_requests_total{route="/documents/{id}",method="GET",status="404"} 1`,
		`kb_http_requests_total{route="none",method="other",status="404"} 1`,
		`kb_http_request_duration_seconds_bucket{route="/ask",le="+Inf"} 2`,
		`kb_http_request_duration_seconds_count{route="/ask"} 2`,
		`kb_answers_total{outcome="answered"} 1`,
		`kb_answers_total{outcome="refused"} 1`,
		"kb_streams_in_flight 0", "kb_index_documents 2", "kb_index_versions_opened_total 1",
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	for line := range strings.Lines(body) {
		if name, rest, ok := strings.Cut(line, " "); !ok || name != "#" && (strings.Count(rest, " ") > 0 && !strings.Contains(name, "{") || rest == "\n") {
			t.Errorf("not a line of the format: %q", line)
		}
	}
}

// An IPv6 client does not get around its rate with its further addresses.
func TestNetwork(t *testing.T) {
	for client, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "::ffff:192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64", "@": "@",
	} {
		if got := network(client); got != want {
			t.Errorf("%s: %s, want %s", client, got, want)
		}
	}
}

func TestLoggedPath(t *testing.T) {
	for path, want := range map[string]string{
		"/documents/ab12": "/documents/ab12", "/chat/stream": "/chat/stream",
		"/chat/trip": "/chat/…", "/chat/trip/history": "/chat/…/history",
	} {
		if got := loggedPath(httptest.NewRequest("GET", path, nil)); got != want {
			t.Errorf("%s is logged as %s, want %s", path, got, want)
		}
	}
}
