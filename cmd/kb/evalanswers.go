package main

import (
	"context"
	"errors"
	"fmt"

	"kb/pkg/answer"
	"kb/pkg/eval"
	"kb/pkg/jsonl"
	"kb/pkg/record"
	"kb/pkg/search"
)

// checkAnswers returns the gates of --answers, or what is wrong with the flags
// beside it.
func (f *evalFlags) checkAnswers() ([]eval.Gate, error) {
	switch {
	case f.calibrate || f.baseline+f.junit+f.golden != "":
		return nil, usagef("--answers goes with --mode, --top-k, --candidates and --min only")
	case f.mode == modeAll || f.mode == modeRerank:
		return nil, usagef("--answers answers in one mode: auto, bm25, vector or hybrid")
	}
	gates, err := eval.ParseAnswerGates(f.min)
	if err != nil {
		return nil, usagef("--min: %w", err)
	}
	return gates, nil
}

// answers has every question answered as "kb ask" does, and says how good the
// answers are.
func (ev *evaluation) answers(ctx context.Context) error {
	flags := searchFlags{Params: search.Params{Mode: ev.f.mode, TopK: ev.f.topK, Candidates: ev.f.candidates}}
	if err := flags.validate(); err != nil {
		return err
	}
	opt, err := ev.s.askOptions(ctx, ev.e, ev.c, flags, answerFlags{maxContext: answer.DefaultMaxContext}, false)
	if err != nil {
		return err
	}
	defer opt.Searcher.Close()
	opt.Cache = nil // what was answered before says nothing about latency, nor about the prompt now
	ask := func(ctx context.Context, question string) (*record.Answer, error) {
		return opt.Reply(ctx, &record.Query{ID: record.QueryID(question), Text: question}, nil)
	}
	var answered []*eval.Answered
	for a, err := range eval.Answers(ctx, ev.questions, ask, ev.e.now) {
		if err != nil {
			return err
		}
		answered = append(answered, a)
		ev.c.status(fmt.Sprintf("%d of %s", len(answered), count(len(ev.questions), "question")))
	}
	ev.c.close()
	report := eval.SummariseAnswers(opt.Answer.Generator.Name(), answered)
	ev.outcomes = eval.CheckAnswers(ev.gates, report)
	if err := ev.writeAnswers(answered, report); err != nil {
		return err
	}
	if missed := missed(ev.outcomes); missed != "" {
		return &codeError{exitGate, errors.New("below the gate: " + missed)}
	}
	return nil
}

func (ev *evaluation) writeAnswers(answered []*eval.Answered, report *eval.AnswerReport) error {
	if ev.out.human(ev.e) {
		for _, a := range answered {
			if fault := a.Fault(); fault != "" {
				fmt.Fprintln(ev.e.stdout, answer.Plain(fault+"  "+a.Question))
			}
		}
		fmt.Fprintln(ev.e.stdout)
		return eval.WriteAnswerTable(ev.e.stdout, []*eval.AnswerReport{report})
	}
	w := jsonl.NewWriter(ev.e.stdout)
	var records []record.Record
	for _, a := range answered {
		records = append(records, a)
	}
	records = append(records, report)
	for _, o := range ev.outcomes {
		records = append(records, o)
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			return err
		}
	}
	return w.Flush()
}
