package openai

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"kb/pkg/model"
	"kb/pkg/model/modeltest"
	"kb/pkg/record"
)

const secret = "sk-test-LEAKCANARY9f31c2d7"

// world is a scripted server and what the client said to it.
type world struct {
	*modeltest.Script
	cfg      Config
	warnings []string
}

// bubble runs a test against scripted replies with false time: waiting costs
// nothing, and a goroutine that is left behind fails the test.
func bubble(t *testing.T, replies []modeltest.Reply, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{Script: modeltest.NewScript(replies...)}
		transport, stop := modeltest.Serve(t, w)
		defer stop()
		w.cfg = Config{BaseURL: modeltest.URL, APIKey: secret, Model: "m", Transport: transport,
			Warn: func(s string) { w.warnings = append(w.warnings, s) }}
		test(t, w)
		for _, s := range w.warnings {
			if strings.Contains(s, "LEAKCANARY") {
				t.Errorf("a warning holds the key: %s", s)
			}
		}
	})
}

func replies(r ...modeltest.Reply) []modeltest.Reply { return r }

func (w *world) embedder(t *testing.T) *Embedder {
	t.Helper()
	e, err := NewEmbedder(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (w *world) embed(t *testing.T, texts ...string) ([]record.Vector, error) {
	t.Helper()
	return w.embedder(t).Embed(t.Context(), model.Document, texts)
}

// said is what came out of a generator.
type said struct {
	text, reasoning, finish string
	usage                   *record.Usage
	events                  int
	err                     error
}

func (w *world) chat(t *testing.T) said {
	t.Helper()
	g, err := NewGenerator(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return listen(t.Context(), g)
}

func listen(ctx context.Context, g model.Generator) (s said) {
	for e, err := range g.Generate(ctx, model.Request{Messages: []model.Message{{Role: "user", Content: "hi"}}}) {
		if err != nil {
			s.err = err
			return s
		}
		s.events++
		s.text += e.Text
		s.reasoning += e.Reasoning
		s.finish += e.Finish
		if e.Usage != nil {
			s.usage = e.Usage
		}
	}
	return s
}

func (w *world) rerank(t *testing.T, texts ...string) ([]model.Score, error) {
	t.Helper()
	r, err := NewReranker(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	hits := make([]*record.Hit, len(texts))
	for i, s := range texts {
		hits[i] = &record.Hit{Text: s}
	}
	return r.Rerank(t.Context(), &record.Query{Text: "q"}, hits)
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q lacks %q", err, p)
		}
	}
	if strings.Contains(err.Error(), "LEAKCANARY") {
		t.Errorf("error holds the key: %v", err)
	}
}

func status(code int, body string, header ...string) modeltest.Reply {
	return modeltest.JSON(code, body, header...)
}

func fails(code int, message string) modeltest.Reply {
	return status(code, `{"error":{"message":"`+message+`"}}`)
}

var _ http.Handler = (*world)(nil)
