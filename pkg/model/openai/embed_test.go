package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"kb/pkg/model"
	"kb/pkg/model/modeltest"
	"kb/pkg/record"
)

// limited is an embedding server that refuses by a rule and else gives each
// text of the form "…N" the vector (1, N).
func limited(refuse func(texts []string) modeltest.Reply) modeltest.Reply {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		json.NewDecoder(r.Body).Decode(&in)
		if refuse != nil {
			if reply := refuse(in.Input); reply != nil {
				reply(w, r)
				return
			}
		}
		var items []string
		for i, text := range in.Input {
			n := 0
			fmt.Sscanf(text[strings.LastIndexByte(text, 't')+1:], "%d", &n)
			items = append(items, fmt.Sprintf(`{"index":%d,"embedding":[1,%d]}`, i, n))
		}
		modeltest.JSON(200, `{"data":[`+strings.Join(items, ",")+`]}`)(w, r)
	}
}

func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("text%d", i)
	}
	return out
}

// whole checks that each text has its vector, apart from those named.
func whole(t *testing.T, got []record.Vector, without ...int) {
	t.Helper()
	missing := map[int]bool{}
	for _, i := range without {
		missing[i] = true
	}
	for i, v := range got {
		if missing[i] {
			if v != nil {
				t.Errorf("text %d has a vector", i)
			}
			continue
		}
		if len(v) != 2 || math.Abs(float64(v[1]/v[0])-float64(i)) > 1e-3 {
			t.Errorf("text %d has the vector %v", i, v)
		}
	}
}

func sizes(t *testing.T, w *world) (out []int) {
	t.Helper()
	for _, r := range w.Requests() {
		var in struct{ Input []string }
		if err := json.Unmarshal([]byte(r.Body), &in); err != nil {
			t.Fatal(err)
		}
		out = append(out, len(in.Input))
	}
	return out
}

func wantPartial(t *testing.T, err error, reasons map[int]string) {
	t.Helper()
	var partial *model.PartialError
	if !errors.As(err, &partial) {
		t.Fatalf("error %v, want a partial one", err)
	}
	if len(partial.Reasons) != len(reasons) {
		t.Errorf("reasons %v", partial.Reasons)
	}
	for i, part := range reasons {
		if r := partial.Reasons[i]; r == nil || !strings.Contains(r.Error(), part) {
			t.Errorf("reason of text %d is %v, want %q", i, r, part)
		}
	}
}

