package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"kb/pkg/jsonl"
	"kb/pkg/record"
)

func questions(t *testing.T, lines ...string) []*Question {
	t.Helper()
	qs, err := ReadQuestions(jsonl.Input{Name: "q.jsonl", R: strings.NewReader(strings.Join(lines, "\n"))})
	if err != nil {
		t.Fatal(err)
	}
	return qs
}

// hits makes hits from "path: text".
func hits(specs ...string) []*record.Hit {
	var out []*record.Hit
	for i, s := range specs {
		path, text, _ := strings.Cut(s, ": ")
		out = append(out, &record.Hit{ID: fmt.Sprintf("c%d", i+1), Path: path, Rank: i + 1, Text: text, Headings: []string{"H"}})
	}
	return out
}

func confident(c, floor float64) *record.Query { return &record.Query{Confidence: &c, Floor: floor} }

func TestReadQuestions(t *testing.T) {
	qs := questions(t,
		"\ufeff"+`{"q":"a","must_contain":"x","tags":"zh"}`,
		``,
		`{"q":"b","must_contain":["x","y"],"source":["n/*.md","m.md"],"other":1} {"question":"c"}`,
		`{"query":"e","must_contain":"z"}`,
		`{"q":"d","id":"own","must_contain":"","passages":[],"source":"(removed)","answerable":false}`)
	var got []string
	for _, q := range qs {
		got = append(got, fmt.Sprint(q.Label, q.Answerable, q.MustContain, q.Source, q.Tags))
	}
	want := "q1true [x] [] [zh]|q3true [x y] [n/*.md m.md] []|q3false [] [] []|q4true [z] [] []|ownfalse [] [] []"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	if qs[0].ID != record.QueryID("a") || qs[4].ID != "own" {
		t.Errorf("ids %q, %q", qs[0].ID, qs[4].ID)
	}
}

func TestReadQuestionsErrors(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", "q.jsonl: no questions"},
		{"\n\n", "q.jsonl: no questions"},
		{`{"q":"a"}` + "\n" + `{"q":"b"`, "q.jsonl:2: not a JSON object: unexpected end of input"},
		{`["a"]`, "q.jsonl:1: not a JSON object: it does not begin with {"},
		{`{"must_contain":"x"}`, `q.jsonl:1: no question: want {"q"`},
		{`{"q":7}`, `q.jsonl:1: field "q" is a number`},
		{`{"q":"a","must_contain":7}`, "q.jsonl:1: 7 is neither a string nor a list of strings"},
		{`{"q":"a","source":"notes/["}`, "q.jsonl:1: glob"},
		{`{"q":"a","answerable":true}`, "q.jsonl:1: answerable, but none of"},
		{"{\"q\":\"a\"}\n\n{\"q\":\"a\"}", "q.jsonl:3: the same question as in line 1"},
		{"{\"q\":\"a\",\"id\":\"x\"}\n{\"q\":\"b\",\"id\":\"x\"}", `q.jsonl:2: the id "x" is that of line 1 already`},
	} {
		_, err := ReadQuestions(jsonl.Input{Name: "q.jsonl", R: strings.NewReader(c.file)})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.file, err, c.want)
		}
	}
}

func FuzzReadQuestions(f *testing.F) {
	f.Add([]byte(`{"q":"a","must_contain":["x"],"source":"n/**","passages":["p"]}`))
	f.Add([]byte("{\"q\":\"a\"}\n{\"q\":\"b\",\"tags\":null}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		qs, err := ReadQuestions(jsonl.Input{Name: "q", R: bytes.NewReader(data)})
		for _, q := range qs {
			j := judge(q, &record.Query{}, hits("n/a: x"))
			if golden(j, 4) == "" || strings.ContainsAny(goldenName(j), "/\x00") {
				t.Fatal("no golden file")
			}
		}
		if err == nil && len(qs) == 0 {
			t.Fatal("no questions and no error")
		}
	})
}

