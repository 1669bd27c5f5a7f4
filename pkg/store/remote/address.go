package remote

import (
	"errors"
	"fmt"
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
	Query url.Values
	name  string
}

// Name is the URL without user, password and token.
func (a Address) Name() string { return a.name }

// ParseURL takes a URL apart: scheme://, or with an s more for TLS, user
// information, a host, a port, a path, and a query with "tls" and the options
// listed. Errors never repeat the URL, which may hold a secret.
func ParseURL(raw, scheme, port string, options ...string) (Address, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return Address{}, fmt.Errorf("a %s:// URL that cannot be parsed (is a character of the token or password left unescaped?)", scheme)
	}
	a := Address{TLS: u.Scheme == scheme+"s", User: u.User, Query: u.Query()}
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
	for key := range a.Query {
		if key != "tls" && !slices.Contains(options, key) {
			return Address{}, fmt.Errorf("the %s:// URL has an option %q (known: %s)", scheme, key, strings.Join(append(options, "tls"), ", "))
		}
	}
	if v := a.Query.Get("tls"); v != "" {
		if a.TLS, err = strconv.ParseBool(v); err != nil {
			return Address{}, errors.New("the option tls must be true or false")
		}
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawQuery: a.Query.Encode()}
	a.name = shown.String()
	return a, nil
}

// Bool is an option that is true or false; false where it is not set.
func (a Address) Bool(option string) (bool, error) {
	v := a.Query.Get(option)
	if v == "" {
		return false, nil
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("the option %s must be true or false", option)
	}
	return b, nil
}

// Number is an option that is a number from 1 to most; 0 where it is not set.
func (a Address) Number(option string, most int) (int, error) {
	v := a.Query.Get(option)
	if v == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("the option %s must be a number from 1 to %d", option, most)
	}
	return n, nil
}
