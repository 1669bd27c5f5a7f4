package milvus

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"kb/pkg/store/remote"
)

const maxAnswer = 1 << 30

// client calls the gRPC service of Milvus. A call of gRPC that has one request
// and one answer is a POST in HTTP/2 with a message behind five bytes (a zero
// and the length), and the status in the trailers; net/http does all that.
type client struct {
	http    *http.Client
	base    string
	name    string
	headers http.Header

	patience time.Duration // for one call
}

func newClient(a address, opt Options) *client {
	protocols, scheme := new(http.Protocols), "http"
	if a.TLS {
		protocols.SetHTTP2(true)
		scheme = "https"
	} else {
		protocols.SetUnencryptedHTTP2(true)
	}
	c := &client{name: a.Name(), patience: cmp.Or(opt.Patience, remote.Patience), base: scheme + "://" + a.Host + "/milvus.proto.milvus.MilvusService/"}
	c.headers = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}
	if a.database != "" {
		c.headers.Set("Dbname", a.database)
	}
	if a.User != nil {
		secret := a.User.Username()
		if password, ok := a.User.Password(); ok {
			secret += ":" + password
		}
		c.headers.Set("Authorization", base64.StdEncoding.EncodeToString([]byte(secret)))
	}
	c.http = &http.Client{Transport: &http.Transport{
		Protocols: protocols, Proxy: opt.Proxy, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	}}
	return c
}

// call makes a call, again where that may help, and returns the answer. The
// answer's status is in field 1, or is the answer itself.
func (c *client) call(ctx context.Context, method string, request message) ([]byte, error) {
	return c.callWith(ctx, func(int) (string, message) { return method, request })
}

// callWith makes the call that f gives for each attempt.
func (c *client) callWith(ctx context.Context, f func(attempt int) (method string, request message)) (answer []byte, err error) {
	attempt := 0
	err = remote.Retry(ctx, func() (bool, error) {
		method, request := f(attempt)
		attempt++
		err := remote.Within(ctx, c.patience, func(ctx context.Context) (err error) {
			answer, err = c.once(ctx, method, request)
			return err
		})
		if err == nil {
			err = status(method, answer)
		}
		refused := new(statusError)
		return !errors.As(err, &refused) || refused.passing(), err
	})
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("%s: %w", c.name, err)
}

func (c *client) once(ctx context.Context, method string, request message) ([]byte, error) {
	framed := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request))), request...)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(framed))
	if err != nil {
		return nil, err
	}
	req.Header = c.headers.Clone()
	resp, err := c.http.Do(req)
	if err != nil {
		if u := new(url.Error); errors.As(err, &u) {
			err = u.Err // without the address, which the name of the store has
		}
		return nil, fmt.Errorf("no answer from the server: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("the answer broke off: %w", err)
	}
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/grpc") {
		return nil, &statusError{code: -resp.StatusCode, reason: fmt.Sprintf("the server answered %s (is it the gRPC port of Milvus?)", resp.Status)}
	}
	if err := trailers(resp); err != nil {
		return nil, err
	}
	if len(body) < 5 || body[0] != 0 || uint64(binary.BigEndian.Uint32(body[1:])) != uint64(len(body)-5) {
		return nil, errWire
	}
	return body[5:], nil
}

// trailers reads the status of gRPC, which is among the headers where there is
// no message.
func trailers(resp *http.Response) error {
	get := func(key string) string {
		if v := resp.Trailer.Get(key); v != "" {
			return v
		}
		return resp.Header.Get(key)
	}
	code, err := strconv.Atoi(get("Grpc-Status"))
	if err != nil {
		return errors.New("the answer broke off: it has no status")
	}
	if code == 0 {
		return nil
	}
	reason, err := url.PathUnescape(get("Grpc-Message"))
	if err != nil {
		reason = get("Grpc-Message")
	}
	return &statusError{grpc: code, reason: reason}
}

// statusError is what the server says is wrong.
type statusError struct {
	grpc   int // code of gRPC
	code   int // code of Milvus since 2.3
	legacy int // code before
	again  bool
	reason string
}

func (e *statusError) Error() string {
	switch {
	case e.grpc == 16 || e.grpc == 7 || e.code == 1800:
		return fmt.Sprintf("the server refuses (%s): check user and password in the URL", e.reason)
	case e.grpc == 12:
		return fmt.Sprintf("the server does not know the call (%s); kb needs Milvus 2.3 or newer", e.reason)
	}
	return e.reason
}

// passing says whether the same call may succeed later: gRPC's UNAVAILABLE,
// RESOURCE_EXHAUSTED and ABORTED, what Milvus calls retriable, and rate limits.
func (e *statusError) passing() bool {
	return e.grpc == 14 || e.grpc == 8 || e.grpc == 10 || e.again || e.legacy == 49
}

// status reads the status in an answer.
func status(method string, answer []byte) error {
	b := answer
	if !plainStatus(method) {
		b = find(answer, 1)
	}
	e := &statusError{}
	for f := range fields(b) {
		switch f.number {
		case 0:
			return errWire
		case 1:
			e.legacy = int(int32(f.value))
		case 2:
			e.reason = string(f.bytes)
		case 3:
			e.code = int(int32(f.value))
		case 4:
			e.again = f.value != 0
		}
	}
	if e.code == 0 && e.legacy == 0 {
		return nil
	}
	if e.reason == "" {
		e.reason = fmt.Sprintf("%s: error %d", method, max(e.code, e.legacy))
	}
	return e
}

// plainStatus says whether a call answers with a status and nothing else.
func plainStatus(method string) bool {
	switch method {
	case "CreateCollection", "DropCollection", "CreateIndex", "LoadCollection", "CreateAlias", "AlterAlias", "DropAlias":
		return true
	}
	return false
}

// isMissing says whether there is no such collection or alias.
func isMissing(err error) bool {
	e := new(statusError)
	return errors.As(err, &e) && (e.code == 100 || e.legacy == 4 || e.legacy == 28 ||
		strings.Contains(e.reason, "can't find collection") || strings.Contains(e.reason, "collection not found"))
}

func isNotLoaded(err error) bool {
	e := new(statusError)
	return errors.As(err, &e) && (e.code == 101 || strings.Contains(e.reason, "not loaded"))
}