func TestEmbedAnswers(t *testing.T) {
	tests := []struct {
		name    string
		body    string
		partial map[int]string // of two texts
		err     string
	}{
		{name: "01 out of order", body: `{"data":[{"index":1,"embedding":[1,1]},{"index":0,"embedding":[1,0]}]}`},
		{name: "02 no index", body: `{"data":[{"embedding":[1,0]},{"embedding":[1,1]}]}`},
		{name: "02 duplicate index", body: `{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[1,1]}]}`, err: "two vectors for text 0"},
		{name: "02 index out of range", body: `{"data":[{"index":1,"embedding":[1,0]},{"index":2,"embedding":[1,1]}]}`, err: "batch of 2 texts: the server returned a vector for text 2"},
		{name: "02 some without index", body: `{"data":[{"index":1,"embedding":[1,0]},{"embedding":[1,1]}]}`, err: "without an index"},
		{name: "03 one of two", body: `{"data":[{"index":0,"embedding":[1,0]}]}`, err: "returned 1 of 2"},
		{name: "03 empty object", body: `{}`, err: "returned 0 of 2"},
		{name: "03 null", body: `{"data":null}`, err: "returned 0 of 2"},
		{name: "03 error with status 200", body: `{"error":{"message":"model is loading"}}`, err: "model is loading"},
		{name: "03 error as text", body: `{"error":"no such model"}`, err: "no such model"},
		{name: "03 not JSON", body: `<html><title>hello</title>`, err: "not what an embedding server sends"},
		{name: "04 null element", body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0.5,null]}]}`, partial: map[int]string{1: "element 1"}},
		{name: "04 null vector", body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":null}]}`, partial: map[int]string{1: "no vector"}},
		{name: "04 empty vector", body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[]}]}`, partial: map[int]string{1: "empty"}},
		{name: "04 zeros", body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,0]}]}`, partial: map[int]string{1: "zeros"}},
		{name: "04 infinite as float32", body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1e39,1]}]}`, partial: map[int]string{1: "element 0 is 1e+39"}},
		{name: "04 infinite as float64", body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1e400,1]}]}`, partial: map[int]string{1: "element 0 is +Inf"}},
		{name: "06 base64", body: `{"data":[{"index":0,"embedding":"AACAPwAAAAA="},{"index":1,"embedding":"AACAPwAAgD8="}]}`},
		{name: "06 base64 of a wrong length", body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":"AACAPwA="}]}`, partial: map[int]string{1: "5 bytes"}},
		{name: "06 no base64", body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":"???"}]}`, partial: map[int]string{1: "not base64"}},
		{name: "12 two dimensions", body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1,0,0]}]}`, err: "3 dimensions after one of 2"},
		{name: "13 not of unit length", body: `{"data":[{"index":0,"embedding":[7,0]},{"index":1,"embedding":[0.001,0.001]}]}`},
		{name: "bare list of llama.cpp", body: `[{"index":0,"embedding":[[1,0]]},{"index":1,"embedding":[[1,1]]}]`},
		{name: "a vector for each token", body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[[1,1],[1,2]]}]}`, partial: map[int]string{1: "pooling"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, replies(status(200, tt.body)), func(t *testing.T, w *world) {
				got, err := w.embed(t, "a", "b")
				switch {
				case tt.err != "":
					wantError(t, err, tt.err)
					if got != nil {
						t.Errorf("vectors in spite of an error: %v", got)
					}
				case tt.partial != nil:
					wantPartial(t, err, tt.partial)
					whole(t, got, 1)
				default:
					if err != nil {
						t.Fatal(err)
					}
					whole(t, got)
				}
				for i, v := range got {
					if v != nil && math.Abs(math.Hypot(float64(v[0]), float64(v[1]))-1) > 1e-6 {
						t.Errorf("vector %d has not unit length: %v", i, v)
					}
				}
			})
		})
	}
}

