package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxResponse is the most that is read of one response, unpacked, in bytes.
const maxResponse = 64 << 20

// client makes calls to one base URL.
type client struct {
	cfg    Config
	url    URL
	key    string
	http   *http.Client
	redact redactor
	// apiKeyHeader is where the key goes: "" is Authorization: Bearer.
	apiKeyHeader string
}

func newClient(cfg Config) (*client, error) {
	u, err := NormalizeURL(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	key, err := cleanKey(cfg.APIKey)
	if err != nil {
		return nil, err
	}
	c := &client{cfg: cfg.withDefaults(), url: u, key: key, redact: newRedactor(key, u)}
	c.apiKeyHeader = providerOf(u.Host()).keyHeader
	c.http = &http.Client{Transport: newTransport(c.cfg), CheckRedirect: checkRedirect}
	return c, nil
}

func dialer(timeout time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second}).DialContext
}

// redirectError is a redirect that was not followed.
type redirectError struct{ to string }

func (e *redirectError) Error() string {
	return fmt.Sprintf("the server redirects to %s; set the base URL to where the model really is (a key is not sent to another address)", e.to)
}

// checkRedirect follows a redirect only on the same scheme and host, and only
// one that keeps the method: any other would drop the body or hand the key to
// somebody else.
func checkRedirect(req *http.Request, via []*http.Request) error {
	from := via[0].URL
	to := url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path}
	if req.URL.Scheme != from.Scheme || req.URL.Host != from.Host || req.Method != via[0].Method {
		return &redirectError{to.String()}
	}
	if len(via) >= 5 {
		return errors.New("the server redirects in a circle")
	}
	return nil
}

// response is a response with status 200; its body fails on silence and above
// maxResponse.
type response struct {
	body    *guarded
	silence *watchdog
}

// deadline gives the rest of the body a last moment to come.
func (r *response) deadline(d time.Duration) {
	if !r.body.final {
		r.silence.reset(d)
		r.body.final = true
	}
}

// post makes one call, once. Whatever is no success comes back as an error
// that is fit to print.
func (c *client) post(ctx context.Context, call URL, payload any) (*response, error) {
	body, err := marshal(payload, c.cfg.ExtraBody)
	if err != nil {
		return nil, c.fail(call, "request cannot be written: %w", err)
	}
	ctx, dog := newWatchdog(ctx, c.cfg.Timeouts.FirstByte)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, call.request(), bytes.NewReader(body))
	if err != nil {
		dog.stop()
		return nil, c.fail(call, "request cannot be made: %w", err)
	}
	c.setHeader(req.Header)
	res, err := c.http.Do(req)
	if err != nil {
		defer dog.stop()
		return nil, c.netError(ctx, call, err)
	}
	dog.reset(c.cfg.Timeouts.Idle)
	out := &response{&guarded{body: res.Body, dog: dog, idle: c.cfg.Timeouts.Idle, left: maxResponse}, dog}
	if res.StatusCode/100 == 2 {
		return out, nil
	}
	defer out.body.Close()
	text, _ := io.ReadAll(io.LimitReader(out.body, 64<<10)) // an error cut short is still an error
	if err := ctx.Err(); err != nil {
		return nil, c.netError(ctx, call, err)
	}
	return nil, c.apiError(call, res.StatusCode, res.Header, text)
}

func (c *client) setHeader(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set("User-Agent", c.cfg.UserAgent)
	switch {
	case c.key != "" && c.apiKeyHeader != "":
		h.Set(c.apiKeyHeader, c.key)
	case c.key != "":
		h.Set("Authorization", "Bearer "+c.key)
	case c.url.user != nil:
		password, _ := c.url.user.Password()
		(&http.Request{Header: h}).SetBasicAuth(c.url.user.Username(), password)
	}
}

// call makes one call, once, and reads the whole answer.
func (c *client) call(ctx context.Context, call URL, payload any) ([]byte, error) {
	res, err := c.post(ctx, call, payload)
	if err != nil {
		return nil, err
	}
	defer res.body.Close()
	body, err := io.ReadAll(res.body)
	if err != nil {
		return nil, c.readError(ctx, call, res, err)
	}
	return body, nil
}

// readError explains why reading a body failed.
func (c *client) readError(ctx context.Context, call URL, res *response, err error) error {
	if ctx.Err() == nil && res.silence.err() != nil {
		return &callError{call.String(), res.silence.err().Error(), res.silence.err()}
	}
	return c.netError(ctx, call, err)
}

// netError takes the URL, which may hold secrets, out of an error of net/http.
func (c *client) netError(ctx context.Context, call URL, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if _, ok := cause.(*silenceError); ok {
			return &callError{call.String(), cause.Error(), cause}
		}
		return cause
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return &callError{call.String(), c.redact.quote(err.Error()), err}
}

// marshal writes a request body with the user's own fields over the client's.
// Keys are sorted, so equal requests have equal bytes.
func marshal(payload any, extra map[string]json.RawMessage) ([]byte, error) {
	body, err := encodeJSON(payload)
	if err != nil || len(extra) == 0 {
		return body, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	for k, v := range extra {
		if strings.TrimSpace(string(v)) == "null" {
			delete(fields, k)
			continue
		}
		fields[k] = v
	}
	return encodeJSON(fields)
}

func encodeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
