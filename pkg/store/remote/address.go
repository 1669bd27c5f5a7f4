package remote

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Address is the URL of a store, taken apart.
type Address struct {
	TLS   bool
	User  *url.Userinfo // nil for none; nothing else holds a secret
	Host  string        // with its port
	Path  []string
	Exact bool // searches are exact
	Graph Graph
	name  string
}

// Graph is an HNSW graph, as the engine builds and searches it.
type Graph struct {
	M              int // neighbours of a vector, and
	EfConstruction int // candidates for them, when it is built
	Ef             int // candidates of a search
}

// defaultGraph is what was measured to be good, see eval/results.md.
var defaultGraph = Graph{M: 16, EfConstruction: 200, Ef: 200}

// Name is the URL without user, password and token.
func (a Address) Name() string { return a.name }

// ParseURL takes a URL apart: scheme://, or with an s more for TLS, user
// information, a host, a port, a path, and a query with the options "tls",
// "exact", "ef", "m" and "ef_construction"; one without a value is not set. Errors
// never repeat the URL, which may hold a secret.
func ParseURL(raw, scheme, port string) (Address, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return Address{}, fmt.Errorf("a %s:// URL that cannot be parsed (is a character of the token or password left unescaped?)", scheme)
	}
	a := Address{TLS: u.Scheme == scheme+"s", User: u.User, Graph: defaultGraph}
	switch {
	case u.Scheme != scheme && !a.TLS:
		return Address{}, fmt.Errorf("not a %s:// URL", scheme)
	case u.Hostname() == "":
		return Address{}, fmt.Errorf("the %s:// URL names no host", scheme)
	case u.Fragment != "":
		return Address{}, fmt.Errorf("the %s:// URL has a # in it: write %%23", scheme)
	}
	if p := u.Port(); p != "" {
		port = p
	}
	a.Host = net.JoinHostPort(u.Hostname(), port)
	if path := strings.Trim(u.Path, "/"); path != "" {
		a.Path = strings.Split(path, "/")
	}
	query := u.Query()
	if err := a.takeOptions(query, scheme); err != nil {
		return Address{}, err
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawQuery: query.Encode()}
	a.name = shown.String()
	return a, nil
}

func (a *Address) takeOptions(query url.Values, scheme string) error {
	for _, option := range slices.Sorted(maps.Keys(query)) {
		var err error
		switch value := query.Get(option); option {
		case "tls":
			err = flag(&a.TLS, option, value)
		case "exact":
			err = flag(&a.Exact, option, value)
		case "ef":
			err = number(&a.Graph.Ef, option, value, 1, 32_768)
		case "m":
			err = number(&a.Graph.M, option, value, 4, 64)
		case "ef_construction":
			err = number(&a.Graph.EfConstruction, option, value, 8, 512)
		default:
			err = fmt.Errorf("the %s:// URL has an option %q (known: ef, ef_construction, exact, m, tls)", scheme, option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func flag(set *bool, option, value string) error {
	if value == "" {
		return nil
	}
	b, err := strconv.ParseBool(value)
	if err != nil {
		return fmt.Errorf("the option %s must be true or false", option)
	}
	*set = b
	return nil
}

func number(set *int, option, value string, least, most int) error {
	if value == "" {
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return fmt.Errorf("the option %s must be a number from %d to %d", option, least, most)
	}
	*set = n
	return nil
}