func TestEmbedRefusals(t *testing.T) {
	over := func(n int, reply modeltest.Reply) func([]string) modeltest.Reply {
		return func(texts []string) modeltest.Reply {
			if len(texts) > n {
				return reply
			}
			return nil
		}
	}
	holds := func(word string, reply modeltest.Reply) func([]string) modeltest.Reply {
		return func(texts []string) modeltest.Reply {
			for _, s := range texts {
				if s == word {
					return reply
				}
			}
			return nil
		}
	}
	all := func(reply modeltest.Reply) func([]string) modeltest.Reply { return over(0, reply) }
	dashscope := `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Value error, batch size is invalid, it should not be larger than 10.: input.contents","type":"InvalidParameter","param":null,"code":"InvalidParameter"},"request_id":"x"}`
	tei := `{"message":"batch size %d > maximum allowed batch size 32","code":422,"type":"validation"}`
	tests := []struct {
		name    string
		refuse  func([]string) modeltest.Reply
		texts   int
		batch   int
		sizes   []int // of the requests; nil: not looked at
		most    int   // requests
		partial map[int]string
		err     string
	}{
		{name: "05 literal NaN", texts: 8, refuse: holds("text5", status(200, `{"data":[{"index":0,"embedding":[NaN,1]}]}`)), most: 7, partial: map[int]string{5: "NaN or infinity"}},
		{name: "05 NaN as error 500", texts: 8, refuse: holds("text5", fails(500, "failed to encode response: json: unsupported value: NaN")), most: 7, partial: map[int]string{5: "unsupported value"}},
		{name: "07 DashScope", texts: 25, refuse: over(10, status(400, dashscope)), sizes: []int{25, 10, 10, 5}},
		{name: "07 no number", texts: 25, refuse: over(10, fails(400, "batch size is invalid")), sizes: []int{25, 12, 6, 6, 6, 6, 1}},
		{name: "07 other words", texts: 25, refuse: over(10, fails(400, "too many inputs in one request, limit 10")), sizes: []int{25, 10, 10, 5}},
		{name: "07 OpenAI's words", texts: 25, refuse: over(20, fails(400, "Invalid 'input': array too long. Expected an array with maximum length 20, but got an array with length 25 instead.")), sizes: []int{25, 20, 5}},
		{name: "08 TEI", texts: 66, batch: 66, refuse: over(32, status(422, fmt.Sprintf(tei, 66))), sizes: []int{66, 32, 32, 2}},
		{name: "08 payload too large", texts: 8, refuse: over(4, status(413, "")), sizes: []int{8, 4, 4}},
		{name: "09 llama.cpp", texts: 8, refuse: holds("text2", fails(500, "input (518 tokens) is too large to process. increase the physical batch size (current batch size: 512)")), sizes: []int{8, 4, 2, 2, 1, 1, 4}, partial: map[int]string{2: "-ub"}},
		{name: "09 too long for OpenAI", texts: 4, refuse: holds("text0", fails(400, "This model's maximum context length is 8192 tokens")), most: 6, partial: map[int]string{0: "smaller chunks"}},
		{name: "one text is refused for a reason of its own", texts: 4, refuse: holds("text3", fails(400, "inappropriate content")), most: 7, partial: map[int]string{3: "inappropriate"}},
		{name: "everything is refused", texts: 32, refuse: all(fails(400, "Model does not exist")), sizes: []int{32, 1}, err: "Model does not exist"},
		{name: "14 white space", texts: 0, sizes: nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, replies(limited(tt.refuse)), func(t *testing.T, w *world) {
				w.cfg.Batch = tt.batch
				got, err := w.embed(t, numbered(tt.texts)...)
				without := []int{}
				for i := range tt.partial {
					without = append(without, i)
				}
				switch {
				case tt.err != "":
					wantError(t, err, tt.err)
				case tt.partial != nil:
					wantPartial(t, err, tt.partial)
				case err != nil:
					t.Fatal(err)
				}
				whole(t, got, without...)
				if n := sizes(t, w); tt.sizes != nil && fmt.Sprint(n) != fmt.Sprint(tt.sizes) || tt.most > 0 && len(n) > tt.most {
					t.Errorf("requests of %v, want %v, at most %d", n, tt.sizes, tt.most)
				}
			})
		})
	}
	t.Run("07 remembered", func(t *testing.T) {
		bubble(t, replies(limited(over(10, status(400, dashscope)))), func(t *testing.T, w *world) {
			e := w.embedder(t)
			for range 2 {
				got, err := e.Embed(t.Context(), model.Document, numbered(20))
				if err != nil {
					t.Fatal(err)
				}
				whole(t, got)
			}
			if n := sizes(t, w); fmt.Sprint(n) != "[20 10 10 10 10]" || e.Batch() != 10 {
				t.Errorf("requests of %v, batch %d", n, e.Batch())
			}
		})
	})
	t.Run("12 dimension changes between batches", func(t *testing.T) {
		bubble(t, replies(status(200, `{"data":[{"embedding":[1,0]}]}`), status(200, `{"data":[{"embedding":[1,0,0]}]}`)), func(t *testing.T, w *world) {
			w.cfg.Batch = 1
			_, err := w.embed(t, "a", "b")
			wantError(t, err, "3 dimensions after one of 2")
		})
	})
	t.Run("12 other dimension than asked for", func(t *testing.T) {
		bubble(t, replies(limited(nil)), func(t *testing.T, w *world) {
			w.cfg.Dimensions = 256
			_, err := w.embed(t, "text1")
			wantError(t, err, "2 dimensions, 256 were asked for")
			if !strings.Contains(w.Requests()[0].Body, `"dimensions":256`) {
				t.Error(w.Requests()[0].Body)
			}
		})
	})
	t.Run("14 white space is not sent", func(t *testing.T) {
		bubble(t, replies(limited(nil)), func(t *testing.T, w *world) {
			got, err := w.embed(t, "text0", " \n　", "text2", "")
			wantPartial(t, err, map[int]string{1: "no text", 3: "no text"})
			whole(t, got, 1, 3)
			if fmt.Sprint(sizes(t, w)) != "[2]" {
				t.Error(sizes(t, w))
			}
		})
	})
	t.Run("a text longer than the model's window", func(t *testing.T) {
		bubble(t, replies(limited(nil)), func(t *testing.T, w *world) {
			w.cfg.Model = "BAAI/bge-large-zh-v1.5"
			e := w.embedder(t)
			for _, n := range []int{500, 1100, 1100} {
				if _, err := e.Embed(t.Context(), model.Document, []string{strings.Repeat("学", n) + "t1"}); err != nil {
					t.Fatal(err)
				}
				if want := min(n/1000, 1); len(w.warnings) != want {
					t.Errorf("after %d characters: %q", n, w.warnings)
				}
			}
		})
	})
	t.Run("encoding_format is refused", func(t *testing.T) {
		refuse := func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), "encoding_format") {
				fails(400, "unknown field encoding_format")(w, r)
				return
			}
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			limited(nil)(w, r)
		}
		bubble(t, replies(refuse), func(t *testing.T, w *world) {
			w.cfg.Batch = 1
			got, err := w.embed(t, "text0", "text1")
			if err != nil || len(w.Requests()) != 3 {
				t.Errorf("%v, %d requests", err, len(w.Requests()))
			}
			whole(t, got)
		})
	})
}

