package openai

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"kb/pkg/model"
	"kb/pkg/model/modeltest"
)

const (
	ni   = `data: {"choices":[{"index":0,"delta":{"content":"你"}}]}`
	hao  = `data: {"choices":[{"index":0,"delta":{"content":"好"}}]}`
	stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done = `data: [DONE]`
)

func lines(s ...string) string { return strings.Join(s, "\n") }

func TestChatStreams(t *testing.T) {
	think := func(parts ...string) string {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(modeltest.Content(p))
		}
		return b.String() + modeltest.Finish("stop") + modeltest.Done
	}
	tests := []struct {
		name, stream string
		model        string
		text         string // "" is 你好
		reasoning    string
		finish       string // "" is stop
		usage        int    // completion tokens
		err          string
		warn         string
	}{
		{name: "17 comments and fields", stream: ": ping\n\n:\n\nretry: 10\nid: 7\nevent: message\n" + ni + "\n\n: OPENROUTER PROCESSING\n\ndata:\n\ndata: \n\nevent: ping\ndata:\n\n" + hao + "\n\n" + stop + "\n\n" + done + "\n\n"},
		{name: "18 no space", stream: strings.ReplaceAll(lines(ni, "", hao, "", stop, "", done, "", ""), "data: ", "data:")},
		{name: "18 CRLF", stream: strings.ReplaceAll(lines(ni, "", hao, "", stop, "", done, "", ""), "\n", "\r\n")},
		{name: "18 BOM", stream: "\ufeff" + lines(ni, "", hao, "", stop, "", done, "", "")},
		{name: "18 one newline between events", stream: lines(ni, hao, stop, done, "")},
		{name: "18 data in many lines", stream: lines(`data: {"choices":[{"index":0,`, `data: "delta":{"content":"你好"},`, `data: "finish_reason":"stop"}]}`, "", done, "", "")},
		{name: "18 DONE without newline", stream: lines(ni, "", hao, "", done)},
		{name: "18 last event without newline", stream: lines(ni, "", hao, "", stop)},
		{name: "19 odd chunks", stream: lines(`data: {"choices":[],"prompt_filter_results":[]}`, "", `data: {"choices":null}`, "", `data: {"choices":[{"delta":{"role":"assistant","content":null}}],"usage":null}`, "", `data: {"id":7,"created":"now","choices":[{"delta":{}}]}`, "", ni, "", hao, "",
			`data: {"choices":[{"delta":{},"finish_reason":""}]}`, "", `data: {"choices":[{"finish_reason":"stop"}],"error":null}`, "", `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}`, "", done, ""), usage: 4},
		{name: "20 no DONE", stream: lines(ni, "", hao, "", stop, "", "")},
		{name: "21 no end", stream: lines(ni, "", hao, "", ""), err: "stream ended early"},
		{name: "21 cut within a message", stream: lines(ni, "", hao, "", `data: {"choices":[{"del`), err: `stream ended early: the answer is cut off; the server sent: {"choices":[{"del`},
		{name: "22 error and DONE", stream: lines(ni, "", hao, "", `data: {"error":{"message":"out of memory","code":500}}`, "", done, ""), err: "500 Internal Server Error: out of memory"},
		{name: "22 error as text", stream: lines(ni, "", hao, "", `data: {"error":"model crashed"}`, "", done, ""), err: "model crashed"},
		{name: "22 error field", stream: lines(ni, "", hao, "", `error: {"code":500,"message":"decode failed"}`, ""), err: "decode failed"},
		{name: "22 event error", stream: lines(ni, "", hao, "", "event: error", `data:{"message":"throttled"}`, "", ""), err: "throttled"},
		{name: "22 event error as plain text", stream: lines(ni, "", hao, "", "event: error", `data: the backend is gone`, "", ""), err: "the backend is gone"},
		{name: "22 code and message", stream: lines(ni, "", hao, "", `data:{"code":"DataInspectionFailed","message":"inappropriate"}`, "", ""), err: "inappropriate"},
		{name: "22 bare line", stream: lines(ni, "", hao, "", `{"error":{"message":"bare"}}`, ""), err: "bare"},
		{name: "22 bare lines", stream: lines(ni, "", hao, "", `{`, ` "error": {`, `  "message": "pretty"`, ` }`, `}`, ""), err: "pretty"},
		{name: "22 error beside choices", stream: lines(ni, "", hao, "", `data: {"error":{"code":502,"message":"upstream"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`, "", ""), err: "upstream"},
		{name: "22 damaged message", stream: lines(ni, "", hao, "", `data: {"choices":[{"delta":}`, "", stop, "", done, ""), err: "damaged message"},
		{name: "24 length", stream: lines(ni, "", hao, "", `data: {"choices":[{"delta":{},"finish_reason":"length"}]}`, "", done, ""), finish: "length"},
		{name: "24 content filter", stream: lines(ni, "", hao, "", `data: {"choices":[{"delta":{},"finish_reason":"sensitive"}]}`, "", done, ""), finish: "content_filter"},
		{name: "24 unknown", stream: lines(ni, "", hao, "", `data: {"choices":[{"delta":{},"finish_reason":"bored"}]}`, "", done, ""), finish: "bored", warn: `finish_reason "bored"`},
		{name: "24 server failed", stream: lines(ni, "", hao, "", `data: {"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}`, "", done, ""), err: "broke the answer off"},
		{name: "26 reasoning_content", stream: `data: {"choices":[{"delta":{"reasoning_content":"hm [1]","content":null}}]}` + "\n\n" + think("你好"), reasoning: "hm [1]"},
		{name: "26 reasoning", stream: `data: {"choices":[{"delta":{"reasoning":"hm","content":""}}]}` + "\n\n" + think("你好"), reasoning: "hm"},
		{name: "26 both fields", stream: `data: {"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}` + "\n\n" + think("你好"), reasoning: "hm"},
		{name: "26 parts", stream: `data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"你"}]}}]}` + "\n\n" + think("好"), reasoning: "hm"},
		{name: "26 think split", stream: think("\n<", "thi", "nk>h", "m</th", "ink", ">\n\n", "\n你", "好"), reasoning: "hm"},
		{name: "26 only a closing tag", model: "deepseek-r1:7b", stream: think("h", "m</", "think>\n", "你好"), reasoning: "hm"},
		{name: "26 held for nothing", model: "qwq", stream: think("你", "好")},
		{name: "26 a closing tag by surprise", stream: think("hm</thi", "nk>\n你好"), text: "hm你好", warn: "without an opening tag"},
		{name: "26 tag in the text", stream: think("你好 <think> is", " a tag, </think> too"), text: "你好 <think> is a tag, too", warn: "opening"},
		{name: "26 never closed", stream: think("<think>hm"), text: "-", reasoning: "hm"},
		{name: "31 600 empty lines", stream: strings.Repeat("\n", 600) + lines(ni, "", hao, "", done)},
		{name: "31 line of 2 MB", stream: `data: {"pad":"` + strings.Repeat("x", 2<<20) + `","choices":[{"delta":{"content":"你好"}}]}` + "\n\n" + done},
	}
	for _, tt := range tests {
		for _, way := range []struct {
			name  string
			reply modeltest.Reply
		}{{"whole", modeltest.Stream(tt.stream)}, {"by bytes", modeltest.Bytes(tt.stream)}} {
			if len(tt.stream) > 1<<20 && way.name != "whole" {
				continue
			}
			t.Run(tt.name+"/"+way.name, func(t *testing.T) {
				bubble(t, replies(way.reply), func(t *testing.T, w *world) {
					w.cfg.Model = tt.model
					got := w.chat(t)
					text := pick(tt.text, "你好")
					if text == "-" {
						text = ""
					}
					if got.text != text || got.reasoning != tt.reasoning {
						t.Errorf("text %q, reasoning %q", got.text, got.reasoning)
					}
					if tt.err != "" {
						wantError(t, got.err, tt.err)
					} else if got.err != nil || got.finish != pick(tt.finish, "stop") {
						t.Errorf("error %v, finish %q", got.err, got.finish)
					}
					if tt.usage > 0 && (got.usage == nil || got.usage.CompletionTokens != tt.usage) {
						t.Errorf("usage %+v", got.usage)
					}
					if warned := strings.Join(w.warnings, "|"); (tt.warn == "") != (warned == "") || !strings.Contains(warned, tt.warn) {
						t.Errorf("warnings %q", warned)
					}
					if len(w.Requests()) != 1 {
						t.Errorf("%d requests", len(w.Requests()))
					}
				})
			})
		}
	}
}

