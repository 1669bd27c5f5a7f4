package server

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// metrics are counted here and written in the Prometheus text format, which is
// these few lines; its client library would bring protocol buffers and twelve
// modules.
type metrics struct {
	mu        sync.Mutex
	requests  map[requestKey]uint64
	durations map[string]*histogram // by route
	answers   map[string]uint64     // by outcome
	cached    atomic.Uint64         // answers that came from the cache
	shared    atomic.Uint64         // questions that joined one that was being answered
	streams   atomic.Int64          // being written
}

type requestKey struct {
	route, method string
	status        int
}

// buckets are the upper bounds of the durations, in seconds.
func buckets() []float64 {
	return []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}
}

type histogram struct {
	counts []uint64 // of each bucket and those before
	sum    float64
	n      uint64
}

func newMetrics() *metrics {
	return &metrics{requests: map[requestKey]uint64{}, durations: map[string]*histogram{}, answers: map[string]uint64{}}
}

// request counts one that was answered. Requests for nothing and in methods
// that are none share a name, so that clients cannot make series at will.
func (m *metrics) request(route, method string, status int, took time.Duration) {
	route = cmp.Or(strings.TrimSuffix(route, "{$}"), "none")
	switch method {
	case "GET", "POST", "DELETE", "HEAD", "OPTIONS":
	default:
		method = "other"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[requestKey{route, method, status}]++
	h := m.durations[route]
	if h == nil {
		h = &histogram{counts: make([]uint64, len(buckets()))}
		m.durations[route] = h
	}
	for i, bound := range buckets() {
		if took.Seconds() <= bound {
			h.counts[i]++
		}
	}
	h.sum += took.Seconds()
	h.n++
}

// answered counts an answer by its outcome: answered, refused, incomplete,
// unsupported or failed.
func (m *metrics) answered(outcome string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers[outcome]++
}

func (s *server) showMetrics(w http.ResponseWriter, r *http.Request) error {
	var b strings.Builder
	s.metrics.write(&b)
	opened, stale := s.Index.Opened()
	family(&b, "kb_index_versions_opened_total", "counter", "Versions of the index that were opened, the first one included.")
	fmt.Fprintf(&b, "kb_index_versions_opened_total %d\n", opened)
	family(&b, "kb_index_stale", "gauge", "1 while a newer version of the index cannot be opened.")
	fmt.Fprintf(&b, "kb_index_stale %d\n", map[bool]int{true: 1}[stale])
	if lease, err := s.Index.Acquire(r.Context()); err == nil {
		defer lease.Release()
		info := lease.Info()
		family(&b, "kb_index_documents", "gauge", "Documents of the index.")
		fmt.Fprintf(&b, "kb_index_documents %d\n", info.Documents)
		family(&b, "kb_index_chunks", "gauge", "Chunks of the index.")
		fmt.Fprintf(&b, "kb_index_chunks %d\n", info.Chunks)
		family(&b, "kb_index_resident_bytes", "gauge", "Codes and vectors that are kept in memory.")
		fmt.Fprintf(&b, "kb_index_resident_bytes %d\n", resident(lease))
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(b.String()))
	return nil
}

func family(b *strings.Builder, name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (m *metrics) write(b *strings.Builder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	family(b, "kb_http_requests_total", "counter", "Requests that were answered.")
	keys := slices.SortedFunc(maps.Keys(m.requests), func(a, b requestKey) int {
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.method, b.method), cmp.Compare(a.status, b.status))
	})
	for _, k := range keys {
		fmt.Fprintf(b, "kb_http_requests_total{route=%q,method=%q,status=\"%d\"} %d\n", k.route, k.method, k.status, m.requests[k])
	}
	family(b, "kb_http_request_duration_seconds", "histogram", "From the first byte of a request to the last of its response.")
	for _, route := range slices.Sorted(maps.Keys(m.durations)) {
		h := m.durations[route]
		for i, bound := range buckets() {
			fmt.Fprintf(b, "kb_http_request_duration_seconds_bucket{route=%q,le=\"%g\"} %d\n", route, bound, h.counts[i])
		}
		fmt.Fprintf(b, "kb_http_request_duration_seconds_bucket{route=%q,le=\"+Inf\"} %d\n", route, h.n)
		fmt.Fprintf(b, "kb_http_request_duration_seconds_sum{route=%q} %g\n", route, h.sum)
		fmt.Fprintf(b, "kb_http_request_duration_seconds_count{route=%q} %d\n", route, h.n)
	}
	family(b, "kb_answers_total", "counter", "Questions by what became of them.")
	for _, outcome := range slices.Sorted(maps.Keys(m.answers)) {
		fmt.Fprintf(b, "kb_answers_total{outcome=%q} %d\n", outcome, m.answers[outcome])
	}
	family(b, "kb_answer_cache_hits_total", "counter", "Answers that were written before.")
	fmt.Fprintf(b, "kb_answer_cache_hits_total %d\n", m.cached.Load())
	family(b, "kb_answers_shared_total", "counter", "Questions that were being answered already when they were asked.")
	fmt.Fprintf(b, "kb_answers_shared_total %d\n", m.shared.Load())
	family(b, "kb_streams_in_flight", "gauge", "Streams that are being written.")
	fmt.Fprintf(b, "kb_streams_in_flight %d\n", m.streams.Load())
}
