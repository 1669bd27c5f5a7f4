package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// model is an OpenAI-compatible chat endpoint whose replies a test writes piece by
// piece: a test sees each piece on the page before it gives the next one.
type model struct {
	t       *testing.T
	url     string
	replies chan *reply // in the order in which they are asked for
}

type reply struct {
	pieces  chan string // closed: the reply is complete
	aborted chan struct{}
	status  int // other than 200: an error instead
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{t: t, replies: make(chan *reply, 8)}
	server := httptest.NewServer(http.HandlerFunc(m.chat))
	t.Cleanup(server.Close)
	m.url = server.URL + "/v1"
	return m
}

// settings make kb use the model.
func (m *model) settings() []string {
	return []string{"KB_CHAT_BASE_URL=" + m.url, "KB_CHAT_MODEL=test-model"}
}

// next prepares the next reply, to be written by the test.
func (m *model) next() *reply {
	r := &reply{pieces: make(chan string), aborted: make(chan struct{}), status: http.StatusOK}
	m.replies <- r
	return r
}

// says prepares a whole reply.
func (m *model) says(text string) {
	r := &reply{pieces: make(chan string, 1), aborted: make(chan struct{}), status: http.StatusOK}
	r.pieces <- text
	close(r.pieces)
	m.replies <- r
}

// fails prepares an error.
func (m *model) fails(status int) { m.replies <- &reply{status: status} }

func (m *model) chat(w http.ResponseWriter, r *http.Request) {
	var next *reply
	select {
	case next = <-m.replies:
	default:
		http.Error(w, `{"error":{"message":"no reply was prepared"}}`, http.StatusBadRequest)
		return
	}
	if next.status != http.StatusOK {
		http.Error(w, `{"error":{"message":"the test said so"}}`, next.status)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	for {
		select {
		case piece, ok := <-next.pieces:
			if !ok {
				fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
				return
			}
			event, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]string{"content": piece}}}})
			fmt.Fprintf(w, "data: %s\n\n", event)
			flush()
		case <-r.Context().Done():
			close(next.aborted)
			return
		}
	}
}
