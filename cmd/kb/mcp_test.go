package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCP speaks with the program as an agent's client does: it starts it, and
// ends it by closing its input.
func TestMCP(t *testing.T) {
	t.Parallel()
	s := newExample(t, "")
	index := filepath.Join(s.dir, "index.jsonl.zst")
	if err := os.Rename(index, index+".ready"); err != nil {
		t.Fatal(err)
	}
	changed := make(chan struct{}, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { changed <- struct{}{} },
	})
	cmd := s.command("exec kb mcp")
	c, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	call := func(tool string, arguments map[string]any) string {
		t.Helper()
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Content[0].(*mcp.TextContent).Text
		if r.IsError {
			return "error: " + text
		}
		return text
	}
	wants := func(got string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(got, p) {
				t.Errorf("no %q in\n%s", p, got)
			}
		}
	}
	wants(call("search", map[string]any{"query": "ERR-5023"}), "error: index.jsonl.zst has no documents yet", `run "kb build FOLDER"`)
	if err := os.Rename(index+".ready", index); err != nil {
		t.Fatal(err)
	}
	wants(call("search", map[string]any{"query": "ERR-5023", "top_k": 1}), "[1] notes/runbooks/error-codes.md:", "chronyc tracking")
	wants(call("ask", map[string]any{"question": "建议每天学多久？"}), "45 分钟", "Sources:\n[1] notes/course.md:")
	wants(call("get_document", map[string]any{"document": "notes/travel-policy.pdf", "page": 2}), "notes/travel-policy.pdf p.2")
	wants(call("list_documents", map[string]any{"path": []string{"notes/runbooks"}}), "documents 1 to 4 of 4")
	wants(call("search", map[string]any{"query": "x", "mode": "magic"}), "error: ", "mode")
	r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "kb://document/notes/course.md"})
	if err != nil || !strings.Contains(r.Contents[0].Text, "45 分钟") {
		t.Errorf("%+v, %v", r, err)
	}
	select {
	case <-changed:
	case <-time.After(patience):
		t.Error("was not told that the documents changed")
	}
	if err := c.Close(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// Whatever a client sends, nothing but messages is written to standard output,
// and what can be answered is.
func TestMCPBearsAnything(t *testing.T) {
	t.Parallel()
	s := newExample(t, "")
	cmd := s.command("exec kb mcp")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.Stdin = strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, // before the session has begun
		`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`Hello?`, `{`, ``, `42`, `null`, `"text"`, `[]`, `[{"jsonrpc":"2.0","id":3,"method":"ping"}]`, `{"jsonrpc":"1.0"}`, `{"id":{}}`, "\x00\xff\xfe",
		`{"jsonrpc":"2.0","id":4,"method":"no/such"}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":null}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1,2]}`,
		`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"search","arguments":null}}`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"list_documents","arguments":null}}`,
		`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"search","arguments":"query"}}`,
		`{"jsonrpc":"2.0","id":11,"method":"resources/read"}`,
		`{"jsonrpc":"2.0","id":12,"method":"resources/list","params":{"cursor":"\u0000"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
		`{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"name":"search","arguments":{"query":"` + strings.Repeat("值班 ", 50_000) + `"}}}`,
		`{"jsonrpc":"2.0","id":14,"method":"ping"}`, // without a line end
	}, "\n"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	answered := map[int]bool{}
	for line := range strings.Lines(string(out)) {
		var m struct {
			Version string `json:"jsonrpc"`
			ID      any    `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			t.Errorf("wrote %q", line)
		}
		if id, ok := m.ID.(float64); ok {
			answered[int(id)] = true
		}
	}
	for id := 1; id <= 14; id++ {
		if !answered[id] && id != 3 { // a batch has no answer of its own
			t.Errorf("request %d was not answered", id)
		}
	}
	if strings.Contains(stderr.String(), "goroutine") {
		t.Errorf("a panic: %s", stderr.String())
	}
}

// Over HTTP it takes no one without the token, and no page of another site.
func TestMCPOverHTTP(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"kb mcp --http 127.0.0.1:0", "kb serve --addr 127.0.0.1:0"} {
		s := newExample(t, "")
		s.env = append(s.env, "KB_TOKEN=sesame")
		url := s.start(t, line)
		c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withHeader{"Authorization": "Bearer sesame"}}}, nil)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		defer c.Close()
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "ERR-5023"}})
		if err != nil || r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "error-codes.md") {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
		for want, h := range map[int]withHeader{
			http.StatusUnauthorized: {},
			http.StatusForbidden:    {"Authorization": "Bearer sesame", "Origin": "http://evil.example"},
		} {
			r, err := (&http.Client{Transport: h}).Post(url, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			if r.StatusCode != want {
				t.Errorf("%s, %v: %s", line, h, r.Status)
			}
		}
	}
}

// start starts a server, and returns the URL of its MCP.
func (s *example) start(t *testing.T, line string) string {
	t.Helper()
	cmd := s.command("exec " + line)
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), ": http://"); ok {
			go io.Copy(io.Discard, out)
			return "http://" + strings.TrimSuffix(url, "/mcp") + "/mcp"
		}
	}
	t.Fatalf("%s did not listen", line)
	return ""
}

// withHeader adds headers to requests.
type withHeader map[string]string

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}
