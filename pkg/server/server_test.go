package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The description names the operations of the API, all of them and no others.
func TestDescriptionIsWhole(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.MCP = http.NotFoundHandler() })
	s := New(f.opt).(*server)
	var have, described []string
	for _, r := range s.routes() {
		if r.path != "/{$}" && r.path != "/mcp" && !strings.HasPrefix(r.path, "/assets/") && !strings.HasPrefix(r.path, "/docs") {
			have = append(have, r.method+" "+r.path)
		}
	}
	for path, ops := range f.api.paths {
		for method := range ops {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(have)
	slices.Sort(described)
	if !slices.Equal(have, described) {
		t.Errorf("routes\n%q\ndescribed\n%q", have, described)
	}
}

// One walk through a document's life: upload, list, ask, stream, delete, gone.
func TestWalk(t *testing.T) {
	f := newFixture(t, nil)
	var added struct{ ID, Path, Status string }
	r := f.upload("folders/of the/client/zebra.md", "# Zebras\n\nA zebra crossing is 4 metres wide.\n")
	r.into(t, &added)
	if r.status != 201 || added.Status != "created" || added.Path != "notes/zebra.md" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := f.upload("zebra.md", "# Zebras\n\nA zebra crossing is 4 metres wide.\n"); r.status != 200 || !strings.Contains(r.body, "unchanged") {
		t.Errorf("the same again: %d %s", r.status, r.body)
	}
	if r := f.upload("zebra.md", "# Zebras\n\nA zebra crossing is 5 metres wide.\n"); r.status != 200 || !strings.Contains(r.body, "updated") {
		t.Errorf("another content: %d %s", r.status, r.body)
	}
	if r := f.send("GET", "/documents", ""); !strings.Contains(r.body, `"path":"notes/zebra.md","title":"Zebras","media_type":"text/markdown","chunks":1,"tags":[],"removable":true`) {
		t.Errorf("listed: %s", r.body)
	}
	if r := f.send("GET", "/documents/"+added.ID, ""); r.status != 200 || !strings.Contains(r.body, "5 metres") {
		t.Errorf("read: %d %s", r.status, r.body)
	}
	f.chat.say("A zebra crossing is ", "5 metres wide [1].")
	var a struct {
		Text      string
		Refused   bool
		Citations []struct{ ID, Path string }
		Claims    []struct{ Supported bool }
	}
	r = f.send("POST", "/ask", `{"question":"How wide is a zebra crossing?"}`)
	r.into(t, &a)
	if r.status != 200 || a.Text != "A zebra crossing is 5 metres wide [1]." || a.Citations[0].Path != "notes/zebra.md" || !a.Claims[0].Supported {
		t.Errorf("asked: %d %s", r.status, r.body)
	}
	if r := f.send("GET", "/passages/"+a.Citations[0].ID+"?context=all", ""); r.status != 200 || !strings.Contains(r.body, "zebra crossing") {
		t.Errorf("its passage: %d %s", r.status, r.body)
	}
	events := f.events("/ask/stream", `{"question":"How wide is a zebra crossing?","top_k":1}`)
	if names(events) != "citations delta done" {
		t.Fatalf("events: %v", events)
	}
	text := ""
	for _, e := range events[1 : len(events)-1] {
		text += e.data["text"].(string)
	}
	if done := events[len(events)-1].data; text != done["text"] || len(events[0].data["passages"].([]any)) != 1 {
		t.Errorf("deltas %q, events %v", text, events)
	}
	if r := f.send("DELETE", "/documents/"+added.ID, ""); r.status != 204 {
		t.Errorf("deleted: %d %s", r.status, r.body)
	}
	for _, again := range []string{"DELETE", "GET"} {
		if r := f.send(again, "/documents/"+added.ID, ""); r.status != 404 || r.code() != "not_found" {
			t.Errorf("%s after that: %d %s", again, r.status, r.body)
		}
	}
	if _, err := os.Stat("notes/zebra.md"); !os.IsNotExist(err) {
		t.Errorf("the file: %v", err)
	}
	f.write("outside.md", "# O\n\nThis one is moved.\n")
	if left, _ := filepath.Glob("notes/.kb-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What each route says to what it cannot do.
func TestBadInput(t *testing.T) {
	f := newFixture(t, nil)
	long := strings.Repeat("长", maxQuestion+1)
	for _, tc := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/nothing", "", 404, "/docs"},
		{"GET", "/assets/../../go.mod", "", 404, ""},
		{"GET", "/assets/%2e%2e/index.html", "", 404, ""},
		{"GET", "/docs/%2e%2e%2fweb%2findex.html", "", 404, ""},
		{"PUT", "/documents", "", 405, "GET and POST"},
		{"POST", "/health", "", 405, "GET"},
		{"GET", "/documents/nothing", "", 404, "nothing"},
		{"GET", "/documents/..%2f..%2fgo.mod", "", 404, ""},
		{"GET", "/passages/nothing", "", 404, "nothing"},
		{"GET", "/passages/x?context=-1", "", 400, "context"},
		{"GET", "/passages/x?context=many", "", 400, "context"},
		{"GET", "/search", "", 400, "empty"},
		{"GET", "/search?q=%20", "", 400, "empty"},
		{"GET", "/search?q=100%", "", 400, "%25"},
		{"GET", "/search?q=a;b", "", 400, "%3B"},
		{"GET", "/search?q=a&q=b", "", 400, "2 times"},
		{"GET", "/search?q=a&topk=3", "", 400, "topk"},
		{"GET", "/search?q=a&top_k=0", "", 400, "1 to 100"},
		{"GET", "/search?q=a&top_k=x", "", 400, "top_k"},
		{"GET", "/search?q=a&candidates=100000", "", 400, "candidates"},
		{"GET", "/search?q=a&min_score=NaN", "", 400, "min_score"},
		{"GET", "/search?q=a&min_score=null", "", 400, "min_score"},
		{"GET", "/search?question=heron", "", 200, "hits"},
		{"GET", "/search?query=heron", "", 200, "hits"},
		{"POST", "/ask", `{"q":"heron"}`, 200, "answer"},
		{"POST", "/ask", `{"query":"heron"}`, 200, "answer"},
		{"POST", "/ask", `{"question":"a","topk":3}`, 400, "top_k, candidates"},
		{"GET", "/search?q=a&mode=magic", "", 400, "magic"},
		{"GET", "/search?q=a&path=%5B", "", 400, "["},
		{"GET", "/search?q=a&since=someday", "", 400, "someday"},
		{"GET", "/search?q=a&rerank=perhaps", "", 400, "rerank"},
		{"GET", "/search?q=" + long, "", 413, "4000"},
		{"POST", "/ask", "", 400, "empty"},
		{"POST", "/ask", "{", 400, "JSON"},
		{"POST", "/ask", "[]", 400, "object"},
		{"POST", "/ask", `{"question":7}`, 400, "question is a number"},
		{"POST", "/ask", `{"question":""}`, 400, "empty"},
		{"POST", "/ask", `{"question":"a"} {}`, 400, "behind"},
		{"POST", "/ask", `{"question":"a","topk":3}`, 400, "topk"},
		{"POST", "/ask", `{"question":"a","session":"s"}`, 400, "/chat"},
		{"POST", "/ask", `{"question":"` + long + `"}`, 413, "4000"},
		{"POST", "/ask", `{"question":"` + strings.Repeat("x", maxBody) + `"}`, 413, "bytes"},
		{"POST", "/ask/stream", `{"question":"a","mode":"magic"}`, 400, "magic"},
		{"POST", "/chat", `{"question":"a","session":"a b"}`, 400, "session"},
		{"POST", "/chat/stream", `{"question":"a","top_k":101}`, 400, "top_k"},
		{"GET", "/chat/unknown/history", "", 404, "unknown"},
		{"GET", "/chat/a%20b/history", "", 400, "session"},
		{"DELETE", "/chat/%2e%2e", "", 204, ""},
		{"DELETE", "/documents/nothing", "", 404, "nothing"},
		{"POST", "/documents", "x", 400, "form"},
		{"POST", "/mcp", "{}", 404, ""},
	} {
		r := f.send(tc.method, tc.path, tc.body)
		if r.status != tc.status || !strings.Contains(r.body, tc.says) {
			t.Errorf("%s %.60s %.60s: %d %s", tc.method, tc.path, tc.body, r.status, r.body)
		}
	}
	if r := f.send("POST", "/ask", `{"question":"a"}`, "Content-Type", "text/xml"); r.status != 415 {
		t.Errorf("a question in XML: %d", r.status)
	}
}

// No name leads out of the notes, and no file gets in that gives no document.
func TestUploadNames(t *testing.T) {
	f := newFixture(t, nil)
	const text = "# X\n\nsome words\n"
	outside, err := filepath.Abs("outside.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("notes/folder.md", 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"notes/link.md": outside, "notes/sub": "../elsewhere"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	f.write(".kbignore", "draft*\n")
	for _, tc := range []struct {
		name, content string
		status        int
		kept          string // below notes
	}{
		{"a.md", text, 201, "a.md"},
		{"../../b.md", text, 201, "b.md"},
		{`..\..\c.md`, text, 201, "c.md"},
		{outside, text, 201, "outside.md"},
		{"C:\\Users\\x\\d.md", text, 201, "d.md"},
		{"....//e.md", text, 201, "e.md"},
		{"笔记 1.md", text, 201, "笔记 1.md"},
		{"cafe\u0301.md", text, 201, "caf\u00e9.md"},
		{"sub/f.md", text, 201, "f.md"},
		{"", text, 400, ""},
		{"..", text, 400, ""},
		{"../", text, 400, ""},
		{"%2e%2e%2fg.md", text, 400, ""},
		{"g%2fh.md", text, 400, ""},
		{"nul\x00.md", text, 400, ""},
		{".hidden.md", text, 400, ""},
		{"~$lock.docx", text, 400, ""},
		{"NUL.md", text, 400, ""},
		{"com1.txt", text, 400, ""},
		{"a:b.md", text, 400, ""},
		{"space.md ", text, 400, ""},
		{strings.Repeat("x", 300) + ".md", text, 400, ""},
		{"draft-1.md", text, 400, ""},
		{"link.md", text, 409, ""},
		{"folder.md", text, 409, ""},
		{"program.exe", text, 415, ""},
		{"noextension", text, 415, ""},
		{"image.md", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", 415, ""},
		{"fake.pdf", text, 415, ""},
		{"fake.docx", text, 422, ""},
		{"empty.md", "", 422, ""},
		{"blank.txt", " \n\t\n", 422, ""},
		{"large.md", strings.Repeat("words ", 20_000), 413, ""},
	} {
		r := f.upload(tc.name, tc.content)
		if r.status != tc.status {
			t.Errorf("%q: %d %s", tc.name, r.status, r.body)
		}
		if tc.kept == "" {
			continue
		}
		if got, err := os.ReadFile(filepath.Join("notes", tc.kept)); err != nil || string(got) != tc.content {
			t.Errorf("%q: %v", tc.name, err)
		}
	}
	for _, not := range []string{"outside.md", "elsewhere", "b.md", "../b.md", "../../b.md", "notes/empty.md", "notes/fake.pdf", "notes/image.md"} {
		if _, err := os.Lstat(not); !os.IsNotExist(err) {
			t.Errorf("%s is there", not)
		}
	}
	if left, _ := filepath.Glob("notes/.kb-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	r := f.upload("one.md", text, "two.exe", text, "three.md", "")
	var list struct {
		Documents []struct{ Path, Name, Status string }
	}
	r.into(t, &list)
	if got := fmt.Sprint(list.Documents); r.status != 201 || got != "[{notes/one.md  created} { two.exe refused} { three.md refused}]" {
		t.Errorf("three files: %d %s", r.status, r.body)
	}
	if r := f.upload("same.md", text, "x/same.md", text); r.status != 400 {
		t.Errorf("two files of one name: %d %s", r.status, r.body)
	}
	body, kind := form(t, "cut.md", text)
	if r := f.send("POST", "/documents", body[:len(body)-20], "Content-Type", kind); r.status != 400 {
		t.Errorf("a form that was cut: %d %s", r.status, r.body)
	}
	if r := f.send("POST", "/documents", strings.ReplaceAll(body, `name="file"`, `name="other"`), "Content-Type", kind); r.status != 400 {
		t.Errorf("a form without a file: %d %s", r.status, r.body)
	}
}

// A document that is not of the folder, or behind a link that leads out of it,
// stays; a locked index is a conflict and leaves things as they were.
func TestConflicts(t *testing.T) {
	f := newFixture(t, nil)
	id := func(path string) string {
		var list struct{ Documents []struct{ ID, Path string } }
		f.send("GET", "/documents", "").into(t, &list)
		for _, d := range list.Documents {
			if d.Path == path {
				return d.ID
			}
		}
		t.Fatalf("no %s", path)
		return ""
	}
	tx, err := f.store.Begin(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if r := f.upload("course.md", "# New\n\nother words\n"); r.status != 409 || r.code() != "conflict" {
		t.Errorf("an upload while another process writes: %d %s", r.status, r.body)
	}
	if r := f.upload("new.md", "# New\n\nother words\n"); r.status != 409 {
		t.Errorf("an upload while another process writes: %d %s", r.status, r.body)
	}
	if r := f.send("DELETE", "/documents/"+id("notes/course.md"), ""); r.status != 409 {
		t.Errorf("a removal while another process writes: %d %s", r.status, r.body)
	}
	tx.Rollback()
	if got, err := os.ReadFile("notes/course.md"); err != nil || string(got) != course {
		t.Errorf("the file is not as it was: %q, %v", got, err)
	}
	if _, err := os.Stat("notes/new.md"); err == nil {
		t.Error("the new file is there")
	}
	if os.Getuid() != 0 { // who may write everywhere
		if err := os.Chmod("notes", 0o500); err != nil {
			t.Fatal(err)
		}
		if r := f.upload("new.md", "# New\n\nother words\n"); r.status != 503 || strings.Contains(r.body, "permission") {
			t.Errorf("a folder that cannot be written: %d %s", r.status, r.body)
		}
		if err := os.Chmod("notes", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// A folder of notes that was replaced by a link to one outside.
	if err := os.MkdirAll("notes/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	f.write("sub/deep.md", "# Deep\n\nwords far down\n")
	if err := f.build(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("notes/sub", "private"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../private", "notes/sub"); err != nil {
		t.Fatal(err)
	}
	if r := f.send("DELETE", "/documents/"+id("notes/sub/deep.md"), ""); r.status != 409 {
		t.Errorf("through a link: %d %s", r.status, r.body)
	}
	if _, err := os.Stat("private/deep.md"); err != nil {
		t.Errorf("a file outside is gone: %v", err)
	}
}

// Health tells an empty index from one that cannot be read.
func TestHealth(t *testing.T) {
	f := newFixture(t, nil)
	var h struct {
		Status    string
		Documents int
	}
	f.send("GET", "/health", "").into(t, &h)
	if h.Status != "ok" || h.Documents != 2 {
		t.Errorf("%+v", h)
	}
	for content, want := range map[string]int{"": 200, "no index": 503} {
		f := newFixture(t, nil)
		os.Remove("index.jsonl.zst")
		if content != "" {
			if err := os.WriteFile("index.jsonl.zst", []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r := f.send("GET", "/health", "")
		if r.status != want || content == "" && !strings.Contains(r.body, `"empty"`) {
			t.Errorf("index %q: %d %s", content, r.status, r.body)
		}
		if r := f.send("POST", "/ask", `{"question":"a"}`); r.status != want || strings.Contains(r.body, "jsonl") {
			t.Errorf("a question to index %q: %d %s", content, r.status, r.body)
		}
	}
}

// A conversation has a session, a history and an end.
func TestConversation(t *testing.T) {
	f := newFixture(t, nil)
	f.chat.script(func(n int) []string {
		if n == 2 {
			return []string{"周六做什么？", "\ndata: [DONE]"}[:1]
		}
		return []string{reply1}
	})
	f.chat.say(reply1)
	var first struct{ Session, Text string }
	f.send("POST", "/chat", `{"question":"每天学习多久？"}`).into(t, &first)
	if len(first.Session) < 32 {
		t.Fatalf("session %q", first.Session)
	}
	body, _ := json.Marshal(map[string]string{"question": "周六呢？", "session": first.Session})
	events := f.events("/chat/stream", string(body))
	if names(events) != "citations delta done" || events[0].data["session"] != first.Session || events[len(events)-1].data["session"] != first.Session {
		t.Errorf("%v", events)
	}
	if q := events[0].data["question"]; q != "周六呢？" {
		t.Errorf("the question is %v", q)
	}
	var h struct {
		Turns []struct {
			Question  string
			Citations []struct{ Path string }
		}
	}
	f.send("GET", "/chat/"+first.Session+"/history", "").into(t, &h)
	if len(h.Turns) != 2 || h.Turns[1].Question != "周六呢？" || h.Turns[0].Citations[0].Path != "notes/course.md" {
		t.Errorf("%+v", h)
	}
	if r := f.send("DELETE", "/chat/"+first.Session, ""); r.status != 204 {
		t.Errorf("%d", r.status)
	}
	if r := f.send("GET", "/chat/"+first.Session+"/history", ""); r.status != 404 {
		t.Errorf("%d", r.status)
	}
}
