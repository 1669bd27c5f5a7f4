package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// modelServer is an OpenAI-compatible server that counts its requests. Its
// embeddings are made of the words of a text, its answers are what the script
// put into a file.
type modelServer struct {
	mu       sync.Mutex
	requests map[string]int  // by path
	texts    int             // that were embedded
	auth     map[string]bool // Authorization headers seen
	reply    string
}

func newModelServer(reply string) *modelServer {
	return &modelServer{requests: map[string]int{}, auth: map[string]bool{}, reply: reply}
}

var servers sync.Map // script's work folder → *modelServer

// cmdModels starts the server and sets its URL: models VAR [REPLYFILE].
func cmdModels(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: models VARIABLE [REPLYFILE]")
	}
	reply := ""
	if len(args) > 1 {
		reply = strings.TrimSpace(ts.ReadFile(args[1]))
	}
	m := newModelServer(reply)
	server := httptest.NewServer(m)
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL+"/v1")
	servers.Store(ts.Getenv("WORK"), m)
}

// cmdRequests wants a number of requests at a path since the last look:
// requests PATH N, or requests texts N for embedded texts.
func cmdRequests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: requests PATH N")
	}
	v, ok := servers.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("no server was started")
	}
	m := v.(*modelServer)
	m.mu.Lock()
	defer m.mu.Unlock()
	got := m.requests[args[0]]
	if args[0] == "texts" {
		got = m.texts
		m.texts = 0
	}
	m.requests[args[0]] = 0
	if fmt.Sprint(got) != args[1] {
		ts.Fatalf("%d requests of %s, want %s", got, args[0], args[1])
	}
}

// cmdSent wants that a key reached the server, or with ! that it did not.
func cmdSent(ts *testscript.TestScript, neg bool, args []string) {
	v, ok := servers.Load(ts.Getenv("WORK"))
	if !ok || len(args) != 1 {
		ts.Fatalf("usage: sent KEY, behind models")
	}
	m := v.(*modelServer)
	m.mu.Lock()
	defer m.mu.Unlock()
	if got := m.auth["Bearer "+args[0]]; got == neg {
		ts.Fatalf("key %s was sent: %t", args[0], got)
	}
}

func (m *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Input    json.RawMessage `json:"input"`
		Tools    []any           `json:"tools"`
		Messages []struct {
			Role string `json:"role"`
		} `json:"messages"`
	}
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var texts []string
	_ = json.Unmarshal(body.Input, &texts) // DashScope's rerank has an object there
	m.mu.Lock()
	m.requests[r.URL.Path]++
	m.texts += len(texts)
	m.auth[r.Header.Get("Authorization")] = true
	m.mu.Unlock()
	switch r.URL.Path {
	case "/v1/embeddings":
		m.embed(w, texts)
	case "/v1/chat/completions":
		if n := len(body.Messages); len(body.Tools) > 0 && body.Messages[n-1].Role == "user" {
			m.callSearch(w)
			return
		}
		m.chat(w)
	default:
		rerankReply(w, r.URL.Path, raw)
	}
}

func (m *modelServer) embed(w http.ResponseWriter, texts []string) {
	type item struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var data []item
	for i, text := range texts {
		v := make([]float64, 16)
		for _, word := range strings.Fields(strings.ToLower(text)) {
			h := sha256.Sum256([]byte(word))
			v[binary.BigEndian.Uint32(h[:])%16]++
		}
		data = append(data, item{i, v})
	}
	json.NewEncoder(w).Encode(map[string]any{"data": data})
}

// callSearch is a model that looks something up before it answers.
func (m *modelServer) callSearch(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"search","arguments":"{\"query\":\"hotel approvals\"}"}}]}}]}`+"\n\n")
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
}

func (m *modelServer) chat(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, piece := range strings.SplitAfter(m.reply, " ") {
		chunk, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]string{"content": piece}}}})
		fmt.Fprintf(w, "data: %s\n\n", chunk)
	}
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}
