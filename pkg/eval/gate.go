package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// KindGate is the kind of an [Outcome].
const KindGate = "gate"

// metric is a figure that a gate can ask for; more of each is better.
type metric struct {
	name string
	of   func(*Report) *float64
	on   func(*Question) bool // the questions that it is measured on
	who  string
}

func metrics() []metric {
	answerable := func(q *Question) bool { return q.Answerable }
	return []metric{
		{"hit1", func(r *Report) *float64 { return r.Hit1 }, answerable, "with an answer"},
		{"hit", func(r *Report) *float64 { return r.Hit }, answerable, "with an answer"},
		{"mrr", func(r *Report) *float64 { return r.MRR }, answerable, "with an answer"},
		{"ndcg", func(r *Report) *float64 { return r.NDCG },
			func(q *Question) bool { return len(q.Passages) > 0 }, "with passages"},
		{"refusal", func(r *Report) *float64 { return r.Recall },
			func(q *Question) bool { return !q.Answerable }, "that should be refused"},
		{"precision", func(r *Report) *float64 { return r.Precision },
			func(q *Question) bool { return !q.Answerable }, "that should be refused"},
		{"answered", func(r *Report) *float64 { return answered(r.FalseRefusals) }, answerable, "with an answer"},
	}
}

// answered is the share of the answerable questions that are not refused.
func answered(falseRefusals *float64) *float64 {
	if falseRefusals == nil {
		return nil
	}
	x := 1 - *falseRefusals
	return &x
}

// Gate is the least value of a metric that is good enough: hit1, hit (Hit@K),
// mrr, ndcg, refusal (recall of refusals), precision (of refusals), answered
// (1 - false refusals).
type Gate struct {
	Metric string  `json:"metric"`
	Min    float64 `json:"min"`
}

// ParseGates reads "hit=0.9,mrr=0.8".
func ParseGates(s string) ([]Gate, error) {
	return parseGates(s, names())
}

func parseGates(s string, known []string) ([]Gate, error) {
	var gates []Gate
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown metric %q (%s)", name, strings.Join(known, ", "))
		}
		least, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(least >= 0 && least <= 1) {
			return nil, fmt.Errorf("%s: want %s= and a number from 0 to 1", part, name)
		}
		gates = append(gates, Gate{name, least})
	}
	return gates, nil
}

func metricNamed(name string) (metric, bool) {
	for _, m := range metrics() {
		if m.name == name {
			return m, true
		}
	}
	return metric{}, false
}

func names() []string {
	var out []string
	for _, m := range metrics() {
		out = append(out, m.name)
	}
	return out
}

// Measurable says in advance whether the questions can tell if the gates are
// passed: a metric without any question to measure it on would gate nothing.
func Measurable(gates []Gate, questions []*Question) error {
	for _, g := range gates {
		m, _ := metricNamed(g.Metric)
		measured := false
		for _, q := range questions {
			measured = measured || m.on(q)
		}
		if !measured {
			return fmt.Errorf("%s cannot be measured: there is no question %s", g.Metric, m.who)
		}
	}
	return nil
}

// Outcome is what became of a gate.
type Outcome struct {
	Mode string `json:"mode"`
	Gate
	Value  float64 `json:"value"`
	Passed bool    `json:"passed"`
}

// Kind makes an outcome a record.
func (*Outcome) Kind() string { return KindGate }

// Check holds a report over all questions against the gates. Where nothing
// was refused, the precision of refusals counts as 0.
func Check(gates []Gate, r *Report) []*Outcome {
	var out []*Outcome
	for _, g := range gates {
		m, _ := metricNamed(g.Metric)
		value := 0.0
		if x := m.of(r); x != nil {
			value = *x
		}
		out = append(out, &Outcome{r.Mode, g, value, value >= g.Min-rounding})
	}
	return out
}

// rounding is what sums of floating-point numbers may be off by.
const rounding = 1e-9

// String is "hit 0.979 ≥ 0.9", or by how much the gate was missed.
func (o *Outcome) String() string {
	if o.Passed {
		return fmt.Sprintf("%s %.3f ≥ %g", o.Metric, o.Value, o.Min)
	}
	return fmt.Sprintf("%s %.3f < %g (by %s)", o.Metric, o.Value, o.Min, gap(o.Min-o.Value))
}

// gap shows a difference with as many digits as it takes to see it.
func gap(x float64) string {
	if x < 0.001 {
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.3f", x)
}
