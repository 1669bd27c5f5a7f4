package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"kb/pkg/eval"
	"kb/pkg/jsonl"
	"kb/pkg/search"
	"kb/pkg/store"
)

// people is where lines for people go beside the results.
func (ev *evaluation) people() io.Writer {
	if ev.out.human(ev.e) {
		return ev.e.stdout
	}
	return ev.e.stderr
}

// print writes the evaluation for reading.
func (ev *evaluation) print() error {
	var overall, byTag []*eval.Report
	for _, r := range ev.reports {
		switch {
		case r.Tag == "":
			overall = append(overall, r)
		case r.Mode == ev.finder.last():
			byTag = append(byTag, r)
		}
	}
	w, s := ev.e.stdout, ev.e.style()
	table := s.table(w)
	if err := eval.WriteTable(table, overall); err != nil {
		return err
	}
	if len(byTag) > 0 {
		fmt.Fprintf(w, "\n%s by tag\n", ev.finder.last())
		if err := eval.WriteTags(table, byTag); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "\n%s\n", s.dim(s.wrapped(ev.describe(overall[len(overall)-1]))))
	ev.printChanges(w, s)
	if len(ev.outcomes) > 0 && len(ev.failures) == 0 {
		var passed []string
		for _, o := range ev.outcomes {
			passed = append(passed, o.String())
		}
		fmt.Fprintf(w, "gate (%s): %s: passed\n", ev.finder.last(), strings.Join(passed, ", "))
	}
	return nil
}

// describe says what was measured, and on what.
func (ev *evaluation) describe(r *eval.Report) string {
	i := ev.finder.info
	text := fmt.Sprintf("%d with an answer, %d to be refused (floor %.3g%s); %s of %s, %s",
		r.Answerable, r.Questions-r.Answerable, ev.judgments[len(ev.judgments)-1].Floor, ev.calibrated(),
		count(i.Chunks, "chunk"), count(i.Documents, "document"), describeModel(i.Settings))
	if r.Unknown > 0 {
		text += fmt.Sprintf("\nthe confidence of %s is not known: the floor never refuses them (--calibrate fits what the vectors tell)", count(r.Unknown, "question"))
	}
	return text
}

// calibration is what the floor in force was fitted to; nil where it was not.
func (ev *evaluation) calibration() *store.Calibration {
	if c := ev.finder.info.Calibration; c != nil && c.Confidence == search.Confidence {
		return c
	}
	return nil
}

func (ev *evaluation) calibrated() string {
	if c := ev.calibration(); c != nil {
		return fmt.Sprintf(", calibrated on %s", count(c.Questions, "question"))
	}
	return ", not calibrated"
}

// printChanges writes the losses and the gains against the baseline.
func (ev *evaluation) printChanges(w io.Writer, s style) {
	c := ev.comparison
	if c == nil {
		return
	}
	line := fmt.Sprintf("against the baseline: %d gained, %d lost", c.Count(eval.Gained), c.Count(eval.Lost))
	if c.New > 0 {
		line += fmt.Sprintf(", %d new", c.New)
	}
	if c.Gone > 0 {
		line += fmt.Sprintf(", %d gone", c.Gone)
	}
	fmt.Fprintln(w, line)
	for _, what := range []string{eval.Lost, eval.Gained} {
		for _, change := range c.Changes {
			if change.What != what {
				continue
			}
			text := change.String()
			if len(ev.finder.modes) > 1 {
				text += " in mode " + change.Mode
			}
			if what == eval.Lost {
				text = s.alarm(text)
			}
			fmt.Fprintln(w, "  "+text)
		}
	}
}

// calibrate fits the floor, stores it unless the one that no calibration set is
// better, and says how well both do.
func (ev *evaluation) calibrate(ctx context.Context, file string) error {
	c, err := eval.Calibrate(ev.judgments, ev.calibration() != nil)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if !c.Worse() {
		if _, err := c.Save(ctx, ev.finder.store, ev.finder.info.Version, search.Confidence); err != nil {
			return err
		}
	}
	if !ev.out.human(ev.e) {
		w := jsonl.NewWriter(ev.e.stdout)
		if err := w.Write(c); err != nil {
			return err
		}
		return w.Flush()
	}
	if err := eval.WriteCalibration(ev.e.style().table(ev.e.stdout), c); err != nil {
		return err
	}
	fmt.Fprintf(ev.e.stdout, "\n%s\n", c)
	if c.Unknown > 0 {
		fmt.Fprintf(ev.e.stdout, "the confidence of %s is not known: no floor refuses them\n", count(c.Unknown, "question"))
	}
	if !c.Stored {
		fmt.Fprintf(ev.e.stdout, "not stored: on questions that it was not fitted on, the new floor is worse; %g stays. Calibrate with more questions, above all such as have no answer (%d here)\n",
			c.Now.Floor, c.Questions-c.Answerable)
		return nil
	}
	fmt.Fprintf(ev.e.stdout, "stored in %s\n", ev.finder.store.Name())
	return nil
}