func TestJudge(t *testing.T) {
	list := hits("n/a.md: 每天 45\n分钟", "n/b.md: Ｋｅｙ rotation", "d/n/c.md: nothing")
	for _, c := range []struct {
		question string
		rank     int
	}{
		{`{"q":"?","must_contain":"45 分钟"}`, 1},
		{`{"q":"?","must_contain":["Key","rotation"]}`, 2},
		{`{"q":"?","must_contain":["Key","分钟"]}`, 0}, // not in one hit
		{`{"q":"?","source":"n/b.md"}`, 2},
		{`{"q":"?","source":["x","**/c.md"]}`, 3},
		{`{"q":"?","must_contain":"分钟","source":"n/b.md"}`, 0}, // both, but not of the same hit
		{`{"q":"?","must_contain":"nowhere","passages":["d/n/c.md"]}`, 3},
		{`{"q":"?","passages":["c2"]}`, 2},
		{`{"q":"?"}`, 0},
	} {
		j := judge(questions(t, c.question)[0], &record.Query{}, list)
		if j.Rank != c.rank {
			t.Errorf("%s: rank %d, want %d", c.question, j.Rank, c.rank)
		}
	}
}

func TestRefusedAsTheAnswerStageDoes(t *testing.T) {
	q := questions(t, `{"q":"?"}`)[0]
	for _, c := range []struct {
		query *record.Query
		hits  []*record.Hit
		want  bool
	}{
		{confident(0.5, 0.1), nil, true},
		{confident(0.05, 0.1), hits("a: x"), true},
		{confident(0.1, 0.1), hits("a: x"), false},
		{&record.Query{Floor: 0.9}, hits("a: x"), false}, // not known
	} {
		if j := judge(q, c.query, c.hits); j.Refused != c.want {
			t.Errorf("confidence %v, floor %g, %d hits: refused is %v", c.query.Confidence, c.query.Floor, len(c.hits), j.Refused)
		}
	}
}

func TestNDCG(t *testing.T) {
	log3 := math.Log2(3)
	for _, c := range []struct {
		passages []string
		hits     []*record.Hit
		want     float64
	}{
		{[]string{"a"}, hits("a", "b"), 1},
		{[]string{"a"}, hits("b", "a"), 1 / log3},
		{[]string{"a", "b"}, hits("a", "x", "b"), (1 + 0.5) / (1 + 1/log3)},
		{[]string{"a", "a"}, hits("a", "a", "a"), 1}, // a passage counts once
		{[]string{"a"}, nil, 0},
		{[]string{"a"}, hits("b", "b", "b", "b", "b", "b", "b", "b", "b", "b", "a"), 0},
	} {
		if got := ndcg(c.passages, c.hits); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("ndcg(%v, %d hits) = %g, want %g", c.passages, len(c.hits), got, c.want)
		}
	}
}

// fixture runs four questions in two modes: the second mode finds "b" at rank
// 2 instead of 1 and refuses "n".
func fixture(t *testing.T) []*Judgment {
	t.Helper()
	qs := questions(t,
		`{"q":"a","source":"a.md","tags":["zh"]}`,
		`{"q":"b","source":"b.md","tags":["en","hard"]}`,
		`{"q":"m","tags":["en"]}`,
		`{"q":"n"}`)
	find := func(second bool) Find {
		return func(_ context.Context, q string) (*record.Query, []*record.Hit, error) {
			switch {
			case q == "b" && second:
				return confident(0.9, 0.1), hits("x.md", "b.md"), nil
			case q == "n" && second:
				return confident(0.05, 0.1), hits("x.md"), nil
			}
			return confident(0.9, 0.1), hits(q+".md", "x.md"), nil
		}
	}
	now := time.Unix(0, 0)
	opt := Options{Questions: qs, K: 1, Modes: []Mode{{"one", find(false)}, {"two", find(true)}},
		Now: func() time.Time { now = now.Add(time.Millisecond); return now }}
	var out []*Judgment
	for j, err := range Run(context.Background(), opt) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, j)
	}
	return out
}

