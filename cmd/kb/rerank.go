package main

import (
	"strings"

	"github.com/spf13/cobra"

	"kb/pkg/jsonl"
	"kb/pkg/record"
	"kb/pkg/rerank"
)

const rerankLong = `rerank puts hits into a better order: offline by what BM25, the best passage
window and the cosine say together, or by a rerank endpoint, whose scores
become the hits' scores. Documents that the endpoint leaves out go last.
So a hit has another score than "kb search" shows for it, and --min-score is for
this one; "scores" in the record, and --explain, keep both.

Reads:   {"kind":"query",…}, {"kind":"hit",…}
Writes:  the same, in the new order, with "scores":{"rerank":…}`

func newRerank(e *env, s *settings) *cobra.Command {
	var (
		opt     rerank.Options
		out     outputFlags
		explain bool
	)
	cmd := &cobra.Command{
		Use:         "rerank [FILE…]",
		Short:       "hits → a better order",
		Long:        rerankLong,
		Example:     "  kb search --top-k 20 \"密钥轮换\" | kb rerank --top-k 4",
		Annotations: about(),
		RunE: func(cmd *cobra.Command, files []string) error {
			c := e.console("kb rerank")
			in, done, err := e.inputs(files)
			defer done()
			if err != nil {
				return err
			}
			if opt.Reranker, err = s.reranker(c.warn); err != nil {
				return err
			}
			opt.Warn = c.warn
			if cmd.Flags().Changed("query") && strings.TrimSpace(opt.Query) == "" {
				return usagef("the question is empty")
			}
			if opt.TopK < 1 && cmd.Flags().Changed("top-k") {
				return usagef("--top-k %d: must be at least 1", opt.TopK)
			}
			results := rerank.Run(cmd.Context(), jsonl.Records(in, record.KindQuery, record.KindHit), opt)
			_, err = e.printResults(c.awaited(results, s.endpoints("RERANK")), out, explain)
			return err
		},
	}
	out.register(cmd)
	rerankFlags(cmd, s)
	cmd.Flags().StringVar(&opt.Query, "query", "", "the question (default: that of the query record)")
	cmd.Flags().IntVar(&opt.TopK, "top-k", 0, "keep at most this many hits (default: all)")
	cmd.Flags().Float64Var(&opt.MinScore, "min-score", 0, "drop hits that score below this (inclusive)")
	cmd.Flags().BoolVar(&explain, "explain", false, "show the parts of each score")
	return cmd
}
