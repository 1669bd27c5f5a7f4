package modeltest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
)

// URL is the base URL of the servers of [Serve].
const URL = "http://model.test/v1"

// Serve runs a handler behind connections in memory and returns the transport
// that leads to it, whatever the host. No socket is used, so a test in a
// bubble of [testing/synctest] waits for no real time; the bubble also fails
// if a goroutine is left behind. Call stop before the bubble ends; it waits for
// the handlers.
func Serve(tb testing.TB, h http.Handler) (transport http.RoundTripper, stop func()) {
	tb.Helper()
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	var wg sync.WaitGroup
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wg.Add(1)
		defer wg.Done()
		h.ServeHTTP(w, r)
	})}
	wg.Go(func() { server.Serve(l) })
	client := &http.Transport{DialContext: l.dial}
	return client, func() {
		client.CloseIdleConnections()
		server.Close()
		wg.Wait()
	}
}

// listener hands out pipes.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: errors.New("connection refused")}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "pipe" }
func (address) String() string  { return "pipe" }
