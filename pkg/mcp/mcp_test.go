package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/pkg/answer"
	"kb/pkg/ask"
	"kb/pkg/build"
	"kb/pkg/chunk"
	"kb/pkg/live"
	"kb/pkg/model/offline"
	"kb/pkg/search"
	"kb/pkg/session"
	"kb/pkg/store"
	"kb/pkg/store/flat"
)

// desk is a folder of notes, its index and a server over it.
type desk struct {
	*Server
	t     *testing.T
	store *flat.Store
	mu    sync.Mutex
	warns []string
}

func newDesk(t *testing.T) *desk {
	t.Chdir(t.TempDir())
	d := &desk{t: t, store: flat.New("index.jsonl.zst")}
	index := live.New(live.Options{Store: d.store, Searcher: func(r store.Reader) (*search.Searcher, error) {
		return search.New(search.Options{Reader: r, Embedder: offline.NewEmbedder()})
	}})
	t.Cleanup(index.Close)
	var err error
	d.Server, err = New(Options{
		Index:    index,
		Ask:      ask.Options{Reranker: offline.NewReranker(), Answer: answer.Options{Generator: offline.NewExtractor()}, Search: search.Params{TopK: 4, Candidates: 20}},
		Sessions: session.NewMemory(time.Hour, time.Now),
		Home:     "/home/notes", Version: "1.2.3",
		Explain: func(err error) error { return fmt.Errorf("%w (do this next)", err) },
		Warn:    d.warn,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) warn(msg string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.warns = append(d.warns, msg)
}

// write writes notes; their index is made by build.
func (d *desk) write(name, text string) {
	d.t.Helper()
	name = filepath.Join("notes", name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) build() {
	d.t.Helper()
	o := build.Options{Store: d.store, Embedder: offline.NewEmbedder(), Now: time.Now, Chunk: chunk.Options{Size: 120, Overlap: 20}}
	if _, _, err := build.Run(d.t.Context(), []string{"notes"}, o); err != nil {
		d.t.Fatal(err)
	}
}

// notes are what most tests are about.
func (d *desk) notes() {
	d.write("heron.md", "---\ntags: [birds]\ndate: 2026-09-15\n---\n# Heron\n\nThe heron stands in the reeds at dawn.\n\n## Food\n\nThe heron eats two eels a day.\n")
	d.write("kitchen/kettle.md", "# Kettle\n\nThe kettle is on the stove.\n")
	var long strings.Builder
	long.WriteString("# Log\n")
	for i := range 60 {
		fmt.Fprintf(&long, "\n## Day %d\n\nOn day %d the walnut tree was %d metres tall.\n", i, i, i+10)
	}
	d.write("log.md", long.String())
	d.build()
}

// client connects a client to the server.
func (d *desk) client() *sdk.ClientSession {
	d.t.Helper()
	there, here := sdk.NewInMemoryTransports()
	if _, err := d.server(true).Connect(d.t.Context(), there, nil); err != nil {
		d.t.Fatal(err)
	}
	return connect(d.t, here)
}

func connect(t *testing.T, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// call calls a tool, and reads its object into out, which may be nil. It
// returns the text.
func call(t *testing.T, c *sdk.ClientSession, tool string, arguments map[string]any, out any) (text string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	if out != nil && !r.IsError {
		raw, err := json.Marshal(r.StructuredContent)
		if err == nil {
			err = json.Unmarshal(raw, out)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return r.Content[0].(*sdk.TextContent).Text, r.IsError
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in\n%s", p, text)
		}
	}
}

type arguments = map[string]any

func TestSearch(t *testing.T) {
	d := newDesk(t)
	d.notes()
	c := d.client()
	var out searchOutput
	text, failed := call(t, c, "search", arguments{"query": "what does the heron eat?"}, &out)
	if failed || len(out.Hits) == 0 || out.Hits[0].Path != "notes/heron.md" || out.Hits[0].Line != 9 || out.Hits[0].Passage != 2 || out.Mode != "hybrid" {
		t.Fatalf("%s\n%+v", text, out)
	}
	wantText(t, text, "[1] notes/heron.md:9 › Heron › Food (relevance ", "passage 2)\n", "The heron eats two eels a day.")

	if text, _ = call(t, c, "search", arguments{"query": "walnut tree", "top_k": 2, "mode": "bm25"}, &out); len(out.Hits) != 2 || out.Mode != "bm25" {
		t.Errorf("%s\n%+v", text, out)
	}
	if text, _ = call(t, c, "search", arguments{"query": "heron kettle", "path": []string{"notes/kitchen"}}, &out); len(out.Hits) != 1 || out.Hits[0].Path != "notes/kitchen/kettle.md" {
		t.Errorf("%s\n%+v", text, out)
	}
	if text, _ = call(t, c, "search", arguments{"query": "heron", "tag": []string{"birds"}, "since": "2026", "until": "2026-08"}, &out); len(out.Hits) != 0 {
		t.Errorf("%s\n%+v", text, out)
	}
	wantText(t, text, "Nothing found", "Try other words")
	text, _ = call(t, c, "search", arguments{"query": "the price of a black hole in euros, and a heron"}, &out)
	wantText(t, text, "below the floor")
}

func TestAsk(t *testing.T) {
	d := newDesk(t)
	d.notes()
	c := d.client()
	var out askOutput
	text, _ := call(t, c, "ask", arguments{"question": "what does the heron eat?"}, &out)
	if out.Refused || !out.Complete || len(out.Citations) != 1 || out.Citations[0].Path != "notes/heron.md" || len(out.Claims) == 0 || out.Session == "" {
		t.Fatalf("%s\n%+v", text, out)
	}
	wantText(t, text, "two eels a day", "Sources:\n[1] notes/heron.md:", "session "+out.Session)
	first := out.Session
	text, _ = call(t, c, "ask", arguments{"question": "And where does it stand?", "session": first}, &out)
	if out.Session != first || out.Rewritten == "" {
		t.Errorf("a follow-up: %s\n%+v", text, out)
	}
	if text, failed := call(t, c, "ask", arguments{"question": "who won the election on Mars?"}, &out); failed || !out.Refused || out.Reason == "" {
		t.Errorf("%s\n%+v", text, out)
	}
	for tool, name := range map[string]string{"ask": "question", "search": "query"} {
		if text, failed := call(t, c, tool, arguments{name: strings.Repeat("鹭", maxQuestion+1)}, nil); !failed {
			t.Errorf("a question of a whole book: %s", text)
		}
	}
	if text, failed := call(t, c, "ask", arguments{"question": "x", "session": "../x"}, nil); !failed {
		t.Errorf("a bad session: %s", text)
	}
}

func TestGetDocument(t *testing.T) {
	d := newDesk(t)
	d.notes()
	c := d.client()
	var out getOutput
	text, _ := call(t, c, "get_document", arguments{"document": "notes/heron.md"}, &out)
	if out.FromPassage != 1 || out.ToPassage != 2 || out.NextPassage != 0 || out.Date != "2026-09-15" || out.Tags[0] != "birds" {
		t.Errorf("%s\n%+v", text, out)
	}
	wantText(t, text, "notes/heron.md:5, \"Heron\", passages 1 to 2 of 2\n\n# Heron\n\nThe heron stands", "eels a day.")
	text, _ = call(t, c, "get_document", arguments{"document": out.ID, "line": 10}, &out)
	if out.FromPassage != 2 || !strings.HasPrefix(out.Text, "## Food") {
		t.Errorf("from a line: %s", text)
	}

	// In parts, a document is whole, and no part is longer than it may be.
	whole := ""
	for next := 1; next > 0; {
		out = getOutput{}
		text, _ = call(t, c, "get_document", arguments{"document": "notes/log.md", "from_passage": next, "max_chars": 700}, &out)
		if len(out.Text) > 700 || out.FromPassage != next || out.NextPassage != 0 && !strings.Contains(text, fmt.Sprintf("from_passage %d", out.NextPassage)) {
			t.Fatalf("%d characters: %s", len(out.Text), text)
		}
		whole += "\n" + out.Text
		next = out.NextPassage
	}
	file, err := os.ReadFile("notes/log.md")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(strings.Fields(whole), " ") != strings.Join(strings.Fields(string(file)), " ") {
		t.Errorf("in parts it is\n%s", whole)
	}

	for _, bad := range []arguments{
		{"document": "notes/none.md"}, {"document": "../../etc/passwd"}, {"document": "notes/log.md", "from_passage": 999},
		{"document": "notes/log.md", "from_passage": -1}, {"document": "notes/log.md", "page": 3}, {"document": "notes/log.md", "max_chars": 1 << 40}, {},
	} {
		if text, failed := call(t, c, "get_document", bad, nil); !failed {
			t.Errorf("%v: %s", bad, text)
		}
	}
}

func TestArguments(t *testing.T) {
	d := newDesk(t)
	d.notes()
	c := d.client()
	for tool, names := range map[string][]string{"search": {"query", "q", "question"}, "ask": {"question", "q", "query"}} {
		want, _ := call(t, c, tool, arguments{names[0]: "what does the heron eat?"}, nil)
		for _, name := range names[1:] {
			if got, failed := call(t, c, tool, arguments{name: "what does the heron eat?"}, nil); failed || strings.Split(got, "\n")[0] != strings.Split(want, "\n")[0] {
				t.Errorf("%s by %s: %s", tool, name, got)
			}
		}
	}
	text, failed := call(t, c, "search", arguments{"query": "heron", "topk": 2}, nil)
	if want := `search has no argument "topk"; it takes mode, path, query, since, tag, top_k, until`; !failed || text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if text, failed := call(t, c, "search", arguments{"query": "heron", "q": "heron"}, nil); !failed {
		t.Errorf("two questions: %s", text)
	}
}

func TestListDocuments(t *testing.T) {
	d := newDesk(t)
	d.notes()
	c := d.client()
	var out listOutput
	text, _ := call(t, c, "list_documents", nil, &out)
	if out.Total != 3 || len(out.Documents) != 3 || out.NextOffset != 0 {
		t.Errorf("%s\n%+v", text, out)
	}
	wantText(t, text, "documents 1 to 3 of 3\n- notes/heron.md: Heron #birds 2026-09-15 (2 passages, id ")
	text, _ = call(t, c, "list_documents", arguments{"limit": 2}, &out)
	if out.Total != 3 || len(out.Documents) != 2 || out.NextOffset != 2 {
		t.Errorf("%s\n%+v", text, out)
	}
	out = listOutput{}
	text, _ = call(t, c, "list_documents", arguments{"limit": 2, "offset": 2}, &out)
	if len(out.Documents) != 1 || out.Documents[0].Path != "notes/log.md" || out.NextOffset != 0 {
		t.Errorf("%s\n%+v", text, out)
	}
	text, _ = call(t, c, "list_documents", arguments{"tag": []string{"fish"}}, &out)
	wantText(t, text, "No document passes")
	if text, failed := call(t, c, "list_documents", arguments{"since": "yesterday"}, nil); !failed {
		t.Errorf("a bad date: %s", text)
	}
}

// What is wrong with a call is in its result, in words to act on.
func TestFaults(t *testing.T) {
	d := newDesk(t)
	c := d.client()
	for tool, in := range map[string]arguments{"search": {"query": "x"}, "ask": {"question": "x"}, "get_document": {"document": "x"}, "list_documents": nil} {
		text, failed := call(t, c, tool, in, nil)
		if !failed {
			t.Errorf("%s without an index went well", tool)
		}
		wantText(t, text, `run "kb build FOLDER"`)
	}
	d.notes() // the next call sees it
	for _, bad := range []arguments{
		{}, {"query": 1}, {"query": ""}, {"query": "x", "top_k": 0}, {"query": "x", "top_k": "3"}, {"query": "x", "mode": "magic"},
		{"query": "x", "path": "notes"}, {"query": "x", "path": []string{"["}}, {"query": "x", "since": "soon"}, {"query": "x", "topk": 3}, {"query": nil},
	} {
		if text, failed := call(t, c, "search", bad, nil); !failed {
			t.Errorf("%v: %s", bad, text)
		}
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "delete_everything"}); err == nil {
		t.Error("there is a tool delete_everything")
	}
	err := os.WriteFile("bad", []byte("no index"), 0o644)
	if err == nil {
		err = os.Rename("bad", "index.jsonl.zst")
	}
	if err != nil {
		t.Fatal(err)
	}
	if text, failed := call(t, c, "search", arguments{"query": "heron"}, nil); failed {
		t.Errorf("a damaged new version: %s", text)
	}
	if text, failed := call(t, newDeskOver(t, d), "search", arguments{"query": "heron"}, nil); !failed || !strings.Contains(text, "do this next") {
		t.Errorf("a damaged index: %s", text)
	}
}

// newDeskOver is a client of a server that opens the index of d anew.
func newDeskOver(t *testing.T, d *desk) *sdk.ClientSession {
	o := d.o
	o.Index = live.New(live.Options{Store: d.store, Searcher: func(r store.Reader) (*search.Searcher, error) {
		return search.New(search.Options{Reader: r, Embedder: offline.NewEmbedder()})
	}})
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return (&desk{Server: s, t: t}).client()
}

func TestTools(t *testing.T) {
	d := newDesk(t)
	c := d.client()
	if got := c.InitializeResult(); got.ServerInfo.Version != "1.2.3" || !strings.Contains(got.Instructions, "/home/notes") {
		t.Errorf("%+v", got)
	}
	n := 0
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		a := tool.Annotations
		if !a.ReadOnlyHint || *a.DestructiveHint || *a.OpenWorldHint || tool.Description == "" || tool.OutputSchema == nil {
			t.Errorf("%s: %+v", tool.Name, a)
		}
		raw, err := json.Marshal(tool)
		if err != nil || strings.Contains(string(raw), `"null"`) {
			t.Errorf("%s: %s, %v", tool.Name, raw, err)
		}
	}
	if n != 4 {
		t.Errorf("%d tools", n)
	}
}

func TestResources(t *testing.T) {
	d := newDesk(t)
	c := d.client()
	for i := range pageSize + 20 {
		d.write(fmt.Sprintf("many/%03d.md", i), fmt.Sprintf("# Note %d\n\nNumber %d.\n", i, i))
	}
	d.notes()
	seen := map[string]bool{}
	for r, err := range c.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		seen[r.Name] = true
		if r.Name == "notes/heron.md" && (r.Title != "Heron" || r.MIMEType != "text/markdown") {
			t.Errorf("%+v", r)
		}
	}
	if len(seen) != pageSize+23 {
		t.Errorf("%d resources", len(seen))
	}
	first, err := c.ListResources(t.Context(), nil)
	if err != nil || len(first.Resources) != pageSize || first.NextCursor == "" {
		t.Fatalf("%d resources, %v", len(first.Resources), err)
	}
	for _, uri := range []string{scheme + "notes/heron.md", uriOf(t, d, "notes/heron.md")} {
		r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || !strings.HasPrefix(r.Contents[0].Text, "# Heron") || r.Contents[0].MIMEType != "text/markdown" {
			t.Errorf("%s: %+v, %v", uri, r, err)
		}
	}
	for _, uri := range []string{scheme + "nothing", "file:///etc/passwd", ""} {
		if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s was read", uri)
		}
	}
}

