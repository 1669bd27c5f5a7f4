package main

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"kb/pkg/jsonl"
	"kb/pkg/record"
	"kb/pkg/search"
)

const searchLong = `search finds the chunks that fit a question best: by BM25, by vectors, or by
both (hybrid, fused by reciprocal rank). "auto" is hybrid when the index has
vectors. Without a QUERY, or with "-", it reads questions from standard input.
--path, --tag, --since and --until choose the documents before anything is ranked.

The relevance that is shown for reading is about 0 to 1 and comparable between
questions: the greater of the cosine and the BM25 score as a share of the best
possible one ("BM25 share").
"score" in a record is what orders the hits: in hybrid mode that of the rank
fusion, which says only how high up a hit stood. "kb ask" and "kb rerank" show
the reranker's score, which is on another scale. What holds an identifier of the
question (ERR-5023, rotate_keys, v2.10.1) goes before what does not.

Reads:   {"q":…} ("question" and "query" will do) or {"kind":"query","text":…}, one a line
Writes:  {"kind":"query","id":…,"text":…,"mode":…,"legs":[…],"confidence":…}
         {"kind":"hit","query":…,"rank":1,"score":…,"scores":{…},"id":…,"path":…,"title":…,"headings":[…],"page":…,"line":…,"text":…}`

// searchFlags are the flags of the commands that search.
type searchFlags struct {
	search.Params
}

func (f *searchFlags) register(cmd *cobra.Command) {
	f.registerRanking(cmd)
	cmd.Flags().StringArrayVar(&f.Filter.Paths, "path", nil, "only documents in this folder, or whose path or name matches the glob: notes/runbooks, '*.pdf', 'notes/**/2024-*' (may be repeated: any)")
	cmd.Flags().StringArrayVar(&f.Filter.Tags, "tag", nil, "only documents with the tag (may be repeated: all)")
	cmd.Flags().StringVar(&f.Filter.Since, "since", "", "only documents of this date or later: 2026-09-15, 2026-09 or 2026; by \"date\" in the front matter, else by the file's time")
	cmd.Flags().StringVar(&f.Filter.Until, "until", "", "only documents of this date or earlier")
}

// registerRanking registers those that say how hits are found, and not among
// which documents.
func (f *searchFlags) registerRanking(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Mode, "mode", "auto", "auto, vector, bm25 or hybrid")
	cmd.Flags().IntVar(&f.TopK, "top-k", 4, "greatest number of hits")
	cmd.Flags().IntVar(&f.Candidates, "candidates", 20, "hits that each leg brings into the fusion")
	f.Filter.Modified = modified
}

// modified is the local date of a file's last change; "" where it cannot be
// reached from here.
func modified(path string) string {
	info, err := os.Stat(filepath.FromSlash(path))
	if err != nil {
		return ""
	}
	return info.ModTime().Local().Format(time.DateOnly)
}

func (f *searchFlags) validate() error {
	switch {
	case f.TopK < 1:
		return usagef("--top-k %d: must be at least 1", f.TopK)
	case f.Candidates < 1:
		return usagef("--candidates %d: must be at least 1", f.Candidates)
	}
	for i, p := range f.Filter.Paths {
		f.Filter.Paths[i] = filepath.ToSlash(p) // on Windows \ separates
	}
	if err := f.Params.Validate(); err != nil {
		return &usageError{err}
	}
	return nil
}

func newSearch(e *env, s *settings) *cobra.Command {
	var (
		f                   searchFlags
		out                 outputFlags
		explain, exitStatus bool
	)
	cmd := &cobra.Command{
		Use:         "search [QUERY]",
		Short:       "question → hits",
		Long:        searchLong,
		Example:     "  kb search \"超标 审批\"\n  kb search --mode bm25 ERR-5023\n  kb search --top-k 20 \"hotel limit\" | kb rerank --top-k 4 | kb answer",
		Annotations: about(exitMismatch, exitDamaged, exitNothing),
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			questions, done, err := e.questions("kb search", words)
			defer done()
			if err != nil {
				return err
			}
			c := e.console("kb search")
			c.human = out.human(e)
			searcher, err := s.searcher(cmd.Context(), f.Params, c.warn)
			if err != nil {
				return err
			}
			defer searcher.Close()
			results := searcher.Run(cmd.Context(), questions, f.Params)
			if f.Mode != search.ModeBM25 {
				results = c.awaited(results, s.endpoints("EMBED"))
			}
			found, err := e.printResults(results, out, explain)
			if err == nil && exitStatus && !found {
				return &codeError{code: exitNothing}
			}
			return err
		},
	}
	f.register(cmd)
	out.register(cmd)
	indexFlag(cmd, s)
	embedFlags(cmd, s)
	cmd.Flags().Float64Var(&f.MinScore, "min-score", 0, "drop hits whose relevance, the number that --text shows, is below this (inclusive)")
	cmd.Flags().BoolVar(&explain, "explain", false, "show the parts of each score")
	cmd.Flags().BoolVar(&exitStatus, "exit-status", false, "exit 7 when nothing was found")
	return cmd
}

// questions are the words of the command line as one query, or what comes on
// standard input.
func (e *env) questions(command string, words []string) (iter.Seq2[record.Record, error], func(), error) {
	if len(words) == 0 || len(words) == 1 && words[0] == "-" {
		if e.stdinTTY {
			return nil, func() {}, withHint(usagef("no question"), `write one: %s "…"`, command)
		}
		in, done, err := e.inputs(nil)
		return jsonl.Records(in, record.KindQuery), done, err
	}
	q := joinQuestion(words)
	if q == "" {
		return nil, func() {}, withHint(usagef("the question is empty"), `write one: %s "…"`, command)
	}
	return func(yield func(record.Record, error) bool) {
		yield(&record.Query{ID: record.QueryID(q), Text: q}, nil)
	}, func() {}, nil
}

// printResults writes queries and hits, and says whether there was any hit.
func (e *env) printResults(results iter.Seq2[record.Record, error], out outputFlags, explain bool) (found bool, err error) {
	results = counted(results, func(r record.Record) {
		if r.Kind() == record.KindHit {
			found = true
		}
	})
	if !out.human(e) {
		err = e.writeEach(results)
		return found, err
	}
	var (
		q    *record.Query
		hits []*record.Hit
		st   = e.style()
	)
	flush := func() {
		if q != nil || len(hits) > 0 {
			printHits(e.stdout, st, q, hits, explain)
		}
	}
	for r, err := range results {
		if err != nil {
			return found, err
		}
		switch r := r.(type) {
		case *record.Query:
			flush()
			q, hits = r, nil
		case *record.Hit:
			hits = append(hits, r)
		}
	}
	flush()
	return found, nil
}

// writeEach writes records and flushes after each, so that a program at the
// other end of the pipe need not wait for the next question.
func (e *env) writeEach(results iter.Seq2[record.Record, error]) error {
	w := jsonl.NewWriter(e.stdout)
	for r, err := range results {
		if err != nil {
			return err
		}
		if err := errors.Join(w.Write(r), w.Flush()); err != nil {
			return err
		}
	}
	return nil
}
