package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"kb/pkg/model"
	"kb/pkg/model/modeltest"
)

func ranking(scores []model.Score) string {
	at := make([]int, len(scores))
	for i, s := range scores {
		at[i] = s.Index
	}
	return fmt.Sprint(at)
}

func TestRerankShapes(t *testing.T) {
	const flat = `{"documents":["a","b","c"],"model":"m","query":"q","top_n":3}`
	tests := []struct{ name, base, style, path, request, answer string }{
		{"32 Cohere", "http://model.test/v2", "cohere", "/v2/rerank", flat, `{"results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.1}],"meta":{}}`},
		{"32 Jina", "http://model.test", "jina", "/v1/rerank", flat, `{"results":[{"index":0,"relevance_score":0.5,"document":{"text":"wrong"}},{"index":2,"relevance_score":0.9},{"index":1,"relevance_score":0.1}],"usage":{}}`},
		{"32 DashScope", "http://model.test", "dashscope", "/api/v1/services/rerank/text-rerank/text-rerank", `{"input":{"documents":["a","b","c"],"query":"q"},"model":"m","parameters":{"return_documents":false,"top_n":3}}`, `{"output":{"results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.1}]},"usage":{},"request_id":"x"}`},
		{"32 DashScope compatible", "http://model.test/compatible-api/v1/reranks", "", "/compatible-api/v1/reranks", flat, `{"object":"list","results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.1}]}`},
		{"32 TEI", "http://model.test", "tei", "/rerank", `{"query":"q","texts":["a","b","c"],"truncate":true}`, `[{"index":2,"score":0.9},{"index":0,"score":0.5},{"index":1,"score":0.1}]`},
		{"32 vLLM score", "http://model.test/v1", "vllm-score", "/v1/score", `{"model":"m","text_1":"q","text_2":["a","b","c"]}`, `{"data":[{"index":0,"object":"score","score":0.5},{"index":1,"score":0.1},{"index":2,"score":0.9}]}`},
		{"32 Voyage", "http://model.test/v1", "voyage", "/v1/rerank", `{"documents":["a","b","c"],"model":"m","query":"q","top_k":3}`, `{"object":"list","data":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.1}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, replies(status(200, tt.answer)), func(t *testing.T, w *world) {
				w.cfg.BaseURL, w.cfg.Style = tt.base, tt.style
				got, err := w.rerank(t, "a", "b", "c")
				if err != nil || ranking(got) != "[2 0 1]" || got[0].Score != 0.9 {
					t.Errorf("%v, %v", got, err)
				}
				if r := w.Requests()[0]; r.URL != tt.path || r.Body != tt.request {
					t.Errorf("sent %s to %s", r.Body, r.URL)
				}
			})
		})
	}
	for base, want := range map[string]string{
		"https://dashscope.aliyuncs.com":                    "https://dashscope.aliyuncs.com/api/v1/services/rerank/text-rerank/text-rerank",
		"https://dashscope.aliyuncs.com/compatible-mode/v1": "https://dashscope.aliyuncs.com/api/v1/services/rerank/text-rerank/text-rerank",
		"https://dashscope.aliyuncs.com/compatible-api/v1":  "https://dashscope.aliyuncs.com/compatible-api/v1/reranks",
		"https://api.voyageai.com/v1":                       "https://api.voyageai.com/v1/rerank",
		"https://api.cohere.com":                            "https://api.cohere.com/v2/rerank",
		"http://h:8080/v1/reranking":                        "http://h:8080/v1/reranking",
	} {
		r, err := NewReranker(Config{BaseURL: base})
		if err != nil || r.endpoint.String() != want {
			t.Errorf("%s leads to %v, %v", base, r.endpoint, err)
		}
	}
	if _, err := NewReranker(Config{BaseURL: "http://h", Style: "odd"}); err == nil {
		t.Error("an unknown style")
	}
}

func TestRerankAnswers(t *testing.T) {
	tests := []struct {
		name    string
		reply   modeltest.Reply
		ranking string
		err     string
	}{
		{"33 logits", status(200, `{"results":[{"index":0,"relevance_score":-2.3},{"index":1,"relevance_score":7.7}]}`), "[1 0]", ""},
		{"33 tiny scores", status(200, `[{"index":1,"score":0.0003},{"index":0,"score":0.003}]`), "[0 1]", ""},
		{"33 strings", status(200, `[{"index":0,"score":"9.5"},{"index":1,"score":"10.5"}]`), "[1 0]", ""},
		{"34 no number", status(200, `[{"index":0,"score":"high"}]`), "", "not what a rerank server sends"},
		{"34 too great a number", status(200, `[{"index":0,"score":1e999}]`), "", "no score for document 0"},
		{"33 equal scores", status(200, `[{"index":1,"score":1},{"index":0,"score":1}]`), "[0 1]", ""},
		{"33 one left out", status(200, `[{"index":1,"score":1}]`), "[1]", ""},
		{"34 index out of range", status(200, `[{"index":2,"score":1}]`), "", "document 2 of 2"},
		{"34 index twice", status(200, `[{"index":0,"score":1},{"index":0,"score":2}]`), "", "two scores"},
		{"34 no index", status(200, `[{"score":1}]`), "", "without an index"},
		{"34 null", status(200, `[{"index":0,"score":null}]`), "", "no score for document 0"},
		{"34 NaN", status(200, `{"results":[{"index":0,"relevance_score":NaN}]}`), "", "NaN"},
		{"34 nothing", status(200, `{"results":[]}`), "", "no scores for 2 documents"},
		{"34 another shape", status(200, `{"rankings":[1,0]}`), "", "no scores"},
		{"34 error with status 200", status(200, `{"error":"not loaded"}`), "", "not loaded"},
		{"34 not JSON", status(200, `hello`), "", "hello"},
		{"35 501", fails(501, "This server does not support reranking"), "", "501 Not Implemented: This server does not support reranking"},
		{"35 404", status(404, "404 page not found"), "", "404 page not found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, replies(tt.reply), func(t *testing.T, w *world) {
				got, err := w.rerank(t, "a", "b")
				if tt.err != "" {
					wantError(t, err, tt.err)
				} else if err != nil || ranking(got) != tt.ranking {
					t.Errorf("%v, %v", got, err)
				}
			})
		})
	}
}

// reranking scores each document by its number and refuses by a rule.
func reranking(refuse func(documents []string) modeltest.Reply) modeltest.Reply {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Documents []string }
		json.NewDecoder(r.Body).Decode(&in)
		if reply := refuse(in.Documents); reply != nil {
			reply(w, r)
			return
		}
		var items []string
		for i, d := range in.Documents {
			n := 0
			fmt.Sscanf(d, "text%d", &n)
			items = append(items, fmt.Sprintf(`{"index":%d,"score":%d}`, i, n))
		}
		modeltest.JSON(200, "["+strings.Join(items, ",")+"]")(w, r)
	}
}

func TestRerankLimits(t *testing.T) {
	t.Run("35 more than 32", func(t *testing.T) {
		refuse := func(d []string) modeltest.Reply {
			if len(d) > 32 {
				return status(422, `{"error":"batch size 70 > maximum allowed batch size 32","error_type":"Validation"}`)
			}
			return nil
		}
		bubble(t, replies(reranking(refuse)), func(t *testing.T, w *world) {
			got, err := w.rerank(t, numbered(70)...)
			if err != nil || len(got) != 70 || len(w.Requests()) != 4 {
				t.Fatalf("%d scores, %v, %d requests", len(got), err, len(w.Requests()))
			}
			for i, s := range got {
				if s.Index != 69-i || s.Score != float64(69-i) {
					t.Fatalf("place %d is %+v", i, s)
				}
			}
		})
	})
	t.Run("36 one document too long", func(t *testing.T) {
		refuse := func(d []string) modeltest.Reply {
			for _, s := range d {
				if len(s) > 1200 {
					return fails(500, "input (612 tokens) is too large to process. increase the physical batch size (current batch size: 512)")
				}
			}
			return nil
		}
		bubble(t, replies(reranking(refuse)), func(t *testing.T, w *world) {
			got, err := w.rerank(t, "text1", "text2 "+strings.Repeat("long ", 500))
			if err != nil || ranking(got) != "[1 0]" || len(w.Requests()) != 2 || len(w.warnings) != 1 {
				t.Errorf("%v, %v, %d requests, %v", got, err, len(w.Requests()), w.warnings)
			}
		})
		always := func([]string) modeltest.Reply { return fails(500, "input is too large to process") }
		bubble(t, replies(reranking(always)), func(t *testing.T, w *world) {
			if _, err := w.rerank(t, "text1"); err == nil || len(w.Requests()) != 2 {
				t.Errorf("%v, %d requests", err, len(w.Requests()))
			}
		})
	})
	t.Run("no text", func(t *testing.T) {
		bubble(t, replies(reranking(func([]string) modeltest.Reply { return nil })), func(t *testing.T, w *world) {
			got, err := w.rerank(t, " ", "text1")
			if err != nil || ranking(got) != "[1]" {
				t.Errorf("%v, %v", got, err)
			}
		})
	})
}
