// Package answer turns a question and its hits into a cited answer, or into a
// refusal that says what was searched.
//
// An answer draws on numbered passages and cites them as [n]. What a model
// writes is not trusted: markers are normalised and those that name no passage
// are taken out (marker.go), each sentence is checked against the passages it
// cites (check.go), and a stream that did not come to its end is no whole
// answer. What notes say is not trusted either: their text stands between
// marks in the user message, never in the system message, and cannot imitate
// the marks (prompt.go, defuse.go).
package answer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/text"
)

// DefaultMaxContext is how many characters of passages a model gets to see.
const DefaultMaxContext = 6000

// Options are the settings of one or many answers.
type Options struct {
	Generator  model.Generator
	MaxContext int     // characters of passages; 0: DefaultMaxContext
	MinScore   float64 // hits that score less are left out; 0: none is
	Strict     bool    // an answer that is not borne out is an error, too
	Verify     bool    // the model checks the claims as well; one more call
	Stream     bool    // Run: write delta and done records
	Question   string  // Run: the question of hits that come without a query

	Now       func() time.Time  // for the latency; nil: it is not measured
	Rand      io.Reader         // for the marks around passages; nil: crypto/rand
	Warn      func(msg string)  // nil: warnings are dropped
	Reasoning func(text string) // gets what a model thinks aloud; may be nil
	// Found is told what the answer can draw on, before its text begins; may be
	// nil. The passages must not be changed.
	Found func(q *record.Query, passages []record.Passage)
}

// Answer answers one question from its hits, best first. emit, which may be
// nil, gets the text as it comes; put together the pieces are the answer's
// Text.
//
// A refusal is no error. With an error the answer may still be there: for an
// [*IncompleteError], with Options.Strict for an [*UnsupportedError], and where
// the model was to verify the claims and failed, it holds what there is; for
// any other error it is nil.
func Answer(ctx context.Context, q *record.Query, hits []*record.Hit, opt Options, emit func(delta string)) (*record.Answer, error) {
	start := opt.now()
	w := &writer{q: q, opt: opt, emit: emit}
	w.passages, w.nearest = passages(hits, opt)
	if opt.Found != nil {
		opt.Found(q, w.passages)
	}
	a, err := w.answer(ctx)
	if a != nil && opt.Now != nil {
		a.LatencyMS = opt.now().Sub(start).Milliseconds()
	}
	return a, err
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Time{}
	}
	return o.Now()
}

func (o Options) warn(msg string) {
	if o.Warn != nil {
		o.Warn(msg)
	}
}

// writer makes one answer.
type writer struct {
	q        *record.Query
	opt      Options
	emit     func(string)
	passages []record.Passage
	nearest  *record.Hit // the best hit, whether or not it is a passage

	text   strings.Builder
	usage  *record.Usage
	finish string
}

func (w *writer) answer(ctx context.Context) (*record.Answer, error) {
	if reason := w.gate(); reason != "" {
		w.send(refusalText(w.q.Text))
		return w.refusal(reason), nil
	}
	marks, invalid, err := w.generate(ctx)
	if err != nil && w.text.Len() == 0 {
		return nil, err
	}
	if reason := w.incomplete(err); reason != "" {
		a := w.record()
		a.Reason, a.Invalid = reason, invalid
		w.cite(a, marks)
		return a, &IncompleteError{Query: w.q.ID, Reason: reason, Err: err}
	}
	if w.modelRefused(marks) {
		if w.text.Len() == 0 {
			w.send(refusalText(w.q.Text))
		}
		a := w.refusal(w.modelReason())
		a.Usage, a.Invalid = w.usage, invalid
		return a, nil
	}
	a := w.record()
	a.Complete, a.Invalid = true, invalid
	open := w.cite(a, marks)
	if w.opt.Verify && !w.opt.Generator.Offline() {
		if err := w.verify(ctx, a, open); err != nil {
			return a, err
		}
	}
	if w.opt.Strict {
		return a, Unsupported(a)
	}
	return a, nil
}

func (w *writer) send(delta string) {
	if delta == "" {
		return
	}
	w.text.WriteString(delta)
	if w.emit != nil {
		w.emit(delta)
	}
}

// record is an answer without its text's citations.
func (w *writer) record() *record.Answer {
	return &record.Answer{
		Query:      w.q.ID,
		Question:   w.q.Text,
		Text:       w.text.String(),
		Missing:    w.q.Missing,
		Passages:   w.passages,
		Confidence: w.q.Confidence,
		Floor:      w.q.Floor,
		Chunks:     w.q.Chunks,
		Documents:  w.q.Documents,
		Legs:       w.q.Legs,
		Model:      w.opt.Generator.Name(),
		Usage:      w.usage,
	}
}

