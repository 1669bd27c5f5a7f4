package main

import (
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"kb/pkg/answer"
	"kb/pkg/jsonl"
	"kb/pkg/model"
	"kb/pkg/record"
)

const answerLong = `answer writes a cited answer to each question from its hits, or refuses when
they do not hold one. Every claim is checked against the passage it cites.
Without KB_CHAT_BASE_URL it copies the sentences that fit best.

Reads:   {"kind":"query",…}, {"kind":"hit",…}
Writes:  {"kind":"answer","query":…,"text":…,"refused":false,"complete":true,"passages":[…],"citations":[…],"claims":[…],"invalid_citations":[]}
         with --stream {"kind":"delta","text":…} …, then {"kind":"done",…}`

// answerFlags are the flags of the commands that answer.
type answerFlags struct {
	maxContext int
	strict     bool
	stream     bool
	exitStatus bool
	reasoning  bool
	verify     string
}

func (f *answerFlags) register(cmd *cobra.Command) {
	f.registerWriting(cmd)
	cmd.Flags().BoolVar(&f.stream, "stream", false, "write the answer as it comes: delta records, then done")
	cmd.Flags().BoolVar(&f.exitStatus, "exit-status", false, "exit 7 when the question was refused")
}

// registerWriting registers those that say how an answer is written.
func (f *answerFlags) registerWriting(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.maxContext, "max-context", answer.DefaultMaxContext, "greatest length of the passages together, in characters")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "fail when a claim is not borne out by the passage it cites")
	cmd.Flags().StringVar(&f.verify, "verify", "", "llm: the chat model checks the claims as well, in one more call")
	cmd.Flags().BoolVar(&f.reasoning, "show-reasoning", false, "write what the model thinks aloud to stderr")
}

func (f *answerFlags) options(e *env, g model.Generator, warn func(string)) (answer.Options, error) {
	if f.maxContext < 1 {
		return answer.Options{}, usagef("--max-context %d: must be at least 1", f.maxContext)
	}
	switch {
	case f.verify != "" && f.verify != "llm":
		return answer.Options{}, usagef("--verify %s: only llm is known", f.verify)
	case f.verify != "" && g.Offline():
		return answer.Options{}, withHint(usagef("--verify llm needs a chat model"), "set KB_CHAT_BASE_URL, or leave --verify out: words, numbers and names are checked anyway")
	}
	opt := answer.Options{Verify: f.verify != "", Generator: g, MaxContext: f.maxContext, Strict: f.strict, Stream: f.stream, Now: e.now, Warn: warn}
	if f.reasoning {
		opt.Reasoning = func(text string) { fmt.Fprint(e.stderr, answer.Plain(text)) }
	}
	return opt, nil
}

func newAnswer(e *env, s *settings) *cobra.Command {
	var (
		f        answerFlags
		out      outputFlags
		question string
		minScore float64
	)
	cmd := &cobra.Command{
		Use:         "answer [FILE…]",
		Short:       "hits → a cited answer",
		Long:        answerLong,
		Example:     "  kb search \"how do I rotate keys?\" | kb answer --text",
		Annotations: about(exitNothing),
		RunE: func(cmd *cobra.Command, files []string) error {
			c := e.console("kb answer")
			in, done, err := e.inputs(files)
			defer done()
			if err != nil {
				return err
			}
			g, err := s.generator(c.warn)
			if err != nil {
				return err
			}
			opt, err := f.options(e, g, c.warn)
			if err != nil {
				return err
			}
			opt.Question, opt.MinScore = question, minScore
			opt.Stream = f.stream || out.human(e)
			answers := answer.Run(cmd.Context(), jsonl.Records(in, record.KindQuery, record.KindHit), opt)
			return e.printAnswers(c.awaited(answers, s.endpoints("CHAT")), out, f.exitStatus)
		},
	}
	f.register(cmd)
	out.register(cmd)
	chatFlags(cmd, s)
	cmd.Flags().StringVar(&question, "query", "", "the question, for hits that come without a query record")
	cmd.Flags().Float64Var(&minScore, "min-score", 0, "leave out hits that score below this (inclusive)")
	return cmd
}

// printAnswers writes answers for people or as records.
func (e *env) printAnswers(answers iter.Seq2[record.Record, error], out outputFlags, exitStatus bool) error {
	refused := false
	answers = counted(answers, func(r record.Record) {
		a := asAnswer(r)
		refused = refused || a != nil && a.Refused
	})
	var err error
	if out.human(e) {
		err = e.showAnswers(answers)
	} else {
		err = e.writeEach(answers)
	}
	if err == nil && refused && exitStatus {
		return &codeError{code: exitNothing}
	}
	return err
}

func asAnswer(r record.Record) *record.Answer {
	switch r := r.(type) {
	case *record.Answer:
		return r
	case *record.Done:
		return &r.Answer
	}
	return nil
}

// showAnswers lets each answer stream by, then shows its sources.
func (e *env) showAnswers(answers iter.Seq2[record.Record, error]) error {
	p := &answerPrinter{w: e.stdout, s: e.style()}
	for r, err := range answers {
		if err != nil {
			return err
		}
		p.print(r)
	}
	return nil
}
