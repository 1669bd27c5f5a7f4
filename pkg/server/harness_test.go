package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"kb/pkg/answer"
	"kb/pkg/ask"
	"kb/pkg/build"
	"kb/pkg/chunk"
	"kb/pkg/live"
	"kb/pkg/model/modeltest"
	"kb/pkg/model/offline"
	"kb/pkg/model/openai"
	"kb/pkg/search"
	"kb/pkg/session"
	"kb/pkg/store"
	"kb/pkg/store/flat"
)

// fixture is a server over a folder of notes of its own, which is the working
// directory.
type fixture struct {
	t     *testing.T
	opt   Options
	chat  *chatModel
	log   *lockedBuffer
	url   string
	store *flat.Store
	api   *description
}

const course = "# 课程安排\n\n课程周一至周五开放，建议每天学习 45 分钟。周六用于练习复盘。\n"

// newFixture starts a server; change adapts its options first.
func newFixture(t *testing.T, change func(*Options)) *fixture {
	t.Helper()
	t.Chdir(t.TempDir())
	f := &fixture{t: t, log: new(lockedBuffer), store: flat.New("index.jsonl.zst"), api: describe(t)}
	f.write("course.md", course)
	f.write("travel.md", "---\ntags: [trip]\n---\n# Travel\n\nHotels cost at most 500 yuan a night in Beijing.\n")
	if err := f.build(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	f.chat = newChatModel(t)
	index := live.New(live.Options{Store: f.store, Searcher: func(r store.Reader) (*search.Searcher, error) {
		return search.New(search.Options{Reader: r, Embedder: offline.NewEmbedder()})
	}})
	t.Cleanup(index.Close)
	f.opt = Options{
		Index: index, Notes: live.NewNotes(live.NotesOptions{Index: index, Dir: "notes", Build: f.build, MaxSize: 64 << 10}),
		Ask:      ask.Options{Reranker: offline.NewReranker(), Answer: answer.Options{Generator: f.chat.generator(t), Now: time.Now}},
		Sessions: session.NewMemory(time.Hour, time.Now), MaxUpload: 64 << 10, Address: "127.0.0.1:0", Version: "test",
		Log: slog.New(slog.NewTextHandler(f.log, nil)),
	}
	if change != nil {
		change(&f.opt)
	}
	s := httptest.NewServer(New(f.opt))
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	if err := os.MkdirAll("notes", 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("notes", name), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) build(ctx context.Context, tx store.Tx) error {
	o := build.Options{Store: f.store, Embedder: offline.NewEmbedder(), Now: time.Now, Chunk: chunk.Options{Size: 200}}
	o.Tx, o.Lock, o.Index.NoWait = tx, true, true
	_, _, err := build.Run(ctx, []string{"notes"}, o)
	return err
}

// reply is a response that was held against the description of the API.
type reply struct {
	status int
	header http.Header
	body   string
}

// code is that of the error in the body; "" for none.
func (r reply) code() string {
	var b struct{ Error struct{ Code string } }
	_ = json.Unmarshal([]byte(r.body), &b)
	return b.Error.Code
}

func (r reply) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
}

// send makes a request; headers are given as name, value, …
func (f *fixture) send(method, path, body string, header ...string) reply {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	r := reply{res.StatusCode, res.Header, string(content)}
	f.api.check(f.t, method, req.URL.Path, r)
	return r
}

// upload sends files, given as name, content, …
func (f *fixture) upload(files ...string) reply {
	f.t.Helper()
	body, kind := form(f.t, files...)
	return f.send("POST", "/documents", body, "Content-Type", kind)
}

func form(t *testing.T, files ...string) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		// As curl and browsers write it: the name as it is, quotes escaped.
		name := strings.NewReplacer(`"`, "%22").Replace(files[i])
		part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + name + `"`}})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(part, files[i+1])
	}
	w.Close()
	return b.String(), w.FormDataContentType()
}

// streamed are the events of a stream, each held against the description.
type streamed struct {
	name string
	data map[string]any
}

func (f *fixture) events(path, body string) (list []streamed) {
	f.t.Helper()
	for _, block := range strings.Split(f.send("POST", path, body).body, "\n\n") {
		if e, ok := f.api.event(f.t, path, block); ok {
			list = append(list, e)
		}
	}
	return list
}

func names(events []streamed) string {
	var out []string
	for _, e := range events {
		if n := len(out); n == 0 || out[n-1] != e.name {
			out = append(out, e.name)
		}
	}
	return strings.Join(out, " ")
}

// description is openapi.json.
type description struct {
	paths   map[string]map[string]operation
	schemas *jsonschema.Compiler
}

type operation struct {
	Responses map[string]struct {
		Content map[string]struct {
			Events map[string]any `json:"x-events"`
		}
	}
}

