package main

import (
	"github.com/spf13/cobra"

	"kb/pkg/eval"
	"kb/pkg/search"
)

const evalLong = `eval puts the questions of a file to the index and says how good the passages
are that an answer would draw on: Hit@1, Hit@K, MRR and nDCG@10, precision and
recall of refusals, and latency, by mode and by tag.

Modes are bm25, vector, hybrid, hybrid+rerank, auto (what "kb ask" does) and all
(the first four). Where there are several, --min and --golden look at the last.

A hit is right if its text holds every must_contain (by NFKC, white space aside)
and its path is one of source; where passages are given, if its id or its path
is one of them. A question with none of the three, or with "answerable":false,
should be refused. MRR looks at the first 10 hits, or at K if that is more.
Refused is what no chat model is asked about: nothing was found, or the
confidence is below the floor.

--min takes hit1, hit (Hit@K), mrr, ndcg, refusal (its recall), precision (of
refusals) and answered (1 - false refusals). A baseline is the output of an
earlier evaluation; over the questions of both no metric but precision may fall
by more than --tolerance, in any mode of both.

--calibrate fits the confidence below which a question is refused, and stores it
in the index, in place of one that was calibrated before, and of the default
unless that does better. It has the greatest balanced accuracy of those that
refuse at most a tenth of the answerable questions; its figures are
cross-validated; it takes ten questions of either kind. For a semantic embedder
it also fits what its vectors tell: before, the confidence of a question that
shares no word with the notes is not known, and no floor refuses it. The floor
stays with the index until its embedder or its analyzer is another.

--answers has the questions answered as "kb ask" does, and says for any model
how many answers hold the expected text, how many of the cited passages are of
the source and how many answers cite it, how many claims are borne out, and what
was refused rightly and wrongly: below the floor, as in the other table, or by
the model, which found no answer. --min takes contains, citation_precision,
citation_recall, supported, refusal, precision and answered then.

Reads:   {"q":…,"must_contain":"text" or […],"source":"path or glob" or […],"passages":[…],"tags":[…],"id":…}
Writes:  {"kind":"judgment","mode":…,"id":…,"q":…,"answerable":true,"rank":1,"refused":false,"confidence":…,"hits":[…]}
         {"kind":"report","mode":…,"tag":"","hit1":…,"hit":…,"mrr":…,"refusal_precision":…,"refusal_recall":…,"false_refusals":…}
         with --answers {"kind":"answered",…} for each question and {"kind":"answer_report",…}
         and {"kind":"change"…} with --baseline, {"kind":"gate"…} with --min, {"kind":"calibration"…} alone with --calibrate`

const evalExample = `  kb eval eval/questions.jsonl --mode all
  kb eval eval/questions.jsonl --json > baseline.jsonl
  kb eval eval/questions.jsonl --baseline baseline.jsonl --min hit=0.9,mrr=0.8
  kb eval eval/questions.jsonl --calibrate`

// evalFlags are what kb eval is to do.
type evalFlags struct {
	mode             string
	topK, candidates int
	min              string
	baseline         string
	tolerance        float64
	junit            string
	golden           string
	updateGolden     bool
	calibrate        bool
	answers          bool
}

func newEval(e *env, s *settings) *cobra.Command {
	var (
		f   evalFlags
		out outputFlags
	)
	cmd := &cobra.Command{
		Use:         "eval FILE",
		Short:       "questions → is it good?",
		Long:        evalLong,
		Example:     evalExample,
		Args:        args(cobra.ExactArgs(1)),
		Annotations: about(exitMismatch, exitGate, exitDamaged),
		RunE: func(cmd *cobra.Command, files []string) error {
			ev := &evaluation{e: e, s: s, f: f, out: out, c: e.console("kb eval")}
			defer ev.c.close()
			return ev.run(cmd.Context(), files[0])
		},
	}
	f.register(cmd)
	out.register(cmd)
	indexFlag(cmd, s)
	embedFlags(cmd, s)
	rerankFlags(cmd, s)
	chatFlags(cmd, s)
	return cmd
}

func (f *evalFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", search.ModeAuto, "bm25, vector, hybrid, hybrid+rerank, auto or all")
	flags.IntVar(&f.topK, "top-k", search.DefaultTopK, "the K of Hit@K: how many passages an answer may draw on")
	flags.IntVar(&f.candidates, "candidates", search.DefaultCandidates, "hits that each leg brings into the fusion")
	flags.StringVar(&f.min, "min", "", "least values, e.g. hit=0.9,mrr=0.8,refusal=0.9; exit 4 below one")
	flags.StringVar(&f.baseline, "baseline", "", "compare with the output of an earlier evaluation; exit 4 on a loss")
	flags.Float64Var(&f.tolerance, "tolerance", 0, "by how much a metric may fall below the baseline")
	flags.StringVar(&f.junit, "junit", "", "also write the results to a `FILE` in JUnit's XML")
	flags.StringVar(&f.golden, "golden", "", "compare the rankings with the golden files in `DIR`; exit 4 on a difference")
	flags.BoolVar(&f.updateGolden, "update-golden", false, "write the golden files instead")
	flags.BoolVar(&f.answers, "answers", false, "judge the answers that the questions get, not only the hits")
	flags.BoolVar(&f.calibrate, "calibrate", false, "fit the refusal floor and store it in the index")
}

// check returns the gates, or what is wrong with the flags.
func (f *evalFlags) check(questions []*eval.Question) ([]eval.Gate, error) {
	if f.answers {
		return f.checkAnswers()
	}
	switch {
	case f.topK < 1:
		return nil, usagef("--top-k %d: must be at least 1", f.topK)
	case f.candidates < 1:
		return nil, usagef("--candidates %d: must be at least 1", f.candidates)
	case !(f.tolerance >= 0):
		return nil, usagef("--tolerance %g: must be at least 0", f.tolerance)
	case f.updateGolden && f.golden == "":
		return nil, usagef("--update-golden: name the folder with --golden DIR")
	case f.calibrate && f.mode == modeAll:
		return nil, usagef("--calibrate: a floor is fitted to one mode, not to all")
	case f.calibrate && f.min+f.baseline+f.junit+f.golden != "":
		return nil, usagef("--calibrate comes alone: evaluate when the floor is stored")
	}
	if _, err := evalModes(f.mode, false); err != nil {
		return nil, err
	}
	gates, err := eval.ParseGates(f.min)
	if err == nil {
		err = eval.Measurable(gates, questions)
	}
	if err != nil {
		return nil, usagef("--min: %w", err)
	}
	return gates, nil
}
