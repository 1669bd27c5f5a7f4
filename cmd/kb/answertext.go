package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kb/pkg/answer"
	"kb/pkg/record"
	"kb/pkg/search"
)

// answerPrinter shows answers to a person: the text as it comes, then what is
// wrong with it, then its sources.
type answerPrinter struct {
	w       io.Writer
	s       style
	lines   *wrapper // breaks the text into lines; nil before there is any, and where no terminal shows it
	started bool
	answers int // so far
}

func (p *answerPrinter) print(r record.Record) {
	if d, ok := r.(*record.Delta); ok {
		p.delta(d.Text)
	}
	if a := asAnswer(r); a != nil {
		p.done(a)
	}
}

func (p *answerPrinter) delta(text string) {
	if p.answers > 0 && !p.started && text != "" {
		fmt.Fprintln(p.w)
	}
	if p.lines == nil && p.s.terminal {
		p.lines = &wrapper{w: p.w, width: p.s.width}
	}
	if p.lines != nil {
		fmt.Fprint(p.lines, answer.Plain(text))
	} else {
		fmt.Fprint(p.w, answer.Plain(text))
	}
	p.started = p.started || text != ""
}

func (p *answerPrinter) done(a *record.Answer) {
	if !p.started {
		p.delta(a.Text)
	}
	if p.lines != nil {
		p.lines.Flush()
	}
	p.started = false
	p.answers++
	fmt.Fprintln(p.w)
	switch {
	case a.Refused:
		fmt.Fprintln(p.w, p.s.dim(p.s.wrapped(answer.Plain(a.Reason))))
		return
	case !a.Complete:
		fmt.Fprintln(p.w, p.s.alarm("(incomplete)")) // the reason is the command's error
	}
	if len(a.Missing) > 0 {
		fmt.Fprintln(p.w, p.s.alarm(p.s.wrapped(answer.Missing(a.Missing))))
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
		fmt.Fprintln(p.w, p.s.alarm(p.s.wrapped(fmt.Sprintf("✗ %s %s", answer.Plain(strings.TrimSpace(c.Text)), parens(c.Why)))))
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

func ran(legs []record.Leg, name string) bool {
	return slices.ContainsFunc(legs, func(l record.Leg) bool { return l.Name == name && l.Ran })
}

func (p *answerPrinter) sources(a *record.Answer) {
	if len(a.Citations) > 0 {
		fmt.Fprintln(p.w)
	}
	for _, c := range a.Citations {
		where := fmt.Sprintf("[%d] %s", c.N, answer.Place(c.Path, c.Page, c.Line, c.Headings))
		if fused := ran(a.Legs, "bm25") && ran(a.Legs, "vector") && !search.Reranked(a.Legs); fused {
			fmt.Fprintln(p.w, p.s.place(where)) // such a score says nothing to people
			continue
		}
		fmt.Fprintln(p.w, p.s.beside(where, p.s.place, score(c.Score)))
	}
}
