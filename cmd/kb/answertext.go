package main

import (
	"fmt"
	"io"
	"strings"

	"kb/pkg/answer"
	"kb/pkg/record"
)

// answerPrinter shows answers to a person: the text as it comes, then what is
// wrong with it, then its sources.
type answerPrinter struct {
	w       io.Writer
	s       style
	started bool
}

func (p *answerPrinter) delta(text string) {
	fmt.Fprint(p.w, answer.Plain(text))
	p.started = p.started || text != ""
}

func (p *answerPrinter) done(a *record.Answer) {
	if !p.started {
		fmt.Fprint(p.w, answer.Plain(a.Text))
	}
	p.started = false
	fmt.Fprintln(p.w)
	switch {
	case a.Refused:
		fmt.Fprintln(p.w, p.s.dim(answer.Plain(a.Reason)))
		return
	case !a.Complete:
		fmt.Fprintln(p.w, p.s.alarm("incomplete: "+answer.Plain(a.Reason)))
	}
	p.claims(a)
	p.sources(a)
}

// claims shows the claims that do not hold, and says nothing when all do.
func (p *answerPrinter) claims(a *record.Answer) {
	failed := 0
	for _, c := range a.Claims {
		if c.Supported {
			continue
		}
		failed++
		if failed == 1 {
			fmt.Fprintln(p.w)
		}
		fmt.Fprintln(p.w, p.s.alarm(fmt.Sprintf("✗ %s %s", answer.Plain(strings.TrimSpace(c.Text)), parens(c.Why))))
	}
	switch {
	case failed == 1:
		fmt.Fprintf(p.w, "1 of %s is not supported by its source\n", count(len(a.Claims), "claim"))
	case failed > 1:
		fmt.Fprintf(p.w, "%d of %s are not supported by their sources\n", failed, count(len(a.Claims), "claim"))
	}
	if len(a.Invalid) > 0 {
		fmt.Fprintf(p.w, "removed citations of passages that do not exist: %s\n", strings.Trim(fmt.Sprint(a.Invalid), "[]"))
	}
}

func parens(s string) string {
	if s == "" {
		return ""
	}
	return "(" + answer.Plain(s) + ")"
}

func (p *answerPrinter) sources(a *record.Answer) {
	if len(a.Citations) > 0 {
		fmt.Fprintln(p.w)
	}
	for _, c := range a.Citations {
		where := fmt.Sprintf("[%d] %s", c.N, place(c.Path, c.Page, c.Line, c.Headings))
		fmt.Fprintln(p.w, p.s.beside(where, p.s.place, score(c.Score)))
	}
}