func describe(t *testing.T) *description {
	t.Helper()
	raw, err := docs.ReadFile("docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]operation
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &description{paths: doc.Paths, schemas: jsonschema.NewCompiler()}
	d.schemas.DefaultDraft(jsonschema.Draft2020)
	if err := d.schemas.AddResource("kb:///openapi.json", whole); err != nil {
		t.Fatal(err)
	}
	return d
}

// find is the operation that a request is for.
func (d *description) find(method, path string) (string, operation, bool) {
	for pattern, ops := range d.paths {
		re := regexp.MustCompile("^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(pattern), "[^/]+") + "$")
		if op, ok := ops[strings.ToLower(method)]; ok && re.MatchString(path) {
			return pattern, op, true
		}
	}
	return "", operation{}, false
}

// check wants a response to be what the description says.
func (d *description) check(t *testing.T, method, path string, r reply) {
	t.Helper()
	if r.header.Get("X-Request-Id") == "" {
		t.Errorf("%s %s: no X-Request-Id", method, path)
	}
	if r.status >= 400 && r.code() == "" {
		t.Errorf("%s %s: %d without an error: %s", method, path, r.status, r.body)
	}
	pattern, op, ok := d.find(method, path)
	if !ok {
		return
	}
	at, ok := op.Responses[fmt.Sprint(r.status)]
	if !ok {
		t.Errorf("%s %s: status %d is not described", method, pattern, r.status)
		return
	}
	if len(at.Content) == 0 {
		if r.body != "" {
			t.Errorf("%s %s: %d has a body", method, pattern, r.status)
		}
		return
	}
	kind, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	if _, ok := at.Content[kind]; !ok {
		t.Errorf("%s %s: %d has the type %q", method, pattern, r.status, kind)
	} else if kind == "application/json" {
		d.valid(t, fmt.Sprintf("/paths/%s/%s/responses/%d/content/application~1json/schema", escaped(pattern), strings.ToLower(method), r.status), r.body)
	}
}

func escaped(pointer string) string {
	pointer = strings.ReplaceAll(pointer, "/", "~1")
	return strings.NewReplacer("{", "%7B", "}", "%7D").Replace(pointer)
}

func (d *description) valid(t *testing.T, pointer, body string) {
	t.Helper()
	schema, err := d.schemas.Compile("kb:///openapi.json#" + pointer)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", pointer, err, body)
	}
}

// event reads one event of a stream; a comment is none.
func (d *description) event(t *testing.T, path, block string) (e streamed, ok bool) {
	t.Helper()
	var data string
	for line := range strings.Lines(block) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			e.name = value
		case "data":
			data += value
		}
	}
	if e.name == "" {
		return e, false
	}
	d.valid(t, "/paths/"+escaped(path)+"/post/responses/200/content/text~1event-stream/x-events/"+e.name, data)
	if err := json.Unmarshal([]byte(data), &e.data); err != nil {
		t.Errorf("event %s: %v", e.name, err)
	}
	return e, true
}

// chatModel is an endpoint for chat. Its answer is what say returns for the
// request; nil waits for the caller to go away.
type chatModel struct {
	url    string
	calls  atomic.Int32
	begun  chan struct{} // gets one for each call
	left   chan struct{} // gets one for each caller that went away
	gate   chan struct{}
	mu     sync.Mutex
	pieces func(n int) []string
}

const reply1 = "建议每天学习 45 分钟。[1]"

func newChatModel(t *testing.T) *chatModel {
	m := &chatModel{begun: make(chan struct{}, 100), left: make(chan struct{}, 100), gate: make(chan struct{})}
	m.say(reply1)
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// say makes the answer of all calls.
func (m *chatModel) say(pieces ...string) {
	m.script(func(int) []string { return append(pieces, modeltest.Done) })
}

// Pieces that are none: behind hang nothing comes, gate waits for the gate.
const (
	hang = "\x00"
	gate = "\x01"
)

// script makes the pieces of the n-th call, counted from 1.
func (m *chatModel) script(pieces func(n int) []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pieces = pieces
}

func (m *chatModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.ReadAll(r.Body)
	m.mu.Lock()
	pieces := m.pieces
	m.mu.Unlock()
	n := m.calls.Add(1)
	m.begun <- struct{}{}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, p := range pieces(int(n)) {
		switch p {
		case hang:
			<-r.Context().Done()
			m.left <- struct{}{}
			return
		case gate:
			<-m.gate
		case modeltest.Done:
			modeltest.Send(w, modeltest.Finish("stop")+modeltest.Done)
		default:
			modeltest.Send(w, modeltest.Content(p))
		}
	}
}

func (m *chatModel) generator(t *testing.T) *openai.Generator {
	g, err := openai.NewGenerator(openai.Config{BaseURL: m.url, Model: "test", APIKey: "sk-secret-key", Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// within fails where something that must happen does not.
func within[T any](t *testing.T, what string, c <-chan T) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("%s does not happen", what)
	}
}

// lockedBuffer is a log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
