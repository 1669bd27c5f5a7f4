package milvus_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kb/pkg/store/milvus"
)

// grpc answers every call with a message and a status.
func grpc(message, status, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
		if message != "" {
			w.Write([]byte(message))
		}
		w.Header().Set("Grpc-Status", status)
		w.Header().Set("Grpc-Message", reason)
	}
}

// TestBadServers names the store and what is wrong with the server, and never
// shows the password.
func TestBadServers(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
		want   string
	}{
		{"refuses", grpc("", "16", "auth check failure%21"), "(auth check failure!): check user and password in the URL"},
		{"is too old", grpc("", "12", "unknown method"), "kb needs Milvus 2.3 or newer"},
		{"is no Milvus", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }, "is it the gRPC port of Milvus?"},
		{"says why", grpc("\x00\x00\x00\x00\x0b\x0a\x09\x08\x01\x12\x05quota", "0", ""), "quota"},
		{"breaks off", grpc("\x00\x00\x00\x00\x0b\x0a", "0", ""), "a message that cannot be read"},
		{"knows no collection", grpc("\x00\x00\x00\x00\x05\x0a\x03\x18\x64\x00", "0", ""), "a message that cannot be read"},
		{"has no index", grpc("\x00\x00\x00\x00\x04\x0a\x02\x18\x64", "0", ""), "no index"},
		{"is gone", nil, "no answer from the server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewUnstartedServer(c.handle)
			server.Config.Protocols = new(http.Protocols)
			server.Config.Protocols.SetUnencryptedHTTP2(true)
			server.Start()
			if c.handle == nil {
				server.Close()
			}
			t.Cleanup(server.Close)
			host := strings.TrimPrefix(server.URL, "http://")
			_, err := open(t, "milvus://root:secret@"+host+"/notes").Open(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "milvus://"+host+"/notes") {
				t.Errorf("%v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the password is shown: %v", err)
			}
		})
	}
}

// TestSlow gives a call up that is not answered in time, and does not make it
// again.
func TestSlow(t *testing.T) {
	var calls atomic.Int32
	ended := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1); <-ended }))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	host := strings.TrimPrefix(server.URL, "http://")
	s, err := milvus.New("milvus://root:secret@"+host+"/notes", milvus.Options{Patience: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Open(t.Context())
	close(ended)
	server.Close()
	if err == nil || !strings.Contains(err.Error(), "milvus://"+host+"/notes: no whole answer within 50ms") || strings.Contains(err.Error(), "secret") || calls.Load() != 1 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestURLs(t *testing.T) {
	for _, url := range []string{"milvus://h/", "milvus://h/a/b/c", "milvus://h/1a", "milvus://h/a-b", "milvus://h/a?ef=x"} {
		if _, err := milvus.New(url, milvus.Options{}); err == nil {
			t.Errorf("%s was accepted", url)
		}
	}
	s, err := milvus.New("milvuss://u:secret@h:1/base/notes?ef=50", milvus.Options{})
	if err != nil || s.Name() != "milvuss://h:1/base/notes?ef=50" {
		t.Errorf("%v", err)
	}
}
