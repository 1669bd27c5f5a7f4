package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retry runs op until it succeeds, fails for good, or has failed tries times.
// Between two tries it waits as long as the server asks, or else Backoff, doubled
// each time, with jitter of ± 50 % so that many clients do not come back at
// once.
func (c *client) retry(ctx context.Context, tries int, op func() error) error {
	for n := 1; ; n++ {
		err := op()
		if err == nil || ctx.Err() != nil || !retryable(err, n) {
			return err
		}
		if n >= tries {
			return exhausted(err, n)
		}
		wait, err := c.wait(err, n)
		if err != nil {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func exhausted(err error, tries int) error {
	if tries == 1 {
		return err
	}
	return fmt.Errorf("%w (tried %d times)", err, tries)
}

// wait is how long to wait after the n-th failure; an error if the server asks
// for more than it may.
func (c *client) wait(err error, n int) (time.Duration, error) {
	var api *APIError
	if errors.As(err, &api) && api.retryAfter > 0 {
		if limit := c.cfg.MaxRetryAfter; api.retryAfter > limit {
			return 0, fmt.Errorf("%w (the server asks to wait %v, the limit is %v)", err, api.retryAfter.Round(time.Second), limit)
		}
		if api.retryAfter >= 5*time.Second {
			c.cfg.Warn(fmt.Sprintf("%v; waiting %v as the server asks", err, api.retryAfter.Round(time.Second)))
		}
		// A little later, never earlier, than asked for.
		return api.retryAfter + time.Duration(rand.Float64()*0.05*float64(api.retryAfter)), nil
	}
	base := min(c.cfg.Backoff<<min(n-1, 16), maxBackoff)
	return time.Duration(float64(base) * (0.5 + rand.Float64())), nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// retryable says whether the n-th failure may be different next time.
func retryable(err error, n int) bool {
	var api *APIError
	if errors.As(err, &api) {
		return api.retryable(n)
	}
	return transportFault(err)
}

func (e *APIError) retryable(n int) bool {
	switch e.Status {
	case 408, 425, 502, 503, 504, 529:
		return true
	case http.StatusTooManyRequests:
		return !e.outOfQuota()
	case http.StatusFailedDependency: // text-embeddings-inference: its backend failed
		return n == 1 && !e.tooLong()
	case http.StatusInternalServerError:
		return !e.tooLong() && !e.notFinite()
	}
	return false
}

// transportFault is a connection that broke while it was in use. A server that
// cannot be reached at all is none: a wrong address does not get better.
func transportFault(err error) bool {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.IsTemporary
	}
	for _, fault := range append([]error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe}, errsReset...) {
		if errors.Is(err, fault) {
			return true
		}
	}
	var call *callError
	return errors.As(err, &call) && (strings.Contains(call.msg, "http2:") || strings.Contains(call.msg, "server closed idle connection"))
}

// retryAfter reads how long the server asks to wait: retry-after-ms (Azure), or
// Retry-After in seconds or as a date (RFC 9110, 10.2.3); 0 for none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return seconds(ms / 1000)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

func seconds(s float64) time.Duration {
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, 1e8) * float64(time.Second))
}
