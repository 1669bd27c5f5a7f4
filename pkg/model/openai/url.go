package openai

import (
	"errors"
	"net"
	"net/url"
	"path"
	"strings"
)

// URL is a base URL in normal form. What is secret in it, user information and
// the query (?api-version= of Azure, ?key= of gateways), is kept apart: it
// goes into requests and nowhere else.
type URL struct {
	base  url.URL
	query string
	user  *url.Userinfo
}

// NormalizeURL reads a base URL as people write it: with or without a
// trailing slash, with or without /v1, with the path of a call behind it.
// Scheme and host become lower case and a default port goes; an empty path
// becomes the server's usual one, /v1 except for hosts that have another; any
// other path is kept. Errors never repeat the URL, which may hold a secret.
func NormalizeURL(raw string) (URL, error) {
	if !strings.Contains(raw, "://") {
		return URL{}, errors.New("base URL must begin with http:// or https://")
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return URL{}, errors.New("base URL cannot be parsed (is a character left unescaped?)")
	}
	scheme := strings.ToLower(u.Scheme)
	if scheme != "http" && scheme != "https" {
		return URL{}, errors.New("base URL must begin with http:// or https://")
	}
	if u.Hostname() == "" {
		return URL{}, errors.New("base URL names no host")
	}
	host := normalHost(scheme, u)
	p := strings.TrimSuffix(path.Clean("/"+u.EscapedPath()), "/")
	for _, call := range []string{"/embeddings", "/chat/completions"} {
		p = strings.TrimSuffix(p, call)
	}
	if p == "" {
		p = usualPath(u.Hostname())
	}
	base := url.URL{Scheme: scheme, Host: host, RawPath: p}
	if base.Path, err = url.PathUnescape(p); err != nil {
		return URL{}, errors.New("base URL cannot be parsed (is a character left unescaped?)")
	}
	return URL{base: base, query: u.RawQuery, user: u.User}, nil
}

func normalHost(scheme string, u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, port)
}

// usualPath is where a host keeps its OpenAI-compatible calls.
func usualPath(host string) string {
	host = strings.ToLower(host)
	switch {
	case strings.HasSuffix(host, ".openai.azure.com"):
		return "/openai/v1"
	case host == "open.bigmodel.cn" || host == "api.z.ai":
		return "/api/paas/v4"
	case isDashScope(host):
		return "/compatible-mode/v1"
	}
	return "/v1"
}

func isDashScope(host string) bool {
	return strings.HasPrefix(host, "dashscope") && strings.HasSuffix(host, ".aliyuncs.com")
}

// String is the URL without its secrets: the form for fingerprints and for
// people.
func (u URL) String() string { return u.base.String() }

// Host is the host name, in lower case and without a port.
func (u URL) Host() string { return u.base.Hostname() }

// join is the URL of a call below the base, without secrets.
func (u URL) join(call string) URL {
	u.base.Path += call
	if u.base.RawPath != "" {
		u.base.RawPath += call
	}
	return u
}

// withPath is another path on the same host.
func (u URL) withPath(p string) URL {
	u.base.Path, u.base.RawPath = p, ""
	return u
}

// request is the URL that goes over the wire: with the query, without the
// user information, which travels in a header.
func (u URL) request() string {
	full := u.base
	full.RawQuery = u.query
	return full.String()
}

// secrets lists what must not appear in any text.
func (u URL) secrets() []string {
	var out []string
	if u.user != nil {
		password, _ := u.user.Password()
		out = append(out, u.user.Username(), password, u.user.String())
	}
	values, _ := url.ParseQuery(u.query)
	for name, list := range values {
		if name != "api-version" {
			out = append(out, list...)
		}
	}
	return out
}