func TestSummarise(t *testing.T) {
	reports := Summarise(fixture(t), 1)
	var got strings.Builder
	for _, r := range reports {
		fmt.Fprintf(&got, "%s/%s %d/%d hit %s %s mrr %s refusal %s %s %s latency %g %g\n", r.Mode, r.Tag, r.Answerable, r.Questions,
			figure(r.Hit1, 2), figure(r.Hit, 2), figure(r.MRR, 2), figure(r.Precision, 2), figure(r.Recall, 2), figure(r.FalseRefusals, 2), r.P50, r.P95)
	}
	want := `one/ 2/4 hit 1.00 1.00 mrr 1.00 refusal – 0.00 0.00 latency 1 1
one/en 1/2 hit 1.00 1.00 mrr 1.00 refusal – 0.00 0.00 latency 1 1
one/hard 1/1 hit 1.00 1.00 mrr 1.00 refusal – – 0.00 latency 1 1
one/zh 1/1 hit 1.00 1.00 mrr 1.00 refusal – – 0.00 latency 1 1
two/ 2/4 hit 0.50 0.50 mrr 0.75 refusal 1.00 0.50 0.00 latency 1 1
two/en 1/2 hit 0.00 0.00 mrr 0.50 refusal – 0.00 0.00 latency 1 1
two/hard 1/1 hit 0.00 0.00 mrr 0.50 refusal – – 0.00 latency 1 1
two/zh 1/1 hit 1.00 1.00 mrr 1.00 refusal – – 0.00 latency 1 1
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	var table bytes.Buffer
	if err := WriteTable(&table, []*Report{Overall(reports, "one"), Overall(reports, "two")}); err != nil {
		t.Fatal(err)
	}
	want = `| mode | Hit@1 | Hit@1 | MRR   | refusal P/R | false refusals | p50    | p95    |
| ---- | ----- | ----- | ----- | ----------- | -------------- | ------ | ------ |
| one  | 1.000 | 1.000 | 1.000 | – / 0.00    | 0.0 %          | 1.0 ms | 1.0 ms |
| two  | 0.500 | 0.500 | 0.750 | 1.00 / 0.50 | 0.0 %          | 1.0 ms | 1.0 ms |
`
	if table.String() != want {
		t.Errorf("got\n%swant\n%s", table.String(), want)
	}
}

func TestPercentile(t *testing.T) {
	var ms []time.Duration
	for i := range 20 {
		ms = append(ms, time.Duration(i+1)*time.Millisecond)
	}
	if a, b, c := percentile(ms, 50), percentile(ms, 95), percentile(ms[:1], 95); a != 10 || b != 19 || c != 1 {
		t.Errorf("p50 %g, p95 %g of 1..20; p95 %g of 1", a, b, c)
	}
}

func TestRunStopsAtAnError(t *testing.T) {
	qs := questions(t, `{"q":"a"}`, `{"q":"b"}`, `{"q":"c"}`)
	broken := errors.New("broken")
	asked := 0
	find := func(_ context.Context, q string) (*record.Query, []*record.Hit, error) {
		if asked++; q == "b" {
			return nil, nil, broken
		}
		return &record.Query{}, nil, nil
	}
	var last error
	for _, err := range Run(context.Background(), Options{Questions: qs, K: 4, Modes: []Mode{{"m", find}}}) {
		last = err
	}
	if !errors.Is(last, broken) || asked != 2 || !strings.Contains(last.Error(), "q2 in mode m") {
		t.Errorf("%d asked, error %v", asked, last)
	}
}

func TestGates(t *testing.T) {
	for _, bad := range []string{"hits=0.9", "hit", "hit=", "hit=1.1", "hit=NaN", "hit=x"} {
		if _, err := ParseGates(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	gates, err := ParseGates("hit=0.5, mrr=0.76,refusal=0.5,answered=1,precision=1")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range Check(gates, Overall(Summarise(fixture(t), 1), "two")) {
		got = append(got, fmt.Sprint(o.Passed, " ", o))
	}
	want := "true hit 0.500 ≥ 0.5|false mrr 0.750 < 0.76 (by 0.010)|true refusal 0.500 ≥ 0.5|true answered 1.000 ≥ 1|true precision 1.000 ≥ 1"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	answerable := questions(t, `{"q":"a","source":"a"}`)
	if err := Measurable(gates[:2], answerable); err != nil {
		t.Error(err)
	}
	if err := Measurable(gates, answerable); err == nil || !strings.Contains(err.Error(), "refusal cannot be measured") {
		t.Errorf("a gate on refusals without a question to refuse: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	qs := questions(t, `{"q":"a","source":"notes/a.md"}`, `{"q":"b","source":["notes/b.md","**/c.md"]}`,
		`{"q":"c","source":"notes/x.md"}`, `{"q":"d"}`, `{"q":"e","source":"x","passages":["gone","p"]}`,
		`{"q":"f","source":"notes/a.md","passages":["gone"]}`, `{"q":"g","passages":["notes/a.md"]}`)
	var got []string
	for _, q := range Unreachable(qs, []string{"notes/a.md", "notes/deep/c.md"}, map[string]bool{"p": true}) {
		got = append(got, q.Text+": "+q.Wanted())
	}
	if want := "c: document notes/x.md|f: passage gone"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}
