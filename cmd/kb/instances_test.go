package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kb/pkg/cache/redistest"
	"kb/pkg/store/pgvector"
	"kb/pkg/store/pgvector/pgtest"
)

// Two servers over one database, one Redis and one folder of notes are one:
// what is done at one of them is seen at the other.
func TestServeInstances(t *testing.T) {
	shared := notesFolder(t)
	index := pgtest.URL(t)
	env := []string{"KB_INDEX=" + index, "KB_REDIS_URL=" + redistest.Start(t)}
	a := serve(t, shared, env)
	there := t.TempDir() // where another machine has the same folder
	if err := os.Symlink(filepath.Join(shared, "notes"), filepath.Join(there, "notes")); err != nil {
		t.Fatal(err)
	}
	b := serve(t, there, env)

	id := a.upload("kettle.md", "The kettle on the third floor takes four minutes.")
	if got := b.ask("/ask", `{"question":"How long does the kettle take?"}`); !strings.Contains(got.Text, "four minutes") {
		t.Errorf("asked at the other server: %q", got.Text)
	}
	said := a.ask("/chat", `{"question":"How long does the kettle take?"}`)
	next := b.ask("/chat", fmt.Sprintf(`{"session":%q,"question":"On which floor is it?"}`, said.Session))
	if said.Session == "" || next.Session != said.Session {
		t.Errorf("the session is %q, then %q", said.Session, next.Session)
	}
	for _, s := range []*served{a, b} {
		if out, err := exec.Command(kbProgram(t), "doctor", "--text", "--server", s.url+"/").CombinedOutput(); err != nil || !strings.Contains(string(out), "2 documents") {
			t.Errorf("kb doctor --server: %v: %s", err, out)
		}
		if status, body := s.do("GET", "/chat/"+said.Session+"/history"); status != http.StatusOK || strings.Count(body, `"answer"`) != 2 {
			t.Errorf("the conversation: %d %s", status, body)
		}
	}
	refusedWhileLocked(t, a, index, filepath.Join(shared, "notes", "refused.md"))
	if status, body := b.do("DELETE", "/documents/"+id); status != http.StatusNoContent {
		t.Fatalf("DELETE: %d %s", status, body)
	}
	if status, _ := a.do("GET", "/documents/"+id); status != http.StatusNotFound {
		t.Errorf("a document that was deleted at the other server: %d", status)
	}
	if got := fmt.Sprint(a.documents(), b.documents()); got != "[notes/course.md] [notes/course.md]" {
		t.Errorf("in the end: %s", got)
	}
}

// refusedWhileLocked uploads a file while another process writes to the index.
// That it is refused before it is placed, where that process might read it, shows
// in that what stands in its place makes no difference.
func refusedWhileLocked(t *testing.T, s *served, index, place string) {
	t.Helper()
	st, err := pgvector.New(index)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	tx, err := st.Begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := os.Mkdir(place, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(place)
	var refused struct{ Error struct{ Message string } }
	body, contentType := form(filepath.Base(place), "The parrot is refused.")
	s.post("/documents", contentType, body, http.StatusConflict, &refused)
	if !strings.Contains(refused.Error.Message, "by another process") {
		t.Errorf("an upload while another process writes: %s", refused.Error.Message)
	}
}

// Two servers whose folders have the same name and other files take nothing
// from each other, neither with an upload nor when they start anew; what is
// missing where it was before is removed.
func TestServeFolderOfEach(t *testing.T) {
	index := pgtest.URL(t)
	env := []string{"KB_INDEX=" + index}
	a := serve(t, notesFolder(t), env)
	a.upload("ours.md", "The kettle takes four minutes.")
	b := serve(t, notesFolder(t), env)
	b.upload("theirs.md", "The parrot speaks Portuguese.")
	all := "[notes/course.md notes/ours.md notes/theirs.md]"
	if got := fmt.Sprint(a.documents()); got != all {
		t.Fatalf("after an upload to each: %s", got)
	}
	b.terminate()
	b.wait(exitOK)
	if want := "the index has 1 document of notes without a file here"; !strings.Contains(b.log.String(), want) {
		t.Errorf("the log does not say %q:\n%s", want, b.log)
	}
	b = serve(t, b.dir, env)
	b.upload("more.md", "The parrot eats walnuts.")
	b.terminate()
	b.wait(exitOK)

	if err := os.Remove(filepath.Join(b.dir, "notes", "theirs.md")); err != nil {
		t.Fatal(err)
	}
	b = serve(t, b.dir, env)
	b.upload("last.md", "The parrot sleeps.") // indexed with all that changed
	all = "[notes/course.md notes/last.md notes/more.md notes/ours.md]"
	if got := fmt.Sprint(a.documents()); got != all {
		t.Errorf("after a file was removed: %s", got)
	}

	if err := os.RemoveAll(filepath.Join(b.dir, "notes")); err != nil { // a folder that is not mounted
		t.Fatal(err)
	}
	body, contentType := form("new.md", "The parrot is back.")
	b.post("/documents", contentType, body, http.StatusConflict, new(any))
	if got := fmt.Sprint(a.documents()); got != all {
		t.Errorf("after all files of a server went away: %s", got)
	}
}

// upload adds a document, and returns its id. While another server writes, it
// tries again.
func (s *served) upload(name, text string) (id string) {
	s.t.Helper()
	for {
		body, contentType := form(name, text)
		var added struct {
			ID    string
			Error struct{ Message string }
		}
		status := s.send("/documents", contentType, body, &added)
		switch {
		case status == http.StatusCreated, status == http.StatusOK: // OK: another server saw the file of a try before
			return added.ID
		case status != http.StatusConflict || !strings.Contains(added.Error.Message, "by another process") || s.t.Context().Err() != nil:
			s.t.Fatalf("the upload of %s: %d %s", name, status, added.Error.Message)
		}
	}
}

// form is the body of an upload.
func form(name, text string) (body io.Reader, contentType string) {
	b := new(bytes.Buffer)
	w := multipart.NewWriter(b)
	part, _ := w.CreateFormFile("file", name)
	io.WriteString(part, text)
	w.Close()
	return b, w.FormDataContentType()
}

type said struct{ Text, Session string }

func (s *served) ask(path, question string) (a said) {
	s.t.Helper()
	s.post(path, "application/json", strings.NewReader(question), http.StatusOK, &a)
	return a
}

func (s *served) post(path, contentType string, body io.Reader, want int, into any) {
	s.t.Helper()
	if status := s.send(path, contentType, body, into); status != want {
		s.t.Fatalf("POST %s: %d, want %d: %v", path, status, want, into)
	}
}

func (s *served) send(path, contentType string, body io.Reader, into any) (status int) {
	s.t.Helper()
	res, err := http.Post(s.url+path, contentType, body)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		s.t.Fatalf("POST %s: %d: %v", path, res.StatusCode, err)
	}
	return res.StatusCode
}

func (s *served) do(method, path string) (status int, body string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}
