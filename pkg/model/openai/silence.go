package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// silenceError is a server that sent nothing for too long.
type silenceError struct{ after time.Duration }

func (e *silenceError) Error() string { return fmt.Sprintf("nothing came for %v, given up", e.after) }

// Timeout marks it as a timeout, as [net.Error] does.
func (e *silenceError) Timeout() bool { return true }

var errTooLarge = errors.New("response is larger than 64 MiB, given up")

// watchdog cancels a call when nothing has come for a while. There is no limit
// on the whole call: a reasoning model may think for minutes.
type watchdog struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func newWatchdog(parent context.Context, limit time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(parent)
	return ctx, &watchdog{ctx, cancel, barkAfter(limit, cancel)}
}

func barkAfter(limit time.Duration, cancel context.CancelCauseFunc) *time.Timer {
	return time.AfterFunc(limit, func() { cancel(&silenceError{limit}) })
}

// reset starts the wait again with another limit. It is called by one
// goroutine at a time.
func (w *watchdog) reset(limit time.Duration) {
	w.timer.Stop()
	w.timer = barkAfter(limit, w.cancel)
}

func (w *watchdog) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// err is the silence that ended the call, or nil.
func (w *watchdog) err() error {
	if s, ok := context.Cause(w.ctx).(*silenceError); ok {
		return s
	}
	return nil
}

// guarded is a response body that feeds the watchdog and has an end.
type guarded struct {
	body io.ReadCloser
	dog  *watchdog
	idle time.Duration
	left int64
	// final: what comes does not lengthen the wait any more.
	final bool
}

func (g *guarded) Read(p []byte) (int, error) {
	n, err := g.body.Read(p)
	if n > 0 && !g.final {
		g.dog.reset(g.idle)
	}
	if g.left -= int64(n); g.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

func (g *guarded) Close() error {
	g.dog.stop()
	return g.body.Close()
}
