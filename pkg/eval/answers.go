package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"kb/pkg/record"
)

// Kinds of [Answered] and [AnswerReport].
const (
	KindAnswered     = "answered"
	KindAnswerReport = "answer_report"
)

// Ask answers a question. An error beside an answer says that this is not a
// whole one.
type Ask func(ctx context.Context, question string) (*record.Answer, error)

// Answered is what became of one question that was answered, not only
// searched.
type Answered struct {
	ID         string   `json:"id"`
	Question   string   `json:"q"`
	Tags       []string `json:"tags,omitempty"`
	Answerable bool     `json:"answerable"`
	Text       string   `json:"text"`
	Refused    bool     `json:"refused"`
	Complete   bool     `json:"complete"`
	// Contains is true if the text holds every must_contain; null where the
	// question has none.
	Contains    *bool         `json:"contains"`
	Cited       int           `json:"cited"`       // passages
	CitedRight  int           `json:"cited_right"` // those of the question's source
	Claims      int           `json:"claims"`
	Unsupported int           `json:"unsupported"`       // claims that are not borne out
	Invalid     int           `json:"invalid_citations"` // of passages that do not exist
	Usage       *record.Usage `json:"usage,omitempty"`

	label   string
	latency time.Duration
}

// Kind makes it a record.
func (*Answered) Kind() string { return KindAnswered }

// Good says whether nothing is wrong with the answer, or the refusal.
func (a *Answered) Good() bool {
	if !a.Answerable {
		return a.Refused
	}
	return a.Complete && !a.Refused && (a.Contains == nil || *a.Contains) && a.CitedRight > 0 && a.Unsupported == 0 && a.Invalid == 0
}

// Fault says what is wrong, for people; "" if nothing is.
func (a *Answered) Fault() string {
	var faults []string
	note := func(is bool, fault string) {
		if is {
			faults = append(faults, fault)
		}
	}
	switch {
	case a.Answerable && a.Refused:
		return a.label + ": refused"
	case !a.Answerable && !a.Refused:
		return a.label + ": answered, and should be refused"
	case !a.Answerable:
		return ""
	}
	note(!a.Complete, "incomplete")
	note(a.Contains != nil && !*a.Contains, "the expected text is missing")
	note(a.CitedRight == 0, "the source is not cited")
	note(a.Unsupported > 0, fmt.Sprintf("%d of %d claims not supported", a.Unsupported, a.Claims))
	note(a.Invalid > 0, "citations that do not exist")
	if len(faults) == 0 {
		return ""
	}
	return a.label + ": " + strings.Join(faults, "; ")
}

// Answers puts every question to ask. An answer that is not whole counts as
// such; any other error ends the sequence.
func Answers(ctx context.Context, questions []*Question, ask Ask, now func() time.Time) iter.Seq2[*Answered, error] {
	return func(yield func(*Answered, error) bool) {
		for _, q := range questions {
			began := now()
			a, err := ask(ctx, q.Text)
			if ctx.Err() != nil {
				err, a = ctx.Err(), nil
			}
			if a == nil {
				if err == nil {
					err = errors.New("no answer")
				}
				yield(nil, fmt.Errorf("%s: %w", q.Label, err))
				return
			}
			judged := judgeAnswer(q, a)
			judged.latency = now().Sub(began)
			if !yield(judged, nil) {
				return
			}
		}
	}
}

func judgeAnswer(q *Question, a *record.Answer) *Answered {
	out := &Answered{
		ID: q.ID, Question: q.Text, Tags: q.Tags, Answerable: q.Answerable, Text: a.Text,
		Refused: a.Refused, Complete: a.Complete, Cited: len(a.Citations), Claims: len(a.Claims),
		Invalid: len(a.Invalid), Usage: a.Usage, label: q.Label,
	}
	for _, p := range a.Citations {
		if q.cites(p) {
			out.CitedRight++
		}
	}
	for _, c := range a.Claims {
		if !c.Supported {
			out.Unsupported++
		}
	}
	if q.Answerable && len(q.folded) > 0 {
		text := fold(a.Text)
		all := !slices.ContainsFunc(q.folded, func(wanted string) bool { return !strings.Contains(text, wanted) })
		out.Contains = &all
	}
	return out
}

// cites says whether a passage is of the question's source, or where none is
// named is a wanted one.
func (q *Question) cites(p record.Passage) bool {
	if q.Answerable && len(q.Passages) == 0 && len(q.Source) > 0 {
		return q.from(p.Path)
	}
	return q.Wants(&record.Hit{ID: p.ID, Path: p.Path, Text: p.Text})
}