func TestEmbedRetries(t *testing.T) {
	slow := func(header ...string) modeltest.Reply {
		return status(429, `{"error":{"message":"slow down"}}`, header...)
	}
	ok := limited(nil)
	date := time.Date(2000, 1, 1, 0, 0, 7, 0, time.UTC).Format(http.TimeFormat) // a bubble begins at midnight
	tests := []struct {
		name     string
		replies  []modeltest.Reply
		requests int
		min, max time.Duration // all waiting together
		err      string
	}{
		{"10 seconds", replies(slow("Retry-After", "1"), ok), 2, time.Second, 1100 * time.Millisecond, ""},
		{"10 date", replies(slow("Retry-After", date), ok), 2, 7 * time.Second, 7500 * time.Millisecond, ""},
		{"10 milliseconds", replies(slow("retry-after-ms", "300"), ok), 2, 300 * time.Millisecond, 330 * time.Millisecond, ""},
		{"10 an hour", replies(slow("Retry-After", "3600")), 1, 0, 0, "asks to wait 1h0m0s, the limit is 1m0s"},
		{"10 quota", replies(status(429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`)), 1, 0, 0, "quota"},
		{"10 Arrearage", replies(status(429, `{"code":"Arrearage","message":"Access denied"}`)), 1, 0, 0, "Access denied"},
		{"10 no header", replies(slow(), slow(), ok), 3, 750 * time.Millisecond, 2250 * time.Millisecond, ""},
		{"11 TEI 424", replies(fails(424, "backend"), ok), 2, 250 * time.Millisecond, 750 * time.Millisecond, ""},
		{"11 503 busy", replies(fails(503, "server busy, please try again. maximum pending requests exceeded"), ok), 2, 250 * time.Millisecond, 750 * time.Millisecond, ""},
		{"11 529", replies(fails(529, "overloaded"), ok), 2, 250 * time.Millisecond, 750 * time.Millisecond, ""},
		{"11 502 HTML for ever", replies(status(502, "<html><head><title>502 Bad Gateway</title></head>\n<body>…</body></html>")), 5, 3750 * time.Millisecond, 11250 * time.Millisecond, "502 Bad Gateway"},
		{"connection breaks", replies(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ok), 2, 250 * time.Millisecond, 750 * time.Millisecond, ""},
		{"answer breaks", replies(modeltest.Cut(`{"data":[`), ok), 2, 250 * time.Millisecond, 750 * time.Millisecond, ""},
		{"401", replies(fails(401, "bad key")), 1, 0, 0, "401 Unauthorized: bad key"},
		{"404", replies(fails(404, "model not found")), 1, 0, 0, "model not found"},
		{"409", replies(fails(409, "conflict")), 1, 0, 0, "409"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, tt.replies, func(t *testing.T, w *world) {
				from := time.Now()
				got, err := w.embed(t, "text0")
				took := time.Since(from)
				if tt.err != "" {
					wantError(t, err, tt.err)
				} else if err != nil {
					t.Fatal(err)
				}
				whole(t, got)
				if n := len(w.Requests()); n != tt.requests || took < tt.min || took > tt.max {
					t.Errorf("%d requests in %v, want %d in %v to %v", n, took, tt.requests, tt.min, tt.max)
				}
			})
		})
	}
}

func TestEmbedRequests(t *testing.T) {
	const english = "Represent this sentence for searching relevant passages: "
	none, custom := "", "custom: "
	tests := []struct {
		name, base, model string
		prefix            *string
		query, document   string // body of the requests, after the model
	}{
		{"15 e5", "http://h/v1", "intfloat/multilingual-e5-small", nil, `"encoding_format":"float","input":["query: x"]`, `"encoding_format":"float","input":["passage: x"]`},
		{"15 e5 instruct", "http://h/v1", "multilingual-e5-large-instruct", nil, `"encoding_format":"float","input":["Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: x"]`, `"encoding_format":"float","input":["x"]`},
		{"15 bge-zh", "http://h/v1", "BAAI/bge-large-zh-v1.5", nil, `"encoding_format":"float","input":["为这个句子生成表示以用于检索相关文章：x"]`, `"encoding_format":"float","input":["x"]`},
		{"15 bge-en", "http://h/v1", "bge-small-en-v1.5", nil, `"encoding_format":"float","input":["` + english + `x"]`, `"encoding_format":"float","input":["x"]`},
		{"15 bge-m3", "http://h/v1", "BAAI/bge-m3", nil, `"encoding_format":"float","input":["x"]`, `"encoding_format":"float","input":["x"]`},
		{"15 qwen3", "http://h/v1", "Qwen/Qwen3-Embedding-0.6B", nil, `"encoding_format":"float","input":["Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:x"]`, `"encoding_format":"float","input":["x"]`},
		{"15 nomic", "http://h/v1", "nomic-embed-text:latest", nil, `"encoding_format":"float","input":["search_query: x"]`, `"encoding_format":"float","input":["search_document: x"]`},
		{"15 none", "http://h/v1", "text-embedding-3-small", nil, `"encoding_format":"float","input":["x"]`, `"encoding_format":"float","input":["x"]`},
		{"15 switched off", "http://h/v1", "multilingual-e5-small", &none, `"encoding_format":"float","input":["x"]`, `"encoding_format":"float","input":["x"]`},
		{"15 of the user's own", "http://h/v1", "m", &custom, `"encoding_format":"float","input":["custom: x"]`, `"encoding_format":"float","input":["custom: x"]`},
		{"15 Voyage", "https://api.voyageai.com/v1", "voyage-3", nil, `"input":["x"],"input_type":"query"`, `"input":["x"],"input_type":"document"`},
		{"15 Jina", "https://api.jina.ai", "jina-embeddings-v3", nil, `"input":["x"],"task":"retrieval.query"`, `"input":["x"],"task":"retrieval.passage"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := NewEmbedder(Config{BaseURL: tt.base, Model: tt.model, QueryPrefix: tt.prefix, DocumentPrefix: tt.prefix})
			if err != nil {
				t.Fatal(err)
			}
			for purpose, want := range map[model.Purpose]string{model.Query: tt.query, model.Document: tt.document} {
				prefix := e.Info().DocumentPrefix
				if purpose == model.Query {
					prefix = e.Info().QueryPrefix
				}
				j := &job{e: e, purpose: purpose, texts: []string{prefix + "x"}}
				body, err := marshal(j.request([]int{0}), nil)
				if err != nil {
					t.Fatal(err)
				}
				rest, cut := strings.CutPrefix(string(body), "{")
				rest, _ = strings.CutSuffix(rest, "}")
				rest = strings.Replace(rest, fmt.Sprintf(`,"model":%q`, tt.model), "", 1)
				if !cut || rest != want {
					t.Errorf("purpose %d sends %s, want %s", purpose, rest, want)
				}
			}
		})
	}
}

func TestExtraBody(t *testing.T) {
	bubble(t, replies(limited(nil)), func(t *testing.T, w *world) {
		w.cfg.ExtraBody = map[string]json.RawMessage{"encoding_format": json.RawMessage("null"), "user": json.RawMessage(`"me"`)}
		if _, err := w.embed(t, "text0"); err != nil {
			t.Fatal(err)
		}
		if got := w.Requests()[0].Body; got != `{"input":["text0"],"model":"m","user":"me"}` {
			t.Error(got)
		}
	})
}

func TestConformance(t *testing.T) {
	bubble(t, replies(modeltest.Endpoint("答案 [1]").ServeHTTP), func(t *testing.T, w *world) {
		modeltest.Embedder(t, w.embedder(t))
		g, err := NewGenerator(w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		modeltest.Generator(t, g, model.Request{Messages: []model.Message{{Role: "user", Content: "?"}}})
		r, err := NewReranker(w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		modeltest.Reranker(t, r, &record.Query{Text: "tin"}, []*record.Hit{{Text: "zzz"}, {Text: "n"}, {Text: "tin"}})
	})
}