func TestChatNotStreamed(t *testing.T) {
	tests := []struct{ name, body, text, finish, err string }{
		{"23 whole completion", `{"id":1,"choices":[{"message":{"role":"assistant","content":"<think>hm</think>你好"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, "你好", "stop", ""},
		{"23 pretty and without finish_reason", "{\n \"choices\": [\n  {\"message\": {\"content\": \"你好\"}}\n ]\n}\n", "你好", "stop", ""},
		{"23 error", `{"error":{"message":"no model loaded"}}`, "", "", "no model loaded"},
		{"23 error as text", `{"error":"no model loaded"}`, "", "", "no model loaded"},
		{"23 nothing", ``, "", "", "ended early"},
		{"23 HTML", "<!DOCTYPE html>\n<p>log in", "", "", "the server sent: <!DOCTYPE html>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, replies(status(200, tt.body)), func(t *testing.T, w *world) {
				got := w.chat(t)
				if tt.err != "" {
					wantError(t, got.err, tt.err)
				} else if got.err != nil {
					t.Fatal(got.err)
				}
				if got.text != tt.text || got.finish != tt.finish {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

func TestChatFallbacks(t *testing.T) {
	answer := modeltest.Stream(modeltest.Content("你好"), modeltest.Finish("stop"), modeltest.Done)
	unsupported := func(param, message string) modeltest.Reply {
		return status(400, fmt.Sprintf(`{"error":{"message":%q,"code":"unsupported","param":%q}}`, message, param))
	}
	maxTokens := unsupported("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	temperature := unsupported("temperature", "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.")
	options := fails(400, "unknown field: stream_options")
	tests := []struct {
		name    string
		replies []modeltest.Reply
		last    string // body of the last request, after the messages
		err     string
	}{
		{"27 nothing refused", replies(answer), `"max_tokens":9,"stream":true,"stream_options":{"include_usage":true},"temperature":0.2`, ""},
		{"27 max_tokens", replies(maxTokens, answer), `"max_completion_tokens":9,"stream":true,"stream_options":{"include_usage":true},"temperature":0.2`, ""},
		{"27 temperature", replies(temperature, answer), `"max_tokens":9,"stream":true,"stream_options":{"include_usage":true}`, ""},
		{"27 stream_options", replies(options, answer), `"max_tokens":9,"stream":true,"temperature":0.2`, ""},
		{"27 all three", replies(options, maxTokens, temperature, answer), `"max_completion_tokens":9,"stream":true`, ""},
		{"27 twice", replies(temperature, temperature), `"max_tokens":9,"stream":true,"stream_options":{"include_usage":true}`, "Only the default"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, tt.replies, func(t *testing.T, w *world) {
				warm := 0.2
				w.cfg.Temperature, w.cfg.MaxTokens, w.cfg.Model = &warm, 9, ""
				g, err := NewGenerator(w.cfg)
				if err != nil {
					t.Fatal(err)
				}
				got := listen(t.Context(), g)
				if tt.err != "" {
					wantError(t, got.err, tt.err)
				} else if got.err != nil || got.text != "你好" {
					t.Errorf("%+v", got)
				}
				asked := len(w.Requests())
				if asked != len(tt.replies) {
					t.Errorf("%d requests", asked)
				}
				if tt.err == "" { // remembered: the next answer takes one request
					listen(t.Context(), g)
					if n := len(w.Requests()) - asked; n != 1 {
						t.Errorf("%d requests for the second answer", n)
					}
				}
				all := w.Requests()
				var sent map[string]json.RawMessage
				if err := json.Unmarshal([]byte(all[len(all)-1].Body), &sent); err != nil || sent["messages"] == nil {
					t.Fatal(err, sent)
				}
				delete(sent, "messages")
				if body, _ := json.Marshal(sent); string(body) != "{"+tt.last+"}" {
					t.Errorf("sent %s, want %s", body, tt.last)
				}
			})
		})
	}
}

func TestChatConnection(t *testing.T) {
	answer := modeltest.Stream(modeltest.Content("你好"), modeltest.Finish("stop"), modeltest.Done)
	abort := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	tests := []struct {
		name      string
		replies   []modeltest.Reply
		requests  int
		text, err string
	}{
		{"25 cut after three tokens", replies(modeltest.Cut(modeltest.Content("a"), modeltest.Content("b"), modeltest.Content("c")), answer), 1, "abc", "EOF"},
		{"25 cut before the first token", replies(modeltest.Cut(": wait\n\n"), answer), 2, "你好", ""},
		{"25 cut before the header", replies(abort, answer), 2, "你好", ""},
		{"25 cut after the finish", replies(modeltest.Cut(modeltest.Content("a"), modeltest.Finish("stop"))), 1, "a", ""},
		{"25 error 503 in the stream, before the first token", replies(modeltest.Stream(modeltest.Data(`{"error":{"code":503,"message":"busy"}}`)), answer), 2, "你好", ""},
		{"25 error 503 in the stream, after it", replies(modeltest.Stream(modeltest.Content("a"), modeltest.Data(`{"error":{"code":503,"message":"busy"}}`)), answer), 1, "a", "busy"},
		{"25 busy", replies(fails(503, "Loading model"), answer), 2, "你好", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, tt.replies, func(t *testing.T, w *world) {
				got := w.chat(t)
				if tt.err != "" {
					wantError(t, got.err, tt.err)
				} else if got.err != nil {
					t.Fatal(got.err)
				}
				if got.text != tt.text || len(w.Requests()) != tt.requests {
					t.Errorf("text %q, %d requests", got.text, len(w.Requests()))
				}
			})
		})
	}
	t.Run("25 reset", testReset)
}

// testReset uses a real socket: only that has a reset.
func testReset(t *testing.T) {
	script := modeltest.NewScript(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	}, func(w http.ResponseWriter, r *http.Request) {
		modeltest.Stream(modeltest.Content("a"))(w, r)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	})
	server := httptest.NewServer(script)
	defer server.Close()
	g, err := NewGenerator(Config{BaseURL: server.URL, Backoff: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if got := listen(t.Context(), g); got.text != "a" || got.err == nil || len(script.Requests()) != 2 {
		t.Errorf("%+v after %d requests", got, len(script.Requests()))
	}
}

func TestChatSilence(t *testing.T) {
	pause := func(d time.Duration) { time.Sleep(d) }
	limits := Timeouts{FirstByte: 10 * time.Second, Idle: 10 * time.Second}
	tests := []struct {
		name      string
		reply     modeltest.Reply
		text, err string
		took      time.Duration
	}{
		{"28 slow but alive", func(w http.ResponseWriter, r *http.Request) {
			pause(5 * time.Second)
			modeltest.Stream()(w, r)
			for range 10 {
				pause(9 * time.Second)
				modeltest.Send(w, ": still here\n\n")
			}
			modeltest.Send(w, modeltest.Content("你好")+modeltest.Finish("stop")+modeltest.Done)
		}, "你好", "", 95 * time.Second},
		{"28 silence before the header", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "", "nothing came for 10s", 10 * time.Second},
		{"28 silence in the stream", func(w http.ResponseWriter, r *http.Request) {
			modeltest.Stream(modeltest.Content("a"))(w, r)
			<-r.Context().Done()
		}, "a", "nothing came for 10s", 10 * time.Second},
		{"28 no end after the finish", func(w http.ResponseWriter, r *http.Request) {
			modeltest.Stream(modeltest.Content("a"), modeltest.Finish("stop"))(w, r)
			for r.Context().Err() == nil {
				pause(time.Second)
				modeltest.Send(w, ": ping\n\n")
			}
		}, "a", "", 5 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, replies(tt.reply), func(t *testing.T, w *world) {
				w.cfg.Timeouts = limits
				from := time.Now()
				got := w.chat(t)
				took := time.Since(from)
				if tt.err != "" {
					wantError(t, got.err, tt.err)
				} else if got.err != nil {
					t.Fatal(got.err)
				}
				if got.text != tt.text || took != tt.took || len(w.Requests()) != 1 {
					t.Errorf("text %q after %v and %d requests", got.text, took, len(w.Requests()))
				}
			})
		})
	}
}

func TestChatStop(t *testing.T) {
	for _, name := range []string{"29 loop left", "29 context cancelled"} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan time.Time, 1)
			endless := func(w http.ResponseWriter, r *http.Request) {
				modeltest.Stream(modeltest.Content("a"))(w, r)
				<-r.Context().Done()
				gone <- time.Now()
			}
			bubble(t, replies(endless), func(t *testing.T, w *world) {
				g, err := NewGenerator(w.cfg)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var last error
				for _, err := range g.Generate(ctx, model.Request{}) {
					if last = err; err != nil || name == "29 loop left" {
						break
					}
					cancel()
				}
				from := time.Now()
				if at := <-gone; at.Sub(from) > time.Second {
					t.Errorf("the server noticed after %v", at.Sub(from))
				}
				if name != "29 loop left" && !errors.Is(last, context.Canceled) {
					t.Errorf("error %v", last)
				}
			})
		})
	}
}

func TestLargeAndPacked(t *testing.T) {
	t.Run("31 gzip", func(t *testing.T) {
		packed := func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			for _, s := range []string{modeltest.Content("你"), modeltest.Content("好"), modeltest.Done} {
				io.WriteString(z, s)
				z.Flush()
				http.NewResponseController(w).Flush()
			}
		}
		bubble(t, replies(packed), func(t *testing.T, w *world) {
			if got := w.chat(t); got.err != nil || got.text != "你好" {
				t.Errorf("%+v", got)
			}
		})
	})
	huge := func(w http.ResponseWriter, r *http.Request) {
		block := []byte(strings.Repeat(" ", 1<<20))
		for range 66 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	t.Run("31 over the cap", func(t *testing.T) {
		bubble(t, replies(huge), func(t *testing.T, w *world) {
			_, err := w.embed(t, "a")
			wantError(t, err, "larger than 64 MiB")
		})
	})
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{lines(ni, "", hao, "", stop, "", done), "event: error\ndata: x\n\n", "{\n\"error\":\n{}}\n", "error: {}\n", "\ufeffdata: {}\n: c\n\nid: 1\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		whole, parts := newEventReader(strings.NewReader(s)), newEventReader(iotestOneByte{strings.NewReader(s)})
		for n := 0; ; n++ {
			a, errA := whole.next()
			b, errB := parts.next()
			if string(a.data) != string(b.data) || a.done != b.done || a.isError != b.isError || (errA == nil) != (errB == nil) {
				t.Fatalf("%q/%v in one piece, %q/%v by bytes", a.data, errA, b.data, errB)
			}
			if errA != nil {
				return
			}
			if n > len(s) {
				t.Fatal("more events than bytes")
			}
			parsePiece(a.data)
		}
	})
}

type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1)]) }

// Reasoning and text are parted in the same way wherever the pieces are cut.
func FuzzThinker(f *testing.F) {
	f.Add("<think>a</think>b", 3, false)
	f.Add("a</think>b", 2, true)
	f.Add(" <thi", 1, false)
	f.Fuzz(func(t *testing.T, s string, cut int, hold bool) {
		cut = max(0, min(cut, len(s)))
		run := func(parts ...string) (text, reasoning string) {
			th := thinker{hold: hold}
			for _, p := range parts {
				a, b := th.write(p)
				text, reasoning = text+a, reasoning+b
			}
			a, b := th.end(false)
			return text + a, reasoning + b
		}
		text, reasoning := run(s)
		if a, b := run(s[:cut], s[cut:]); a != text || b != reasoning {
			t.Errorf("%q and %q in one piece, %q and %q in two", text, reasoning, a, b)
		}
	})
}
