package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"kb/pkg/ask"
	"kb/pkg/cache"
	"kb/pkg/cache/redistest"
	"kb/pkg/model"
	"kb/pkg/model/modeltest"
	"kb/pkg/session"
)

const question1 = `{"question":"每天学习多久？"}`

// open begins a stream and returns its lines.
func (f *fixture) open(ctx context.Context, path, body string) *bufio.Scanner {
	f.t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { res.Body.Close() })
	return bufio.NewScanner(res.Body)
}

// until reads lines up to one that begins so.
func until(t *testing.T, lines *bufio.Scanner, prefix string) string {
	t.Helper()
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), prefix) {
			return lines.Text()
		}
	}
	t.Fatalf("the stream ends without %q: %v", prefix, lines.Err())
	return ""
}

// The same question at the same moment is one call of the model, for streams
// and for whole answers; who comes late gets all of it.
func TestSameQuestionIsAnsweredOnce(t *testing.T) {
	f := newFixture(t, nil)
	f.chat.say("建议每天学习 ", gate, "45 分钟。[1]")
	ctx, leave := context.WithCancel(t.Context())
	until(t, f.open(ctx, "/ask/stream", question1), "event: delta")
	const others = 4
	answers := make(chan string, 2*others)
	for range others {
		for _, path := range []string{"/ask", "/ask/stream"} {
			go func() {
				res, err := http.Post(f.url+path, "application/json", strings.NewReader(question1))
				if err != nil {
					answers <- err.Error()
					return
				}
				defer res.Body.Close()
				body, _ := io.ReadAll(res.Body)
				answers <- string(body)
			}()
		}
	}
	for !strings.Contains(f.send("GET", "/metrics", "").body, fmt.Sprintf("kb_answers_shared_total %d\n", 2*others)) {
		if t.Context().Err() != nil {
			t.Fatal("the others do not come")
		}
	}
	leave() // the others do not lose by it
	close(f.chat.gate)
	for range 2 * others {
		if got := <-answers; !strings.Contains(got, `"text":"建议每天学习 45 分钟。[1]"`) || strings.HasPrefix(got, "event") && !strings.HasPrefix(got, "event: citations") {
			t.Errorf("an answer: %s", got)
		}
	}
	if n := f.chat.calls.Load(); n != 1 {
		t.Errorf("%d calls of the model", n)
	}
	if r := f.send("POST", "/ask", question1); r.status != 200 || f.chat.calls.Load() != 2 {
		t.Errorf("later: %d, %d calls", r.status, f.chat.calls.Load())
	}
}

// When the last listener leaves, the call of the model ends.
func TestLastListenerLeaves(t *testing.T) {
	f := newFixture(t, nil)
	f.chat.say("建议", hang)
	ctx, cancel := context.WithCancel(t.Context())
	until(t, f.open(ctx, "/ask/stream", question1), "event: delta")
	other, stop := context.WithCancel(t.Context())
	until(t, f.open(other, "/chat/stream", question1), "event: delta") // a conversation has its own
	if n := f.chat.calls.Load(); n != 2 {
		t.Errorf("%d calls of the model", n)
	}
	cancel()
	within(t, "the end of the call", f.chat.left)
	stop()
	within(t, "the end of the call of the conversation", f.chat.left)
}

// What goes wrong before the first event has a status, later it is an event.
func TestErrorsOfStreams(t *testing.T) {
	f := newFixture(t, nil)
	f.chat.script(func(int) []string { return []string{"建议每天学习 "} }) // and the connection ends
	events := f.events("/ask/stream", question1)
	if last := events[len(events)-1]; names(events) != "citations delta error" || last.data["code"] != "upstream" || strings.Contains(fmt.Sprint(last.data), "sk-secret") {
		t.Errorf("%v", events)
	}
	if r := f.send("POST", "/ask", question1); r.status != 502 || r.code() != "upstream" || !strings.Contains(r.body, `"answer":{`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	f.chat.say("每天学习 90 分钟。[1]")
	events = f.events("/ask/stream", `{"question":"每天学习多久？","strict":true}`)
	if last := events[len(events)-1]; names(events) != "citations delta error" || last.data["code"] != "unprocessable" {
		t.Errorf("%v", events)
	}
	events = f.events("/ask/stream", `{"question":"黑洞蒸发辐射的物理机制是什么？"}`)
	if last := events[len(events)-1]; names(events) != "citations delta done" || last.data["refused"] != true {
		t.Errorf("%v", events)
	}
	if r := f.send("POST", "/ask/stream", `{"question":"每天","mode":"vector","since":"x"}`); r.status != 400 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if log := f.log.String(); strings.Contains(log, "sk-secret") || strings.Contains(log, "每天") {
		t.Errorf("the log is\n%s", log)
	}
}

// While a model thinks, there are signs of life.
func TestKeepAlive(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.KeepAlive = time.Millisecond })
	f.chat.say("建议", hang)
	lines := f.open(t.Context(), "/ask/stream", question1)
	until(t, lines, "event: delta")
	until(t, lines, ": keep-alive")
	until(t, lines, ": keep-alive")
}

