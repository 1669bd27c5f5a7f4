package answer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"kb/pkg/model"
	"kb/pkg/record"
)

// scripted is a chat model that says what it was told to.
type scripted struct {
	events   []model.Event
	err      error
	offline  bool
	requests []model.Request
}

func (s *scripted) Name() string  { return "scripted-1" }
func (s *scripted) Offline() bool { return s.offline }

func (s *scripted) Generate(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	s.requests = append(s.requests, req)
	return func(yield func(model.Event, error) bool) {
		for _, e := range s.events {
			if !yield(e, nil) {
				return
			}
		}
		if s.err != nil {
			yield(model.Event{}, s.err)
		}
	}
}

// says streams a text in small pieces and stops.
func says(text string) *scripted {
	s := &scripted{}
	for r := range strings.SplitSeq(text, "") {
		s.events = append(s.events, model.Event{Text: r})
	}
	s.events = append(s.events, model.Event{Finish: "stop", Usage: &record.Usage{PromptTokens: 7, CompletionTokens: 3}})
	return s
}

func query(text string) *record.Query {
	return &record.Query{ID: "q1", Text: text, Chunks: 61, Documents: 12}
}

func hits(texts ...string) []*record.Hit {
	var out []*record.Hit
	for i, t := range texts {
		out = append(out, &record.Hit{Query: "q1", Rank: i + 1, Score: 0.9 - float64(i)/10, ID: fmt.Sprint("c", i), Path: fmt.Sprintf("notes/%c.md", 'a'+i), Line: 3, Headings: []string{"网关"}, Text: t})
	}
	return out
}

func zeros() io.Reader { return strings.NewReader(strings.Repeat("\x00", 64)) }

func TestAnswer(t *testing.T) {
	m := says("重启网关前先备份配置[1]。另见[9]和[0]。\n\n参考资料：\n[1] a.md\n[2] b.md")
	clock := time.Unix(100, 0)
	var deltas []string
	a, err := Answer(context.Background(), query("重启网关要做什么？"), hits("重启网关前先备份配置", "重启网关后检查端口"), Options{
		Generator: m, Rand: zeros(), Now: func() time.Time { clock = clock.Add(25 * time.Millisecond); return clock },
	}, func(d string) { deltas = append(deltas, d) })
	if err != nil {
		t.Fatal(err)
	}
	if want := "重启网关前先备份配置[1]。另见和。"; a.Text != want || strings.Join(deltas, "") != want {
		t.Errorf("text %q, deltas %q", a.Text, deltas)
	}
	if len(a.Passages) != 2 || len(a.Citations) != 1 || a.Citations[0].N != 1 || a.Citations[0].Path != "notes/a.md" {
		t.Errorf("passages %v, citations %v", a.Passages, a.Citations)
	}
	if !slices.Equal(a.Invalid, []int{0, 9}) || !a.Complete || a.Refused {
		t.Errorf("invalid %v, complete %v, refused %v", a.Invalid, a.Complete, a.Refused)
	}
	if len(a.Claims) != 2 || !a.Claims[0].Supported || a.Claims[1].Supported || a.Claims[1].Why != "没有引用" {
		t.Errorf("claims %+v", a.Claims)
	}
	if a.LatencyMS != 25 || a.Usage.PromptTokens != 7 || a.Model != "scripted-1" || a.Chunks != 61 {
		t.Errorf("latency %d, usage %v, model %s, chunks %d", a.LatencyMS, a.Usage, a.Model, a.Chunks)
	}
}