func uriOf(t *testing.T, d *desk, path string) string {
	l, err := d.lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	doc, err := l.Find(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return scheme + doc.ID
}

func TestHTTP(t *testing.T) {
	d := newDesk(t)
	d.notes()
	srv := httptest.NewServer(d.Handler())
	defer srv.Close()
	c := connect(t, &sdk.StreamableClientTransport{Endpoint: srv.URL})
	var out searchOutput
	if text, failed := call(t, c, "search", arguments{"query": "heron eels"}, &out); failed || len(out.Hits) == 0 {
		t.Errorf("%s", text)
	}
	var answer askOutput
	call(t, c, "ask", arguments{"question": "what does the heron eat?"}, &answer)
	if call(t, c, "ask", arguments{"question": "And where does it stand?", "session": answer.Session}, &answer); answer.Rewritten == "" {
		t.Errorf("a follow-up: %+v", answer)
	}
	if r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: scheme + "notes/heron.md"}); err != nil || len(r.Contents) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPanicIsAnError(t *testing.T) {
	d := newDesk(t)
	h := d.guarded(func(context.Context, string, sdk.Request) (sdk.Result, error) { panic(errors.New("a fault")) })
	if _, err := h(t.Context(), "tools/call", nil); err == nil || strings.Contains(err.Error(), "a fault") || len(d.warns) != 1 || !strings.Contains(d.warns[0], "a fault") {
		t.Errorf("%v, warnings %q", err, d.warns)
	}
}
