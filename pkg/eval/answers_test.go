package eval

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"kb/pkg/jsonl"
	"kb/pkg/record"
)

func TestAnswers(t *testing.T) {
	questions, err := ReadQuestions(jsonl.Input{Name: "q", R: strings.NewReader(`
{"id":"good","q":"a","must_contain":"45 min","source":"a.md"}
{"id":"wrong","q":"b","must_contain":"x","source":"b.md"}
{"id":"lost","q":"c","source":"c.md"}
{"id":"none","q":"d"}
{"id":"made up","q":"e"}
`)})
	if err != nil {
		t.Fatal(err)
	}
	passage := func(path string) record.Passage { return record.Passage{N: 1, Path: path} }
	replies := map[string]*record.Answer{
		"a": {Text: "It is 45\nmin [1].", Complete: true, Citations: []record.Passage{passage("a.md")}, Claims: []record.Claim{{Supported: true}}, Usage: &record.Usage{PromptTokens: 7}},
		"b": {Text: "y [1][2].", Complete: true, Citations: []record.Passage{passage("b.md"), passage("z.md")}, Claims: []record.Claim{{}, {Supported: true}}, Invalid: []int{9}},
		"c": {Refused: true, Complete: true},
		"d": {Refused: true, Complete: true},
		"e": {Text: "cut", Claims: []record.Claim{{}}},
	}
	ask := func(_ context.Context, q string) (*record.Answer, error) {
		if !replies[q].Complete {
			return replies[q], errors.New("cut off")
		}
		return replies[q], nil
	}
	var answers []*Answered
	for a, err := range Answers(context.Background(), questions, ask, time.Now) {
		if err != nil {
			t.Fatal(err)
		}
		if (a.Fault() == "") != a.Good() {
			t.Errorf("%s: good %t, fault %q", a.ID, a.Good(), a.Fault())
		}
		answers = append(answers, a)
	}
	r := SummariseAnswers("m", answers)
	for name, c := range map[string]struct {
		got  *float64
		want float64
	}{
		"contains":           {r.Contains, 0.5},
		"citation precision": {r.CitationPrecision, 2.0 / 3},
		"citation recall":    {r.CitationRecall, 1},
		"supported":          {r.Supported, 0.5},
		"refusal precision":  {r.Precision, 0.5},
		"refusal recall":     {r.Recall, 0.5},
		"false refusals":     {r.FalseRefusals, 1.0 / 3},
	} {
		if c.got == nil || *c.got < c.want-1e-9 || *c.got > c.want+1e-9 {
			t.Errorf("%s is %v, want %v", name, c.got, c.want)
		}
	}
	if r.Incomplete != 1 || r.Invalid != 1 || r.PromptTokens != 7 || r.Claims != 4 {
		t.Errorf("%+v", r)
	}
	gates, err := ParseAnswerGates("contains=0.5,supported=0.6")
	if err != nil {
		t.Fatal(err)
	}
	if o := CheckAnswers(gates, r); !o[0].Passed || o[1].Passed {
		t.Errorf("%v %v", o[0], o[1])
	}
	if _, err := ParseAnswerGates("hit=1"); err == nil {
		t.Error("hit is no metric of answers")
	}
	replies["d"] = nil
	ask = func(context.Context, string) (*record.Answer, error) { return nil, errors.New("down") }
	for _, err := range Answers(context.Background(), questions, ask, time.Now) {
		if err == nil || !strings.Contains(err.Error(), "good: down") {
			t.Errorf("error %v", err)
		}
	}
}
