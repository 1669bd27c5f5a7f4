package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kb/pkg/answer"
	"kb/pkg/ask"
	"kb/pkg/search"
	"kb/pkg/store"
)

const askLong = `ask is "search | rerank | answer" in one process: a cited answer from your
notes, or a refusal that says what was searched and the nearest thing found.
Without a QUESTION, or with "-", it reads questions from standard input.

Reads:   {"q":…} ("question" and "query" will do) or {"kind":"query","text":…}, one a line
Writes:  {"kind":"answer","query":…,"text":…,"refused":false,"passages":[…],"citations":[…],"claims":[…]}
         with --stream {"kind":"delta","text":…} …, then {"kind":"done",…}`

func newAsk(e *env, s *settings) *cobra.Command {
	var (
		f        searchFlags
		af       answerFlags
		out      outputFlags
		noRerank bool
		noCache  bool
		agent    bool
		name     string
	)
	cmd := &cobra.Command{
		Use:         "ask [QUESTION]",
		Short:       "search | rerank | answer",
		Long:        askLong,
		Example:     "  kb ask \"建议每天学多久？\"\n  kb ask --json \"how do I rotate keys?\" | jq -r .text",
		Annotations: about(exitMismatch, exitDamaged, exitNothing),
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			questions, done, err := e.questions("kb ask", words)
			defer done()
			if err != nil {
				return err
			}
			c := e.console("kb ask")
			c.human = out.human(e)
			opt, err := s.askOptions(cmd.Context(), e, c, f, af, noRerank)
			if err != nil {
				return err
			}
			defer opt.Searcher.Close()
			if noCache {
				opt.Cache = nil
			}
			if agent {
				if opt.Answer.Generator.Offline() {
					return withHint(usagef("--agent needs a chat model"), "set KB_CHAT_BASE_URL to one that can call tools, or leave --agent out")
				}
				opt.Agent = true
				if out.human(e) {
					opt.Looked = e.showSearch
				}
			}
			answerer, err := s.answerer(e, opt, name, out.human(e), c)
			if err != nil {
				return err
			}
			stream := af.stream || out.human(e)
			results := ask.Run(cmd.Context(), questions, answerer, stream)
			return e.printAnswers(c.awaited(results, s.endpoints("EMBED", "RERANK", "CHAT")), out, af.exitStatus)
		},
	}
	f.register(cmd)
	af.register(cmd)
	out.register(cmd)
	indexFlag(cmd, s)
	embedFlags(cmd, s)
	rerankFlags(cmd, s)
	chatFlags(cmd, s)
	cmd.Flags().Float64Var(&f.MinScore, "min-score", 0, "leave out passages whose reranked score is below this (inclusive)")
	sessionFlag(cmd, &name)
	cmd.Flags().BoolVar(&agent, "agent", false, "let the chat model search by itself, in several rounds, before it answers")
	cmd.Flags().BoolVar(&noCache, "no-cache", false, "ask the model even if Redis has an answer")
	cmd.Flags().BoolVar(&noRerank, "no-rerank", false, "keep the order of the search")
	return cmd
}

func (s *settings) askOptions(ctx context.Context, e *env, c *console, f searchFlags, af answerFlags, noRerank bool) (ask.Options, error) {
	opt, err := s.answering(e, c, f, af, noRerank)
	if err != nil {
		return opt, err
	}
	opt.Searcher, err = s.searcher(ctx, f.Params, c.warn)
	return opt, err
}

// answering is how questions are answered, but for the searcher.
func (s *settings) answering(e *env, c *console, f searchFlags, af answerFlags, noRerank bool) (ask.Options, error) {
	var opt ask.Options
	g, err := s.generator(c.warn)
	if err != nil {
		return opt, err
	}
	if opt.Answer, err = af.options(e, g, c.warn); err != nil {
		return opt, err
	}
	if !noRerank {
		if opt.Reranker, err = s.reranker(c.warn); err != nil {
			return opt, err
		}
	}
	opt.Search = f.Params
	opt.Cache, err = s.answerCache(c.warn)
	return opt, err
}

// answerer answers each question by itself, or with a name within that session.
func (s *settings) answerer(e *env, opt ask.Options, session string, human bool, c *console) (ask.Answerer, error) {
	if session == "" {
		return opt, nil
	}
	talk, err := s.conversation(opt, session, c.warn)
	if err != nil {
		return nil, err
	}
	if human {
		talk.Rewritten = e.showRewritten
	}
	return talk, nil
}

// showSearch shows what the model looks for.
func (e *env) showSearch(query string, hits int) {
	fmt.Fprintln(e.stdout, e.style().dim(fmt.Sprintf("? %s (%s)", answer.Plain(query), count(hits, "hit"))))
}

// showRewritten shows a follow-up as it is searched, so that a wrong rewrite
// can be seen.
func (e *env) showRewritten(question string) {
	fmt.Fprintln(e.stdout, e.style().dim("→ "+answer.Plain(question)))
}

// searcher opens the index, and the embedder where the mode may need it.
func (s *settings) searcher(ctx context.Context, p search.Params, warn func(string)) (*search.Searcher, error) {
	name, r, err := s.openIndex(ctx)
	if err != nil {
		return nil, err
	}
	searcher, err := s.searcherOf(name, r, p, warn)
	if err != nil {
		r.Close()
	}
	return searcher, err
}

// searcherOf is the searcher of an index that is open.
func (s *settings) searcherOf(name string, r store.Reader, p search.Params, warn func(string)) (*search.Searcher, error) {
	opt := search.Options{Reader: r, Warn: warn}
	if p.Mode != search.ModeBM25 && r.Info().Dim > 0 {
		var err error
		if opt.Embedder, err = s.questionEmbedder(name, r.Info().Settings, warn); err != nil {
			return nil, err
		}
	}
	searcher, err := search.New(opt)
	if err != nil {
		return nil, err
	}
	err = searcher.Check(p)
	var mismatch *search.MismatchError
	if errors.As(err, &mismatch) {
		mismatch.Name = name
	}
	if err != nil {
		return nil, err
	}
	return searcher, nil
}