func TestRefusals(t *testing.T) {
	low, high := 0.08, 0.5
	for _, c := range []struct {
		name     string
		question string
		hits     []*record.Hit
		opt      Options
		conf     *float64
		model    string
		text     string
		reason   string
		calls    int
		refused  bool
	}{
		{"no hit", "黑洞是什么？", nil, Options{}, nil, "x", refusalZH, "searched 61 chunks of 12 documents; nothing found", 0, true},
		{"score", "What is it?", hits("x"), Options{MinScore: 0.95}, nil, "x", refusalEN,
			"searched 61 chunks of 12 documents; nearest: notes/a.md:3 › 网关 (too weak: score 0.90, wanted 0.95)", 0, true},
		{"score reached", "是什么", hits("网关"), Options{MinScore: 0.9}, nil, "网关[1]。", "网关[1]。", "", 1, false},
		{"floor", "黑洞是什么？", hits("x"), Options{}, &low, "x", refusalZH,
			"searched 61 chunks of 12 documents; nearest: notes/a.md:3 › 网关 (too weak: confidence 0.08, floor 0.31)", 0, true},
		{"above the floor", "黑洞是什么？", hits("网关"), Options{}, &high, "网关[1]。", "网关[1]。", "", 1, false},
		{"the model says so", "黑洞是什么？", hits("x", "y"), Options{}, nil, refusalZH, refusalZH,
			"searched 61 chunks of 12 documents; nearest: notes/a.md:3 › 网关 (the model found no answer in the 2 passages)", 1, true},
		{"with citations", "黑洞是什么？", hits("x"), Options{}, nil, "资料中没有找到相关内容[1]。", "资料中没有找到相关内容[1]。", "the model found no answer in the passage)", 1, true},
		{"other words", "黑洞是什么？", hits("x"), Options{}, nil, "根据提供的资料，无法回答这个问题。", "根据提供的资料，无法回答这个问题。", "the model", 1, true},
		{"English", "What is it?", hits("x"), Options{}, nil, "I'm sorry, but the passages don't mention that.", "I'm sorry, but the passages don't mention that.", "the model", 1, true},
		{"in free words", "黑洞是什么？", hits("x"), Options{}, nil, "我不知道。", "我不知道。", "the model", 1, true},
		{"in free English words", "What is it?", hits("x"), Options{}, nil, "I don’t know based on the notes.", "I don’t know based on the notes.", "the model", 1, true},
		{"the notes do not", "What is it?", hits("x"), Options{}, nil, "The notes do not mention quantum physics.", "The notes do not mention quantum physics.", "the model", 1, true},
		{"cited", "What is it?", hits("x"), Options{}, nil, "The notes do not mention quantum physics [1].", "The notes do not mention quantum physics [1].", "the model", 1, true},
		{"a cited lack", "Which form?", hits("the form is on page 3"), Options{}, nil, "The notes do not say which, but the form is on page 3 [1].", "The notes do not say which, but the form is on page 3 [1].", "", 1, false},
		{"an answer that denies", "周日几点考试？", hits("周日不安排考试。"), Options{}, nil, "周日没有安排考试，资料[1]。", "周日没有安排考试，资料[1]。", "", 1, false},
		{"a denial without citation", "怎么登录？", hits("x"), Options{}, nil, "如有问题无法登录，请联系管理员。", "如有问题无法登录，请联系管理员。", "", 1, false},
		{"an uncited answer", "考试在哪？", hits("在三楼。"), Options{}, nil, "在三楼。", "在三楼。", "", 1, false},
	} {
		m := says(c.model)
		q := query(c.question)
		q.Confidence, q.Floor = c.conf, 0.31
		c.opt.Generator, c.opt.Rand = m, zeros()
		var deltas strings.Builder
		a, err := Answer(context.Background(), q, c.hits, c.opt, func(d string) { deltas.WriteString(d) })
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if a.Refused != c.refused || a.Text != c.text || deltas.String() != a.Text || len(m.requests) != c.calls || !strings.Contains(a.Reason, c.reason) || (c.reason == "") != (a.Reason == "") {
			t.Errorf("%s: refused %v, %q (deltas %q), %d calls, reason %q", c.name, a.Refused, a.Text, deltas.String(), len(m.requests), a.Reason)
		}
	}
	offline := &scripted{offline: true, events: []model.Event{{Finish: "stop"}}}
	a, err := Answer(context.Background(), query("什么"), hits("x"), Options{Generator: offline}, nil)
	if err != nil || !a.Refused || a.Text != refusalZH {
		t.Errorf("offline: %+v, %v", a, err)
	}
	if len(offline.requests[0].Messages) != 0 {
		t.Error("a prompt was made for a generator that reads none")
	}
}