// AnswerReport holds the figures of answers. A figure without anything to
// measure it on is nil.
type AnswerReport struct {
	Model      string `json:"model"`
	Questions  int    `json:"questions"`
	Answerable int    `json:"answerable"`

	Contains          *float64 `json:"contains"`           // share of those with an expected text whose answer holds it; a refusal does not
	CitationPrecision *float64 `json:"citation_precision"` // share of the cited passages that are of the source
	CitationRecall    *float64 `json:"citation_recall"`    // share of the answers, refusals aside, that cite the source
	Claims            int      `json:"claims"`
	Supported         *float64 `json:"supported"` // share of the claims that are borne out
	Precision         *float64 `json:"refusal_precision"`
	Recall            *float64 `json:"refusal_recall"`
	FalseRefusals     *float64 `json:"false_refusals"`
	Incomplete        int      `json:"incomplete"`
	Invalid           int      `json:"invalid_citations"`

	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	P50              float64 `json:"latency_p50_ms"`
	P95              float64 `json:"latency_p95_ms"`
}

// Kind makes it a record.
func (*AnswerReport) Kind() string { return KindAnswerReport }

// SummariseAnswers makes the report of all answers of a model.
func SummariseAnswers(model string, answers []*Answered) *AnswerReport {
	r := &AnswerReport{Model: model, Questions: len(answers)}
	var contains, precise, cites, supported, refusals, recalled, wrong mean
	var latencies []time.Duration
	for _, a := range answers {
		latencies = append(latencies, a.latency)
		r.Claims += a.Claims
		r.Invalid += a.Invalid
		if a.Usage != nil {
			r.PromptTokens += a.Usage.PromptTokens
			r.CompletionTokens += a.Usage.CompletionTokens
		}
		if !a.Complete {
			r.Incomplete++
		}
		for i := range a.Claims {
			supported.count(i >= a.Unsupported)
		}
		if a.Refused {
			refusals.count(!a.Answerable)
		}
		if !a.Answerable {
			recalled.count(a.Refused)
			continue
		}
		r.Answerable++
		wrong.count(a.Refused)
		if a.Contains != nil {
			contains.count(*a.Contains && !a.Refused)
		}
		if a.Refused {
			continue
		}
		cites.count(a.CitedRight > 0)
		for i := range a.Cited {
			precise.count(i < a.CitedRight)
		}
	}
	r.Contains, r.CitationPrecision, r.CitationRecall, r.Supported = contains.value(), precise.value(), cites.value(), supported.value()
	r.Recall, r.FalseRefusals = recalled.value(), wrong.value()
	if r.Recall != nil {
		r.Precision = refusals.value()
	}
	slices.Sort(latencies)
	r.P50, r.P95 = percentile(latencies, 50), percentile(latencies, 95)
	return r
}

// answerMetrics are the figures that a gate can ask for; more of each is
// better.
func (r *AnswerReport) answerMetrics() []struct {
	name  string
	value *float64
} {
	return []struct {
		name  string
		value *float64
	}{
		{"contains", r.Contains}, {"citation_precision", r.CitationPrecision}, {"citation_recall", r.CitationRecall},
		{"supported", r.Supported}, {"refusal", r.Recall}, {"precision", r.Precision}, {"answered", answered(r.FalseRefusals)},
	}
}

// ParseAnswerGates reads "contains=0.8,supported=0.95".
func ParseAnswerGates(s string) ([]Gate, error) {
	var known []string
	for _, m := range new(AnswerReport).answerMetrics() {
		known = append(known, m.name)
	}
	return parseGates(s, known)
}

// CheckAnswers holds a report against the gates; a figure that could not be
// measured counts as 0.
func CheckAnswers(gates []Gate, r *AnswerReport) []*Outcome {
	var out []*Outcome
	for _, g := range gates {
		value := 0.0
		for _, m := range r.answerMetrics() {
			if m.name == g.Metric && m.value != nil {
				value = *m.value
			}
		}
		out = append(out, &Outcome{r.Model, g, value, value >= g.Min-rounding})
	}
	return out
}

// WriteAnswerTable writes reports as a Markdown table, a model a row.
func WriteAnswerTable(w io.Writer, reports []*AnswerReport) error {
	rows := [][]string{{"model", "questions", "expected text", "citation P / R", "claims supported", "answer refusal P / R", "answers refused wrongly", "incomplete", "p50", "p95"}}
	for _, r := range reports {
		rows = append(rows, []string{
			cell(r.Model), fmt.Sprint(r.Questions), figure(r.Contains, 3), figure(r.CitationPrecision, 2) + " / " + figure(r.CitationRecall, 2),
			figure(r.Supported, 3), figure(r.Precision, 2) + " / " + figure(r.Recall, 2), percent(r.FalseRefusals),
			fmt.Sprint(r.Incomplete), milliseconds(r.P50), milliseconds(r.P95),
		})
	}
	return writeRows(w, rows)
}
