package openai

import (
	"net/http"
	"strings"
	"testing"

	"kb/pkg/model"
	"kb/pkg/model/modeltest"
)

func TestNormalizeURL(t *testing.T) {
	tests := []struct{ raw, shown, sent string }{ // sent: the URL of an embedding request
		{"https://api.openai.com", "https://api.openai.com/v1", ""},
		{"https://api.openai.com/", "https://api.openai.com/v1", ""},
		{"HTTPS://API.OpenAI.com:443/v1/", "https://api.openai.com/v1", ""},
		{" https://api.openai.com//v1 ", "https://api.openai.com/v1", ""},
		{"https://api.openai.com/v1/embeddings", "https://api.openai.com/v1", ""},
		{"https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1", ""},
		{"http://localhost:11434", "http://localhost:11434/v1", ""},
		{"http://localhost:80/v1", "http://localhost/v1", ""},
		{"http://[::1]:8080/v1", "http://[::1]:8080/v1", ""},
		{"http://[::1]", "http://[::1]/v1", ""},
		{"https://open.bigmodel.cn/api/paas/v4/", "https://open.bigmodel.cn/api/paas/v4", ""},
		{"https://open.bigmodel.cn", "https://open.bigmodel.cn/api/paas/v4", ""},
		{"https://dashscope.aliyuncs.com", "https://dashscope.aliyuncs.com/compatible-mode/v1", ""},
		{"https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1", ""},
		{"https://gateway.example/a%2Fb/v1", "https://gateway.example/a%2Fb/v1", ""},
		{"https://x.openai.azure.com/openai/deployments/d?api-version=2024-02-01", "https://x.openai.azure.com/openai/deployments/d", "https://x.openai.azure.com/openai/deployments/d/embeddings?api-version=2024-02-01"},
		{"https://x.openai.azure.com/openai/deployments/d/embeddings?api-version=2024-02-01", "https://x.openai.azure.com/openai/deployments/d", "https://x.openai.azure.com/openai/deployments/d/embeddings?api-version=2024-02-01"},
		{"https://x.openai.azure.com", "https://x.openai.azure.com/openai/v1", ""},
		{"http://user:pass@127.0.0.1:9/v1?key=LEAK#frag", "http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1/embeddings?key=LEAK"},
	}
	for _, tt := range tests {
		t.Run("16 "+tt.raw, func(t *testing.T) {
			u, err := NormalizeURL(tt.raw)
			if err != nil {
				t.Fatal(err)
			}
			sent := pick(tt.sent, tt.shown+"/embeddings")
			if u.String() != tt.shown || u.join("/embeddings").request() != sent {
				t.Errorf("shown as %s, sent to %s", u, u.join("/embeddings").request())
			}
			again, err := NormalizeURL(u.String())
			if err != nil || again.String() != u.String() {
				t.Errorf("normalised twice: %s, %v", again, err)
			}
		})
	}
	for raw, want := range map[string]string{
		"":                             "http:// or https://",
		"localhost:11434":              "http:// or https://",
		"api.openai.com/v1":            "http:// or https://",
		"ftp://h/v1":                   "http:// or https://",
		"https:///v1":                  "no host",
		"http://LEAKCANARY:x y@h":      "parsed",
		"http://h:LEAKCANARY/v1":       "parsed",
		"http://u:LEAKCANARY@h/%zz":    "parsed",
		"http://u:LEAKCANARY@h:port/x": "parsed",
	} {
		_, err := NormalizeURL(raw)
		wantError(t, err, want)
	}
}

// The key goes where it belongs and nowhere else.
func TestKeys(t *testing.T) {
	header := func(base, key string) http.Header {
		c, err := newClient(Config{BaseURL: base, APIKey: key})
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		c.setHeader(h)
		return h
	}
	if h := header("https://x.openai.azure.com", "k"); h.Get("api-key") != "k" || h.Get("Authorization") != "" {
		t.Error("16 Azure:", h)
	}
	if h := header("http://h", " Bearer k\n"); h.Get("Authorization") != "Bearer k" {
		t.Error("a key copied with its word:", h)
	}
	if h := header("http://u:p@h", ""); h.Get("Authorization") != "Basic dTpw" {
		t.Error("user information:", h)
	}
	if h := header("http://u:p@h", "k"); h.Get("Authorization") != "Bearer k" {
		t.Error("a key and user information:", h)
	}
	if _, err := NewEmbedder(Config{BaseURL: "http://h", Model: "m", APIKey: "LEAKCANARY\x01"}); err == nil || strings.Contains(err.Error(), "LEAK") {
		t.Error("a key that no header can carry:", err)
	}
	if _, err := NewEmbedder(Config{BaseURL: "http://h"}); err == nil {
		t.Error("an embedder without a model")
	}
}

