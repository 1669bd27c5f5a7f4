package chroma_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kb/pkg/store"
	"kb/pkg/store/chroma"
)

// TestBadServers names the store and what is wrong with the server, and never
// shows the token.
func TestBadServers(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
		want   string
	}{
		{"refuses", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "check the token in the URL"},
		{"is no Chroma", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }, "is it a Chroma server with API v2?"},
		{"has another path", http.NotFound, "no index"},
		{"says why", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			w.Write([]byte(`{"error":"X","message":"the quota is used up"}`))
		}, "the quota is used up"},
		{"leads elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://else.example/", http.StatusFound)
		}, "302 Found"},
		{"is gone", nil, "no answer from the server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.handle)
			if c.handle == nil {
				server.Close()
			}
			t.Cleanup(server.Close)
			host := strings.TrimPrefix(server.URL, "http://")
			_, err := open(t, "chroma://tok-secret@"+host+"/notes").Open(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "chroma://"+host+"/notes") {
				t.Errorf("%v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the token is shown: %v", err)
			}
		})
	}
}

// TestSlow gives a call up that is not answered in time, or not to its end, and
// does not make it again.
func TestSlow(t *testing.T) {
	for _, begin := range []string{"", `{"id":`} {
		var calls atomic.Int32
		ended := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls.Add(1)
			if begin != "" {
				w.Write([]byte(begin))
				w.(http.Flusher).Flush()
			}
			<-ended
		}))
		host := strings.TrimPrefix(server.URL, "http://")
		s, err := chroma.New("chroma://tok-secret@"+host+"/notes", chroma.Options{Patience: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Open(t.Context())
		close(ended)
		server.Close()
		if err == nil || !strings.Contains(err.Error(), "chroma://"+host+"/notes: no whole answer within 50ms") || strings.Contains(err.Error(), "secret") || calls.Load() != 1 {
			t.Errorf("%v after %d calls", err, calls.Load())
		}
	}
}

func TestRetry(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Chroma-Token") != "tok" || r.Header.Get("Authorization") != "Bearer tok" {
			t.Errorf("the token is missing: %v", r.Header)
		}
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	_, err := open(t, "chroma://tok@"+strings.TrimPrefix(server.URL, "http://")+"/notes").Open(t.Context())
	if !errors.Is(err, store.ErrNotFound) || calls.Load() != 2 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestURLs(t *testing.T) {
	for _, url := range []string{
		"chroma://h/", "chroma://h/a/b", "chroma://h/ab", "chroma://h/-abc", "chroma://h/abc?ef=0", "chroma://h/abc?exact=maybe",
	} {
		if _, err := chroma.New(url, chroma.Options{}); err == nil {
			t.Errorf("%s was accepted", url)
		}
	}
	s, err := chroma.New("chromas://u:secret@h/tenant/base/notes?exact=1", chroma.Options{})
	if err != nil || s.Name() != "chromas://h/tenant/base/notes?exact=1" {
		t.Errorf("%v", err)
	}
}