// A generator that copies notes must not make citations of what they cite.
func TestCopiedMarkers(t *testing.T) {
	m := &scripted{offline: true, events: []model.Event{{Text: "首都是巴黎(7)（1）。来源：¹ 【注】 `x [1]`[1]"}, {Finish: "stop"}}}
	a, err := Answer(context.Background(), query("首都在哪？"), hits("首都是巴黎[7]（1）。来源：¹ 【注】 `x [1]`", "x"), Options{Generator: m}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "首都是巴黎(7)（1）。来源：¹ 【注】 `x [1]`"; m.requests[0].Passages[0].Text != want || a.Text != want+"[1]" {
		t.Errorf("passage %q, text %q", m.requests[0].Passages[0].Text, a.Text)
	}
	if len(a.Citations) != 1 || len(a.Invalid) != 0 || !strings.Contains(a.Passages[0].Text, "[7]") {
		t.Errorf("citations %v, invalid %v, passage %q", a.Citations, a.Invalid, a.Passages[0].Text)
	}
}

func TestIncomplete(t *testing.T) {
	reset := errors.New("connection reset")
	for _, c := range []struct {
		name   string
		events []model.Event
		err    error
		text   string
		reason string
	}{
		{"reset", []model.Event{{Text: "先备份["}, {Text: "1"}}, reset, "先备份[1", "the answer was cut off: connection reset"},
		{"no finish", []model.Event{{Text: "先备份[1]。"}}, nil, "先备份[1]。", "the stream ended early"},
		{"length", []model.Event{{Text: "先备份[1]。"}, {Finish: "length"}}, nil, "先备份[1]。", "the answer was cut off at the model's length limit"},
		{"filter", []model.Event{{Finish: "content_filter"}}, nil, "", "the content filter of the model's server stopped the answer"},
		{"empty", []model.Event{{Reasoning: "hm [1]"}, {Finish: "stop"}}, nil, "", "the model returned an empty answer"},
		{"unknown", []model.Event{{Text: "先[1]"}, {Finish: "insufficient_system_resource"}}, nil, "先[1]", `the model's server ended the answer with "insufficient_system_resource"`},
	} {
		var thought strings.Builder
		a, err := Answer(context.Background(), query("先做什么？"), hits("先备份"), Options{
			Generator: &scripted{events: c.events, err: c.err}, Rand: zeros(), Reasoning: func(s string) { thought.WriteString(s) },
		}, nil)
		if !errors.Is(err, ErrIncomplete) || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if a == nil || a.Complete || a.Refused || a.Text != c.text || a.Reason != c.reason {
			t.Errorf("%s: %+v", c.name, a)
		}
		if c.name == "empty" && thought.String() != "hm [1]" {
			t.Errorf("reasoning %q", thought.String())
		}
	}
	a, err := Answer(context.Background(), query("x"), hits("x"), Options{Generator: &scripted{err: reset}, Rand: zeros()}, nil)
	if a != nil || !errors.Is(err, reset) || errors.Is(err, ErrIncomplete) {
		t.Errorf("without any text: %v, %v", a, err)
	}
}

func records(recs ...record.Record) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func collect(in iter.Seq2[record.Record, error]) (lines []string, err error) {
	for r, e := range in {
		if e != nil {
			return lines, e
		}
		switch r := r.(type) {
		case *record.Answer:
			lines = append(lines, "answer "+r.Query+" "+r.Text)
		case *record.Done:
			lines = append(lines, "done "+r.Query+" "+r.Text)
		case *record.Delta:
			lines = append(lines, "delta "+r.Query+" "+r.Text)
		case *record.Raw:
			lines = append(lines, "raw "+r.RecordKind)
		}
	}
	return lines, nil
}

func TestRun(t *testing.T) {
	h := hits("先备份", "再重启")
	other := &record.Hit{Query: "q2", ID: "c9", Path: "b.md", Text: "先备份"}
	in := []record.Record{query("先做什么？"), h[0], &record.Raw{RecordKind: "note"}, h[1],
		&record.Query{ID: "q2", Text: "first?"}, other, &record.Query{ID: "q3", Text: "无"}}
	for _, c := range []struct {
		name  string
		in    []record.Record
		opt   Options
		reply *scripted
		want  []string
		err   error
	}{
		{"many", in, Options{}, says("先备份[1]。"),
			[]string{"raw note", "answer q1 先备份[1]。", "answer q2 先备份[1]。", "answer q3 " + refusalZH}, nil},
		{"stream", in[:2], Options{Stream: true}, &scripted{events: []model.Event{{Text: "先备份"}, {Text: "[1"}, {Text: "]。"}, {Finish: "stop"}}},
			[]string{"delta q1 先备份", "delta q1 [1]。", "done q1 先备份[1]。"}, nil},
		{"strict", in, Options{Strict: true}, says("先喝咖啡[1]。"),
			[]string{"raw note", "answer q1 先喝咖啡[1]。", "answer q2 先喝咖啡[1]。", "answer q3 " + refusalZH}, ErrUnsupported},
		{"strict and borne out", in[:2], Options{Strict: true}, says("先备份[1]。"), []string{"answer q1 先备份[1]。"}, nil},
		{"strict and uncited", in[:2], Options{Strict: true}, says("先备份。"), []string{"answer q1 先备份。"}, ErrUnsupported},
		{"strict and invalid", in[:2], Options{Strict: true}, says("先备份[1][7]。"), []string{"answer q1 先备份[1]。"}, ErrUnsupported},
		{"cut off", in, Options{}, &scripted{events: []model.Event{{Text: "先"}}},
			[]string{"raw note", "answer q1 先", "answer q2 先", "answer q3 " + refusalZH}, ErrIncomplete},
		{"question given", []record.Record{h[0]}, Options{Question: "先做什么？"}, says("先备份[1]。"), []string{"answer q1 先备份[1]。"}, nil},
	} {
		c.opt.Generator, c.opt.Rand = c.reply, nil
		got, err := collect(Run(context.Background(), records(c.in...), c.opt))
		if !slices.Equal(got, c.want) || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	var orphan *OrphanError
	if _, err := collect(Run(context.Background(), records(h[0]), Options{})); !errors.As(err, &orphan) || orphan.Hint() == "" {
		t.Errorf("hits without a query: %v", err)
	}
	if _, err := collect(Run(context.Background(), records(query("x"), other), Options{})); !errors.As(err, &orphan) {
		t.Errorf("a hit of another query: %v", err)
	}
}

// Breaking out of the loop stops the model.
func TestRunStops(t *testing.T) {
	m := says(strings.Repeat("先备份", 1000))
	n := 0
	for r, err := range Run(context.Background(), records(query("x"), hits("x")[0]), Options{Generator: m, Stream: true}) {
		if _, ok := r.(*record.Delta); !ok || err != nil {
			t.Fatal(r, err)
		}
		if n++; n == 2 {
			break
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	for r, e := range Run(ctx, records(query("x"), hits("x")[0]), Options{Generator: m, Stream: true}) {
		if d, ok := r.(*record.Done); ok && (d.Complete || d.Text == "") {
			t.Errorf("done: %+v", d)
		}
		cancel()
		err = e
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestContext(t *testing.T) {
	long := strings.Repeat("每天建议学习四十五分钟。", 20)
	warned := ""
	got, nearest := passages(hits(long, long, "短"), Options{MaxContext: 100, Warn: func(s string) { warned += s }})
	if len(got) != 1 || nearest == nil || !strings.Contains(warned, "96 of its 240 characters") {
		t.Fatalf("%d passages, warning %q", len(got), warned)
	}
	if !strings.HasPrefix(long, got[0].Text) || !strings.HasSuffix(got[0].Text, "。") || len([]rune(got[0].Text)) > 100 {
		t.Errorf("the first is cut to %q", got[0].Text)
	}
	got, _ = passages(hits("短", long, "也短"), Options{MaxContext: 100})
	if len(got) != 2 || got[1].N != 2 || got[1].Text != "也短" {
		t.Errorf("whole passages: %+v", got)
	}
}

func TestReferenceLists(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{"先备份[1]。\n\n参考资料：\n[1] a.md\n[2] b.md\n", "先备份[1]。"},
		{"Back up [1].\n\n## References\n\n- [1] a.md\n- [2] b.md", "Back up [1]."},
		{"Back up [1].\n\n**Sources:**\n1. a.md\n2. b.md", "Back up [1]."},
		{"先备份[1]。\n来源：", "先备份[1]。"},
		{"先备份[1]。\n\n参考资料：\n- 《网关手册》[1]\n- 《证书》[2]", "先备份[1]。\n\n参考资料：\n- 《网关手册》[1]\n- 《证书》[2]"},
		{"先备份[1]。\n来源：[1]", "先备份[1]。\n来源：[1]"},
		{"先备份[1]。\n\nSources:\n[1] a.md\n\n再重启[2]。", "先备份[1]。\n\nSources:\n[1] a.md\n\n再重启[2]。"},
		{"参考资料：\n- 甲\n- 乙", "参考资料：\n- 甲\n- 乙"},
		{"Sources differ [1].\nReferences to it are rare [2].", "Sources differ [1].\nReferences to it are rare [2]."},
		{"\n\n 先备份[1]。\n\n\n再重启[2]。 \n", "先备份[1]。\n\n\n再重启[2]。"},
	} {
		for _, pieces := range [][]string{{c.in}, strings.Split(c.in, "")} {
			if got, _ := normalize(3, pieces...); got != c.out {
				t.Errorf("%q in %d pieces:\n got %q\nwant %q", c.in, len(pieces), got, c.out)
			}
		}
	}
}