// A client that does not read holds up nobody, and its call ends.
func TestClientThatDoesNotRead(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.WriteTimeout = 100 * time.Millisecond })
	much := make([]string, 400) // more than the buffers between hold
	for i := range much {
		much[i] = strings.Repeat("words that fill the buffers ", 2000)
	}
	f.chat.script(func(n int) []string {
		if n == 1 {
			return append(much, hang)
		}
		return []string{reply1, modeltest.Done}
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	fmt.Fprintf(conn, "POST /ask/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(question1), question1)
	within(t, "the call", f.chat.begun)
	if r := f.send("POST", "/ask", `{"question":"how much is a hotel?"}`); r.status != 200 {
		t.Errorf("another client meanwhile: %d %s", r.status, r.body)
	}
	within(t, "the end of the call", f.chat.left)
}

// Two servers over one Redis: an answer that one has given costs the other no
// call, and a conversation goes on with either.
func TestTwoServersOverOneRedis(t *testing.T) {
	url := redistest.Start(t)
	shared := func(o *Options) {
		client := redistest.Client(t, url)
		o.Sessions = session.NewRedis(client, time.Hour)
		o.Ask.Cache = &ask.Cache{Cache: cache.NewRedis(client)}
	}
	one := newFixture(t, shared)
	opt := one.opt
	shared(&opt)
	other := *one
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, New(opt), time.Minute, opt.Log) }()
	other.url = "http://" + l.Addr().String()
	first := one.send("POST", "/ask", question1)
	second := other.send("POST", "/ask", question1)
	if !strings.Contains(second.body, `"cached":true`) || strings.Contains(first.body, `"cached":true`) || one.chat.calls.Load() != 1 {
		t.Errorf("%d calls; %s", one.chat.calls.Load(), second.body)
	}
	if events := other.events("/ask/stream", question1); names(events) != "citations delta done" || len(events[0].data["passages"].([]any)) == 0 {
		t.Errorf("from the cache: %v", events)
	}
	one.send("POST", "/chat", `{"question":"每天学习多久？","session":"shared"}`)
	if h := other.send("GET", "/chat/shared/history", ""); h.status != 200 || !strings.Contains(h.body, "每天学习多久？") {
		t.Errorf("the history: %d %s", h.status, h.body)
	}
	if m := other.send("GET", "/metrics", "").body; !strings.Contains(m, "kb_answer_cache_hits_total 3\n") && !strings.Contains(m, "kb_answer_cache_hits_total 2\n") {
		t.Errorf("no hits of the cache in %s", m)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A server that ends lets streams come to their end and takes no more; what
// takes too long is cut off, and its call ends.
func TestServeEnds(t *testing.T) {
	for _, cut := range []bool{false, true} {
		f := newFixture(t, nil)
		f.chat.say("建议每天学习 ", gate, "45 分钟。[1]")
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f.url = "http://" + tcp.Addr().String()
		l := &closing{Listener: tcp, closed: make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		grace := time.Minute
		if cut {
			grace = time.Millisecond
			f.chat.say("建议每天学习 ", hang)
		}
		done := make(chan error, 1)
		go func() { done <- Serve(ctx, l, New(f.opt), grace, f.opt.Log) }()
		lines := f.open(t.Context(), "/ask/stream", question1)
		until(t, lines, "event: delta")
		stop()
		within(t, "closing the listener", l.closed)
		if _, err := http.Get(f.url + "/health"); err == nil {
			t.Error("a new request was taken")
		}
		if cut {
			within(t, "the end of the call", f.chat.left)
			if err := <-done; err == nil {
				t.Error("nothing was said of the request that was cut off")
			}
			continue
		}
		close(f.chat.gate)
		until(t, lines, "event: done")
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// closing is a listener that tells when it was closed.
type closing struct {
	net.Listener
	once   sync.Once
	closed chan struct{}
}

func (c *closing) Close() error {
	err := c.Listener.Close()
	c.once.Do(func() { close(c.closed) })
	return err
}

// A panic of what gives an answer fails the answer and nothing else.
func TestPanicInFlight(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Ask.Answer.Generator = broken{} })
	if r := f.send("POST", "/ask", question1); r.status != 500 || strings.Contains(r.body, "secret") {
		t.Errorf("%d %s", r.status, r.body)
	}
	events := f.events("/ask/stream", question1)
	if last := events[len(events)-1]; names(events) != "citations error" || last.data["code"] != "internal" || strings.Contains(fmt.Sprint(last.data), "secret") {
		t.Errorf("%v", events)
	}
	if r := f.send("GET", "/search?q=x", ""); r.status != 200 {
		t.Errorf("after that: %d", r.status)
	}
	if log := f.log.String(); strings.Count(log, "secret of the model") != 2 {
		t.Errorf("the log is\n%s", log)
	}
}

type broken struct{}

func (broken) Name() string  { return "broken" }
func (broken) Offline() bool { return false }
func (broken) Generate(context.Context, model.Request) iter.Seq2[model.Event, error] {
	panic("secret of the model")
}