func TestSecrets(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		body := `{"error":{"message":"rejected credential ` + r.Header.Get("Authorization") + user + password + r.URL.RawQuery + strings.Repeat(" and more", 60) + `","code":"` + r.Header.Get("Authorization") + `"}}`
		modeltest.JSON(401, body)(w, r)
	}
	redirect := func(to string, code int) modeltest.Reply {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, code) }
	}
	tests := []struct {
		name  string
		base  string
		key   string
		reply modeltest.Reply
		want  []string
	}{
		{"30 401 that repeats the key", modeltest.URL, secret, echo, []string{"http://model.test/v1/embeddings: 401 Unauthorized: rejected credential Bearer ***"}},
		{"30 401 that repeats the URL", "http://LEAKCANARYuser:LEAKCANARYpass@model.test/v1?key=LEAKCANARY%20key", "", echo, []string{"401", "***"}},
		{"30 plain text", modeltest.URL, secret, func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no: "+r.Header.Get("Authorization"), http.StatusForbidden)
		}, []string{"403 Forbidden: no: Bearer ***"}},
		{"30 in an answer", modeltest.URL, secret, func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte("what is " + r.Header.Get("Authorization")))
		}, []string{"what is Bearer ***"}},
		{"30 in a vector", modeltest.URL, secret, func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte(`{"data":[{"embedding":["` + secret + `"]}]}`))
		}, []string{"element 0"}},
		{"30 redirect to another host", modeltest.URL, secret, redirect("https://evil.test/v1/embeddings?key="+secret, 307), []string{"redirects to https://evil.test/v1/embeddings;", "set the base URL"}},
		{"30 redirect to https", modeltest.URL, secret, redirect("https://model.test/v1/embeddings", 308), []string{"redirects to https://model.test/v1/embeddings"}},
		{"30 redirect that drops the body", modeltest.URL, secret, redirect("/v2/embeddings", 302), []string{"redirects to http://model.test/v2/embeddings"}},
		{"30 redirect in a circle", modeltest.URL, secret, redirect("/v1/embeddings", 307), []string{"circle"}},
		{"control characters", modeltest.URL, secret, fails(400, `a\u001b[31mred\u202eb\nc`), []string{"a[31mredb c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, replies(tt.reply), func(t *testing.T, w *world) {
				w.cfg.BaseURL, w.cfg.APIKey = tt.base, tt.key
				_, err := w.embed(t, "a")
				wantError(t, err, tt.want...)
				for _, r := range w.Requests() {
					if r.Header.Get("Authorization") != "" && !strings.HasPrefix(r.URL, "/v1/") {
						t.Errorf("the key went to %s", r.URL)
					}
				}
				if len(err.Error()) > 700 {
					t.Errorf("error of %d bytes", len(err.Error()))
				}
			})
		})
	}
	t.Run("30 nothing listens", func(t *testing.T) {
		e, err := NewEmbedder(Config{BaseURL: "http://user:LEAKCANARY@127.0.0.1:1/v1?key=LEAKCANARY", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Embed(t.Context(), model.Document, []string{"a"})
		wantError(t, err, "http://127.0.0.1:1/v1/embeddings: ", "refused")
		if e.Info().BaseURL != "http://127.0.0.1:1/v1" {
			t.Error(e.Info())
		}
	})
	t.Run("30 same host is followed", func(t *testing.T) {
		bubble(t, replies(redirect("/v1/other/embeddings", 307), limited(nil)), func(t *testing.T, w *world) {
			got, err := w.embed(t, "text0")
			if err != nil || w.Requests()[1].Body != w.Requests()[0].Body {
				t.Error(err, w.Requests())
			}
			whole(t, got)
		})
	})
}

func TestErrorShapes(t *testing.T) {
	c, err := newClient(Config{BaseURL: "http://h"})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"error":{"message":"why","type":"t","param":"p","code":"c"}}`: "400 Bad Request: why",
		`{"error":"why"}`:                               "400 Bad Request: why",
		`{"message":"why"}`:                             "400 Bad Request: why",
		`{"detail":"why"}`:                              "400 Bad Request: why",
		`{"detail":[{"loc":["a"],"msg":"why"}]}`:        "400 Bad Request: why",
		`{"code":20012,"message":"why","data":null}`:    "400 Bad Request: why",
		`{"object":"error","message":"why","code":400}`: "400 Bad Request: why",
		`{"error":"why","error_type":"validation"}`:     "400 Bad Request: why",
		`[{"error":{"message":"why"}}]`:                 "400 Bad Request: why",
		`"why"`:                                         "400 Bad Request: why",
		`why`:                                           "400 Bad Request: why",
		`<html><title>why</title></html>`:               "400 Bad Request: why",
		`{"error":{"reason":"why"}}`:                    `400 Bad Request: {"reason":"why"}`,
		`{"error":null}`:                                `400 Bad Request: {"error":null}`,
		``:                                              "400 Bad Request",
	} {
		got := c.apiError(c.url, 400, nil, []byte(body)).Error()
		if got != "http://h/v1: "+want {
			t.Errorf("%s gives %q", body, got)
		}
	}
}

func TestEstimate(t *testing.T) {
	if n := estimate("学习 keys"); n != 4 {
		t.Error(n)
	}
	for text, want := range map[string]string{"学习笔记": "学习", "abcdefghi": "abcdef", "短": "短", "": ""} {
		if got := cutTokens(text, 2); got != want {
			t.Errorf("%q is cut to %q", text, got)
		}
	}
}
