package chroma

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"kb/pkg/store/remote"
)

// address is what a URL says.
type address struct {
	remote.Address
	tenant, database, collection string
}

const maxAnswer = 1 << 30

// collectionName is what Chroma takes, with room for what is put behind it.
var collectionName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{1,38}[a-zA-Z0-9]$`)
})

func parse(rawURL string) (a address, err error) {
	if a.Address, err = remote.ParseURL(rawURL, "chroma", "8000"); err != nil {
		return a, err
	}
	switch p := a.Path; len(p) {
	case 1:
		a.tenant, a.database, a.collection = "default_tenant", "default_database", p[0]
	case 3:
		a.tenant, a.database, a.collection = p[0], p[1], p[2]
	default:
		return a, errors.New("a chroma:// URL ends with /COLLECTION or /TENANT/DATABASE/COLLECTION")
	}
	if !collectionName().MatchString(a.collection) {
		return a, fmt.Errorf("%q cannot be the name of a collection: want 3 to 40 letters, digits, dots, - and _, with a letter or digit at both ends", a.collection)
	}
	return a, nil
}

// client makes the requests.
type client struct {
	http    *http.Client
	base    string // URL of the collections
	name    string
	headers http.Header

	patience time.Duration // for one call
}

func newClient(a address, opt Options) *client {
	c := &client{name: a.Name(), patience: cmp.Or(opt.Patience, remote.Patience), headers: http.Header{"Content-Type": {"application/json"}}}
	c.http = &http.Client{
		Transport: &http.Transport{
			Proxy: opt.Proxy, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute,
			DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	scheme := "http"
	if a.TLS {
		scheme = "https"
	}
	c.base = fmt.Sprintf("%s://%s/api/v2/tenants/%s/databases/%s/collections", scheme, a.Host, url.PathEscape(a.tenant), url.PathEscape(a.database))
	c.authorize(a.User)
	return c
}

// authorize sets the headers of the ways in which Chroma knows a user.
func (c *client) authorize(user *url.Userinfo) {
	if user == nil {
		return
	}
	if password, ok := user.Password(); ok {
		r := http.Request{Header: c.headers}
		r.SetBasicAuth(user.Username(), password)
		return
	}
	c.headers.Set("Authorization", "Bearer "+user.Username())
	c.headers.Set("X-Chroma-Token", user.Username())
}

// do makes a call, again where that may help. A nil out throws the answer away.
func (c *client) do(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	err := remote.Retry(ctx, func() (bool, error) {
		err := remote.Within(ctx, c.patience, func(ctx context.Context) error { return c.once(ctx, method, path, body, out) })
		answer := new(statusError)
		return !errors.As(err, &answer) || answer.passing(), err
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("%s: %w", c.name, err)
}

func (c *client) once(ctx context.Context, method, path string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = c.headers.Clone()
	resp, err := c.http.Do(req)
	if err != nil {
		if u := new(url.Error); errors.As(err, &u) {
			err = u.Err // without the address, which the name of the store has
		}
		return fmt.Errorf("no answer from the server: %w", err)
	}
	defer resp.Body.Close()
	answer := io.LimitReader(resp.Body, maxAnswer)
	if resp.StatusCode/100 != 2 {
		return readError(resp.StatusCode, answer)
	}
	if out == nil {
		_, err = io.Copy(io.Discard, answer)
	} else {
		err = json.NewDecoder(answer).Decode(out)
	}
	if err != nil {
		return fmt.Errorf("an answer that cannot be read (is it a Chroma server with API v2?): %w", err)
	}
	return nil
}

// statusError is an answer that is no success.
type statusError struct {
	status  int
	message string
}

func readError(status int, body io.Reader) error {
	e := &statusError{status: status}
	text, _ := io.ReadAll(io.LimitReader(body, 4096))
	var said struct{ Message string }
	if json.Unmarshal(text, &said) == nil {
		e.message = said.Message
	}
	return e
}

func (e *statusError) Error() string {
	switch {
	case e.status == http.StatusUnauthorized || e.status == http.StatusForbidden:
		return fmt.Sprintf("the server answered %d %s: check the token in the URL", e.status, http.StatusText(e.status))
	case e.message == "":
		return fmt.Sprintf("the server answered %d %s (is it a Chroma server with API v2?)", e.status, http.StatusText(e.status))
	}
	return e.message
}

// passing says whether the same call may succeed later.
func (e *statusError) passing() bool {
	return e.status == http.StatusTooManyRequests || e.status >= 500 && !strings.Contains(e.message, "Error finding id")
}

func isStatus(err error, status int) bool {
	e := new(statusError)
	return errors.As(err, &e) && e.status == status
}
