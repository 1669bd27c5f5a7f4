package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"kb/pkg/eval"
	"kb/pkg/jsonl"
	"kb/pkg/record"
)

// evaluation is one run of kb eval.
type evaluation struct {
	e   *env
	s   *settings
	f   evalFlags
	out outputFlags
	c   *console

	questions  []*eval.Question
	gates      []eval.Gate
	baseline   []*eval.Judgment
	finder     *finder
	judgments  []*eval.Judgment
	reports    []*eval.Report
	outcomes   []*eval.Outcome
	comparison *eval.Comparison // nil without a baseline
	failures   []string         // gates that were missed, for the error
}

func (ev *evaluation) run(ctx context.Context, file string) (err error) {
	if err := ev.read(file); err != nil {
		return err
	}
	if ev.f.answers {
		return ev.answers(ctx)
	}
	if ev.finder, err = ev.s.openFinder(ctx, ev.f, ev.questions, ev.c.warn); err != nil {
		return err
	}
	defer ev.finder.close()
	if lost := eval.Unreachable(ev.questions, ev.finder.paths, ev.finder.chunks); len(lost) > 0 {
		ev.c.warn(file + ": " + unreachable(lost))
	}
	if err := ev.judge(ctx); err != nil {
		return err
	}
	if ev.f.calibrate {
		return ev.calibrate(ctx, file)
	}
	if err := ev.assess(); err != nil {
		return err
	}
	if err := ev.write(); err != nil {
		return err
	}
	if err := ev.goldenFiles(); err != nil {
		return err
	}
	return ev.verdict()
}

// shownLost is how many of the questions that nothing in the index answers are named.
const shownLost = 3

// unreachable names the questions whose source the index does not have.
func unreachable(lost []*eval.Question) string {
	if q := lost[0]; len(lost) == 1 {
		return fmt.Sprintf("%s: the index has no %s", q.Label, q.Wanted())
	}
	var named []string
	for _, q := range lost[:min(shownLost, len(lost))] {
		named = append(named, fmt.Sprintf("%s (%s)", q.Label, q.Wanted()))
	}
	if more := len(lost) - shownLost; more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("the index does not have what %d questions ask for: %s", len(lost), strings.Join(named, ", "))
}

// read reads the questions and the baseline.
func (ev *evaluation) read(file string) error {
	err := ev.open(file, func(in jsonl.Input) (err error) {
		ev.questions, err = eval.ReadQuestions(in)
		return err
	})
	if err != nil {
		return err
	}
	if ev.gates, err = ev.f.check(ev.questions); err != nil || ev.f.baseline == "" {
		return err
	}
	return ev.open(ev.f.baseline, func(in jsonl.Input) (err error) {
		ev.baseline, err = eval.ReadBaseline(in)
		return err
	})
}

func (ev *evaluation) open(file string, read func(jsonl.Input) error) error {
	in, done, err := ev.e.inputs([]string{file})
	defer done()
	if err != nil {
		return err
	}
	return read(in[0])
}

func (ev *evaluation) judge(ctx context.Context) error {
	opt := eval.Options{
		Questions: ev.questions, Modes: ev.finder.modes, K: ev.f.topK, Now: ev.e.now,
		Progress: func(done, total int) { ev.c.status(fmt.Sprintf("%d of %s", done, count(total, "question"))) },
	}
	for j, err := range eval.Run(ctx, opt) {
		if err != nil {
			return err
		}
		ev.judgments = append(ev.judgments, j)
	}
	ev.c.close()
	ev.reports = eval.Summarise(ev.judgments, ev.f.topK)
	return nil
}

// assess holds the figures against the gates and the baseline, and writes
// what continuous integration reads.
func (ev *evaluation) assess() (err error) {
	ev.outcomes = eval.Check(ev.gates, eval.Overall(ev.reports, ev.finder.last()))
	if missed := missed(ev.outcomes); missed != "" {
		ev.failures = append(ev.failures, fmt.Sprintf("below the gate in mode %s: %s", ev.finder.last(), missed))
	}
	if ev.baseline != nil {
		if ev.comparison, err = eval.Compare(ev.judgments, ev.baseline, ev.f.topK); err != nil {
			return fmt.Errorf("%s: %w", ev.f.baseline, err)
		}
		var worse []string
		for _, d := range ev.comparison.Beyond(ev.f.tolerance) {
			worse = append(worse, d.String())
		}
		if len(worse) > 0 {
			ev.failures = append(ev.failures, fmt.Sprintf("worse than %s: %s", ev.f.baseline, strings.Join(worse, ", ")))
		}
	}
	if ev.f.junit == "" {
		return nil
	}
	var xml bytes.Buffer
	if err := eval.WriteJUnit(&xml, ev.judgments, ev.outcomes, ev.f.topK); err != nil {
		return err
	}
	return readable(os.WriteFile(ev.f.junit, xml.Bytes(), 0o666))
}

// missed lists the gates that were not passed; "" if all were.
func missed(outcomes []*eval.Outcome) string {
	var out []string
	for _, o := range outcomes {
		if !o.Passed {
			out = append(out, o.String())
		}
	}
	return strings.Join(out, ", ")
}

// write writes the results: records into a pipe, tables for a person.
func (ev *evaluation) write() error {
	if ev.out.human(ev.e) {
		return ev.print()
	}
	w := jsonl.NewWriter(ev.e.stdout)
	for _, j := range ev.judgments {
		if err := w.Write(j); err != nil {
			return err
		}
	}
	var rest []record.Record
	for _, r := range ev.reports {
		rest = append(rest, r)
	}
	if ev.comparison != nil {
		for _, change := range ev.comparison.Changes {
			rest = append(rest, change)
		}
	}
	for _, o := range ev.outcomes {
		rest = append(rest, o)
	}
	for _, r := range rest {
		if err := w.Write(r); err != nil {
			return err
		}
	}
	return w.Flush()
}

// goldenFiles compares or writes the golden files of the last mode.
func (ev *evaluation) goldenFiles() error {
	if ev.f.golden == "" {
		return nil
	}
	var last []*eval.Judgment
	for _, j := range ev.judgments {
		if j.Mode == ev.finder.last() {
			last = append(last, j)
		}
	}
	if ev.f.updateGolden {
		written, removed, err := eval.UpdateGolden(ev.f.golden, last, ev.f.topK)
		if err == nil {
			fmt.Fprintf(ev.people(), "%s: %s written, %d removed, %d as before\n",
				ev.f.golden, count(written, "golden file"), removed, len(last)-written)
		}
		return readable(err)
	}
	differences, err := eval.CompareGolden(ev.f.golden, last, ev.f.topK)
	if errors.Is(err, eval.ErrNoGolden) {
		return withHint(err, "add --update-golden to write them")
	}
	if err != nil {
		return readable(err)
	}
	for _, d := range differences {
		fmt.Fprintf(ev.people(), "\n%s\n%s", d.Name, d.Diff)
	}
	if n := len(differences); n > 0 {
		ev.failures = append(ev.failures, fmt.Sprintf("%s: %s changed (--update-golden accepts that)", ev.f.golden, count(n, "golden file")))
	}
	return nil
}

// verdict is the error of an evaluation that is not good enough.
func (ev *evaluation) verdict() error {
	n := len(ev.failures)
	if n == 0 {
		return nil
	}
	for _, failure := range ev.failures[:n-1] {
		ev.c.warn(failure)
	}
	return &codeError{exitGate, errors.New(ev.failures[n-1])}
}
