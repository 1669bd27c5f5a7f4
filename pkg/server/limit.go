package server

import (
	"container/list"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// limiter keeps a bucket of tokens for each client: a request takes one, and
// they come back at the rate, up to two seconds' worth. It is small enough to
// be written here: what libraries add is waiting for a token, and no bound on
// the number of clients.
type limiter struct {
	rate float64 // tokens a second; 0: no limit
	now  func() time.Time

	mu      sync.Mutex
	order   *list.List // of *bucket, used last in front
	clients map[string]*list.Element
}

type bucket struct {
	client string
	tokens float64
	at     time.Time // when they were counted
}

// maxClients is how many clients are remembered. The one that was quiet for
// longest is forgotten first, and had its tokens back if its rate is what it
// should be.
const maxClients = 10_000

func newLimiter(rate float64, now func() time.Time) *limiter {
	return &limiter{rate: rate, now: now, order: list.New(), clients: map[string]*list.Element{}}
}

func (l *limiter) burst() float64 { return max(1, 2*l.rate) }

// admit takes a token of the client, or says when there is one. Who watches
// over the server from this machine is always let in, and so is who loads the
// page: it is some 25 files at once, which cost nothing.
func (l *limiter) admit(r *http.Request, rt route) error {
	who := client(r)
	watching := (rt.path == "/health" || rt.path == "/metrics") && IsLoopback(who)
	loading := rt.path == "/{$}" || strings.HasPrefix(rt.path, "/assets/")
	if l.rate <= 0 || watching || loading {
		return nil
	}
	wait := l.take(network(who))
	if wait <= 0 {
		return nil
	}
	f := failf(http.StatusTooManyRequests, "more than %g requests a second", l.rate)
	f.retry = wait
	return f
}

// network is what one client is taken to have: an address, or the 64 bits in
// front of an IPv6 address, behind which each machine has as many addresses as
// it likes.
func network(who string) string {
	ip, err := netip.ParseAddr(who)
	if err != nil || ip.Unmap().Is4() {
		return who
	}
	prefix, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return who
	}
	return prefix.String()
}

func (l *limiter) take(who string) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	e := l.clients[who]
	if e == nil {
		e = l.order.PushFront(&bucket{client: who, tokens: l.burst(), at: now})
		l.clients[who] = e
		if l.order.Len() > maxClients {
			delete(l.clients, l.order.Remove(l.order.Back()).(*bucket).client)
		}
	}
	l.order.MoveToFront(e)
	b := e.Value.(*bucket)
	b.tokens = math.Min(l.burst(), b.tokens+l.rate*now.Sub(b.at).Seconds())
	b.at = now
	if b.tokens < 1 {
		return time.Duration((1 - b.tokens) / l.rate * float64(time.Second))
	}
	b.tokens--
	return 0
}