func (w *writer) refusal(reason string) *record.Answer {
	a := w.record()
	a.Refused, a.Complete, a.Reason = true, true, reason
	return a
}

// generate streams the model's answer through the filters that make it kb's.
func (w *writer) generate(ctx context.Context) (marks []mark, invalid []int, err error) {
	offline := w.opt.Generator.Offline()
	req := model.Request{Question: w.q.Text, Passages: w.passages, Terms: w.q.Terms}
	if offline {
		req.Passages = quotable(w.passages)
	} else if req.Messages, err = messages(w.q.Text, w.passages, w.opt.Rand); err != nil {
		return nil, nil, err
	}
	f := newFilter(len(w.passages), offline)
	for ev, err2 := range w.opt.Generator.Generate(ctx, req) {
		if err2 != nil {
			err = err2
			break
		}
		if ev.Reasoning != "" && w.opt.Reasoning != nil {
			w.opt.Reasoning(ev.Reasoning)
		}
		if ev.Usage != nil {
			w.usage = ev.Usage
		}
		w.finish = ev.Finish
		w.send(f.write(ev.Text))
		if err = ctx.Err(); err != nil || ev.Finish != "" {
			break
		}
	}
	w.send(f.close())
	return f.markers.marks, f.markers.invalid, err
}

// incomplete says why the answer is not a whole one; "" if it is.
func (w *writer) incomplete(err error) string {
	if err != nil {
		return "the answer was cut off: " + err.Error()
	}
	switch w.finish {
	case "stop", "done", "eos", "end_turn", "stop_sequence":
		if w.text.Len() == 0 && !w.opt.Generator.Offline() {
			return "the model returned an empty answer"
		}
		return ""
	case "":
		return "the stream ended early"
	case "length", "max_tokens", "model_context_window_exceeded":
		return "the answer was cut off at the model's length limit"
	case "content_filter", "sensitive":
		return "the content filter of the model's server stopped the answer"
	}
	return fmt.Sprintf("the model's server ended the answer with %q", w.finish)
}

// cite fills in the citations and the claims; open is as [claims] says.
func (w *writer) cite(a *record.Answer, marks []mark) (open []int) {
	cited := make([]bool, len(w.passages)+1)
	for _, m := range marks {
		cited[m.n] = true
	}
	for _, p := range w.passages {
		if cited[p.N] {
			a.Citations = append(a.Citations, p)
		}
	}
	a.Claims, open = claims(a.Text, marks, w.passages, text.IsChinese(w.q.Text))
	return open
}

// Errors that callers tell apart with errors.Is.
var (
	ErrIncomplete  = errors.New("the answer is incomplete")
	ErrUnsupported = errors.New("the answer is not borne out by its sources")
)

// IncompleteError says why an answer did not come to its end. It is an
// [ErrIncomplete], and whatever Err is.
type IncompleteError struct {
	Query  string // the query's id
	Reason string
	Err    error // nil if the stream ended without one
}

func (e *IncompleteError) Error() string        { return e.Reason }
func (e *IncompleteError) Is(target error) bool { return target == ErrIncomplete }
func (e *IncompleteError) Unwrap() error        { return e.Err }

// UnsupportedError says what of an answer is not borne out. It is an
// [ErrUnsupported].
type UnsupportedError struct {
	Query   string // the query's id
	Claims  int
	Failed  int   // claims that are not supported
	Invalid []int // citations without a passage
}

func (e *UnsupportedError) Error() string {
	var parts []string
	if e.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d claims are not supported by their sources", e.Failed, e.Claims))
	}
	if e.Claims == 0 {
		parts = append(parts, "the answer makes no claim that could be checked")
	}
	if len(e.Invalid) > 0 {
		parts = append(parts, fmt.Sprintf("citations of passages that do not exist: %s", strings.Trim(fmt.Sprint(e.Invalid), "[]")))
	}
	return strings.Join(parts, "; ")
}

func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// Unsupported is the [*UnsupportedError] of an answer that is not fully borne
// out; nil for one that is, and for a refusal.
func Unsupported(a *record.Answer) error {
	if a.Refused {
		return nil
	}
	failed := 0
	for _, c := range a.Claims {
		if !c.Supported {
			failed++
		}
	}
	if failed == 0 && len(a.Invalid) == 0 && len(a.Claims) > 0 {
		return nil
	}
	return &UnsupportedError{Query: a.Query, Claims: len(a.Claims), Failed: failed, Invalid: a.Invalid}
}
