package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kb/pkg/model/modeltest"
)

// served is a process of kb serve in a folder of its own.
type served struct {
	t   *testing.T
	cmd *exec.Cmd
	dir string
	url string
	log *bytes.Buffer // whole once wait has returned
	eof chan struct{}
}

// kbProgram is this program under the name of kb: it is what a test's main
// makes of it.
func kbProgram(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "kb")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, bin); err != nil {
		t.Fatal(err)
	}
	return bin
}

// serve starts kb serve and waits until it listens.
func serve(t *testing.T, dir string, env []string, args ...string) *served {
	t.Helper()
	s := &served{t: t, dir: dir, log: new(bytes.Buffer), eof: make(chan struct{})}
	s.cmd = exec.Command(kbProgram(t), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	s.cmd.Dir = dir
	s.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_CACHE_HOME=" + filepath.Join(dir, ".cache")}, env...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill(); s.cmd.Wait() })
	lines := bufio.NewReader(stderr)
	for s.url == "" {
		line, err := lines.ReadString('\n')
		s.log.WriteString(line)
		if err != nil {
			t.Fatalf("kb serve ends with %s", s.log)
		}
		if _, url, ok := strings.Cut(line, "http://127.0.0.1:"); ok {
			s.url = "http://127.0.0.1:" + strings.TrimRight(url, "\"}\n")
		}
	}
	go func() { defer close(s.eof); io.Copy(s.log, lines) }()
	return s
}

// wait wants the process to end with a code.
func (s *served) wait(code int) {
	s.t.Helper()
	<-s.eof
	err := s.cmd.Wait()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	}
	if got != code {
		s.t.Errorf("exit code %d, want %d: %s", got, code, s.log)
	}
}

func (s *served) terminate() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
}

// refused waits until no new connection is taken.
func (s *served) refused() {
	s.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		res, err := client.Get(s.url + "/health")
		if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
			return
		}
		if err == nil {
			res.Body.Close()
		}
	}
}

func (s *served) documents() (paths []string) {
	s.t.Helper()
	res, err := http.Get(s.url + "/documents")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var list struct{ Documents []struct{ Path string } }
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		s.t.Fatal(err)
	}
	for _, d := range list.Documents {
		paths = append(paths, d.Path)
	}
	return paths
}

// slowUpload begins an upload; the rest of it is sent when rest is closed.
func (s *served) slowUpload(name string, rest <-chan struct{}) <-chan int {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, _ := w.CreateFormFile("file", name)
	fmt.Fprintf(part, "# Upload\n\n%s", strings.Repeat("some words of it. ", 1000))
	w.Close()
	half := b.Len() / 2
	body, in := io.Pipe()
	status := make(chan int, 1)
	begun := make(chan struct{})
	go func() {
		in.Write(b.Bytes()[:half])
		close(begun)
		<-rest
		in.Write(b.Bytes()[half:])
		in.Close()
	}()
	go func() {
		res, err := http.Post(s.url+"/documents", w.FormDataContentType(), body)
		if err != nil {
			status <- 0
			return
		}
		res.Body.Close()
		status <- res.StatusCode
	}()
	<-begun
	return status
}

func notesFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes", "course.md"), []byte("# 课程\n\n建议每天学习 45 分钟。\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A first start, in a folder without notes, warns of nothing, and takes the
// first upload.
func TestServeFirstStart(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, nil)
	s.upload("a.md", "The parrot speaks.")
	s.terminate()
	s.wait(exitOK)
	if log := s.log.String(); strings.Contains(log, "WARN") || !strings.Contains(log, "no documents yet") {
		t.Errorf("the log:\n%s", log)
	}
}

// SIGTERM lets an answer and an upload end that have begun, and takes nothing
// new; the exit code is that of a good end.
func TestServeTerminated(t *testing.T) {
	more := make(chan struct{})
	models := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		modeltest.Send(w, modeltest.Content("建议每天学习 "))
		<-more
		modeltest.Send(w, modeltest.Content("45 分钟。[1]")+modeltest.Finish("stop")+modeltest.Done)
	}))
	defer models.Close()
	s := serve(t, notesFolder(t), []string{"KB_CHAT_BASE_URL=" + models.URL, "KB_CHAT_MODEL=m", "KB_CHAT_API_KEY=sk-very-secret"}, "--log", "json")
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/ask/stream", strings.NewReader(`{"question":"每天学习多久？"}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && lines.Text() != "event: delta" {
	}
	rest := make(chan struct{})
	uploaded := s.slowUpload("new.md", rest)
	for !staged(s.dir) {
		if t.Context().Err() != nil {
			t.Fatal("the upload does not begin")
		}
	}
	s.terminate()
	s.refused()
	close(rest)
	if status := <-uploaded; status != http.StatusCreated {
		t.Errorf("the upload: %d", status)
	}
	close(more)
	done := false
	for lines.Scan() {
		done = done || lines.Text() == "event: done"
	}
	if !done {
		t.Errorf("the stream ended without its answer: %v", lines.Err())
	}
	s.wait(exitOK)
	if strings.Contains(s.log.String(), "sk-very-secret") || strings.Contains(s.log.String(), "每天") {
		t.Errorf("the log is\n%s", s.log)
	}
	again := serve(t, s.dir, nil)
	if got := fmt.Sprint(again.documents()); got != "[notes/course.md notes/new.md]" {
		t.Errorf("after the end: %s", got)
	}
	again.terminate()
	again.wait(exitOK)
}

// staged says whether an upload is on its way into the notes.
func staged(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "notes", ".kb-upload-*", "*"))
	return len(found) > 0
}

// A process that is killed in the middle of an upload leaves what was there.
func TestServeKilled(t *testing.T) {
	s := serve(t, notesFolder(t), nil)
	rest := make(chan struct{})
	uploaded := s.slowUpload("course.md", rest)
	for !staged(s.dir) {
		if t.Context().Err() != nil {
			t.Fatal("the upload does not begin")
		}
	}
	s.cmd.Process.Kill()
	s.cmd.Wait()
	close(rest)
	if status := <-uploaded; status != 0 {
		t.Errorf("the upload: %d", status)
	}
	again := serve(t, s.dir, nil)
	if got := fmt.Sprint(again.documents()); got != "[notes/course.md]" {
		t.Errorf("after the end: %s", got)
	}
	if got, err := os.ReadFile(filepath.Join(s.dir, "notes", "course.md")); err != nil || !strings.Contains(string(got), "45") {
		t.Errorf("the file is %q, %v", got, err)
	}
}

// With --watch, what is saved is served.
func TestServeWatches(t *testing.T) {
	s := serve(t, notesFolder(t), nil, "--watch")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if err := os.WriteFile(filepath.Join(s.dir, "notes", "saved.md"), []byte("# Saved\n\nwords\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for len(s.documents()) != 2 {
		if ctx.Err() != nil {
			t.Fatal("what was saved is not served")
		}
	}
	s.terminate()
	s.wait(exitOK)
}
