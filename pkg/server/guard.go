package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// guard decides who may use the server.
//
// Host. A page of another site can make its own name mean 127.0.0.1 (DNS
// rebinding), and then speaks to kb as to itself. So a request must name the
// server by a loopback name, by the address that it listens on, or by a name
// that it was told. Where it listens on more than loopback, any IP address will
// do: a name is what the attack needs.
//
// Origin. Browsers name the site whose page makes a request. Another site than
// the server itself is refused unless it was allowed, for reading as for
// writing; so is what a browser says is cross-site without naming an origin.
// Programs send no origin.
type guard struct {
	token   [sha256.Size]byte
	secret  bool
	host    string // that is listened on
	public  bool   // more than loopback is listened on
	hosts   []string
	origins []string
}

func newGuard(o Options) guard {
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		host = o.Address
	}
	g := guard{secret: o.Token != "", token: sha256.Sum256([]byte(o.Token)), host: strings.ToLower(host), public: !IsLoopback(host), origins: o.Origins}
	for _, h := range o.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g
}

// IsLoopback says whether a host that is listened on can be reached from this
// machine only.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// check refuses requests for another host or from another site.
func (g *guard) check(h http.Header, r *http.Request) error {
	if !g.isHost(r.Host) {
		return failf(http.StatusForbidden, "this server is not called %q (kb serve --host names what it is called)", hostname(r.Host))
	}
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	switch {
	case origin == "" && r.Header.Get("Sec-Fetch-Site") == "cross-site" && !isPage(r):
		return failf(http.StatusForbidden, "pages of other sites may not use this server")
	case origin == "", sameOrigin(origin, r.Host):
		return nil
	case slices.Contains(g.origins, origin), slices.Contains(g.origins, "*"):
		g.share(h, r, origin)
		return nil
	}
	return failf(http.StatusForbidden, "pages of %s may not use this server (kb serve --origin allows a site)", origin)
}

// isPage says whether the request is for what a link on another site may lead
// to.
func isPage(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == "/" || r.URL.Path == "/docs")
}

// share lets pages of an allowed site read the response. Credentials of the
// browser are never part of it: the token is sent by the page itself.
func (g *guard) share(h http.Header, r *http.Request, origin string) {
	if slices.Contains(g.origins, "*") {
		origin = "*"
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After")
	if isPreflight(r) {
		h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Mcp-Protocol-Version, Mcp-Session-Id, X-Request-Id")
		h.Set("Access-Control-Max-Age", "600")
	}
}

// isPreflight says whether a browser asks what it may ask.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

func (g *guard) isHost(hostport string) bool {
	host := hostname(hostport)
	if IsLoopback(host) || host == g.host || slices.Contains(g.hosts, host) {
		return true
	}
	_, err := netip.ParseAddr(host)
	return g.public && err == nil
}

// hostname is a Host header without the port.
func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// sameOrigin says whether a page was loaded from the host that it now asks.
// The scheme may be that of a proxy in front.
func sameOrigin(origin, host string) bool {
	_, own, ok := strings.Cut(origin, "://")
	return ok && strings.EqualFold(own, host)
}

// authorize wants the token, where there is one. Hashes are compared: they have
// one length, and the time tells nothing.
func (g *guard) authorize(h http.Header, r *http.Request) error {
	if !g.secret {
		return nil
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	if strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1 {
		return nil
	}
	h.Set("WWW-Authenticate", `Bearer realm="kb"`)
	return failf(http.StatusUnauthorized, "this needs the server's token: Authorization: Bearer …")
}

// secure sets the headers that keep a browser from doing more with a response
// than it should. Pages may use what this server sends and nothing else.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}
