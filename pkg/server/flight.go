package server

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"kb/pkg/record"
)

// flight is one answer that is being given, and what it has come to so far. Any
// number of clients listen to it, each from the first event on and at its own
// pace: the events are kept, so a client that does not read holds up nobody.
// When the last one has left, the work on the answer ends.
type flight struct {
	cancel context.CancelFunc

	mu        sync.Mutex
	listeners int
	events    []event
	over      bool
	more      chan struct{} // closed with the next event
	answer    *record.Answer
	err       error
}

// event is one of a stream, encoded.
type event struct {
	name string
	data []byte
}

// flights are the answers that are being given, by what was asked.
type flights struct {
	mu  sync.Mutex
	now map[string]*flight
}

// work gives an answer; it tells of its events as they come.
type work func(ctx context.Context, tell func(event)) (*record.Answer, error)

// join lets a client listen to the flight of a key, and begins it where there
// is none. joined says that there was one.
func (fs *flights) join(key string, do work) (f *flight, leave func(), joined bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f, joined = fs.now[key]
	if !joined {
		ctx, cancel := context.WithCancel(context.Background())
		f = &flight{cancel: cancel, more: make(chan struct{})}
		if fs.now == nil {
			fs.now = map[string]*flight{}
		}
		fs.now[key] = f
		go func() {
			defer cancel()
			f.run(ctx, do)
			fs.forget(key, f)
		}()
	}
	f.listeners++
	return f, func() { fs.leave(key, f) }, joined
}

// leave takes a listener away, and ends the flight with the last one.
func (fs *flights) leave(key string, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.listeners--
	if f.listeners == 0 {
		f.cancel()
		if fs.now[key] == f {
			delete(fs.now, key)
		}
	}
}

func (fs *flights) forget(key string, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.now[key] == f {
		delete(fs.now, key)
	}
}

// run does the work. A panic fails the flight and nothing else.
func (f *flight) run(ctx context.Context, do work) {
	var a *record.Answer
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.answer, f.err, f.over = a, err, true
		close(f.more)
	}()
	a, err = do(ctx, f.tell)
}

// panicError is what a panic left behind.
type panicError struct {
	fault any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.fault, e.stack) }

func (f *flight) tell(e event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
	close(f.more)
	f.more = make(chan struct{})
}

// since returns the events from the n-th on, and whether there will be no more;
// more is closed when there are.
func (f *flight) since(n int) (events []event, over bool, more <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events[n:len(f.events):len(f.events)], f.over, f.more
}

// wait returns the answer once it is there.
func (f *flight) wait(ctx context.Context) (*record.Answer, error) {
	for {
		_, over, more := f.since(0)
		if over {
			return f.answer, f.err
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// stream writes the events as they come, and signs of life between them. It
// returns the error of a flight that failed before there was any event, for
// then the response has not begun.
func (s *server) stream(w http.ResponseWriter, r *http.Request, f *flight) error {
	s.metrics.streams.Add(1)
	defer s.metrics.streams.Add(-1)
	out := &eventWriter{w: w, control: http.NewResponseController(w)}
	alive := time.NewTicker(s.KeepAlive)
	defer alive.Stop()
	for n := 0; ; {
		events, over, more := f.since(n)
		n += len(events)
		if over && n == 0 && f.err != nil && !out.begun {
			return f.err
		}
		for _, e := range events {
			out.event(e)
		}
		if over {
			s.end(out, f)
		}
		out.flush()
		if over || out.err != nil {
			return nil
		}
		select {
		case <-more:
		case <-alive.C:
			out.comment("keep-alive")
		case <-r.Context().Done():
			return nil
		}
	}
}

// end writes the last event: the answer, or why there is none.
func (s *server) end(out *eventWriter, f *flight) {
	if f.err != nil {
		fault := failure(f.err)
		if fault.status == http.StatusInternalServerError {
			s.Log.Error("failed", "id", out.w.Header().Get("X-Request-Id"), "error", f.err.Error())
		}
		out.event(event{"error", fault.body()})
		return
	}
	data, err := record.Append(nil, f.answer)
	if err != nil {
		out.event(event{"error", failure(err).body()})
		return
	}
	out.event(event{"done", data})
}

// eventWriter writes server-sent events. The first failure is the last attempt.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
	err     error
}

func (o *eventWriter) begin() {
	if o.begun {
		return
	}
	o.begun = true
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // or nginx gathers them
	o.w.WriteHeader(http.StatusOK)
}

// event writes one event: its data is JSON, so it has no line ends.
func (o *eventWriter) event(e event) {
	o.write(append(append(append(append(append([]byte("event: "), e.name...), "\ndata: "...), e.data...), '\n'), '\n'))
}

func (o *eventWriter) comment(text string) { o.write([]byte(": " + text + "\n\n")) }

func (o *eventWriter) write(p []byte) {
	o.begin()
	if o.err == nil {
		_, o.err = o.w.Write(p)
	}
}

func (o *eventWriter) flush() {
	if o.begun && o.err == nil {
		o.err = o.control.Flush()
	}
}
