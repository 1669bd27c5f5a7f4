package eval

import (
	"slices"
	"time"
)

// KindReport is the kind of a [Report].
const KindReport = "report"

// Report holds the figures of one mode over the questions with one tag, or
// over all. A figure without a question to measure it on is nil.
type Report struct {
	Mode       string `json:"mode"`
	Tag        string `json:"tag"` // "" for all questions
	Questions  int    `json:"questions"`
	Answerable int    `json:"answerable"`
	K          int    `json:"k"`

	// Over the answerable questions:
	Hit1 *float64 `json:"hit1"` // share with a wanted hit in the first place
	Hit  *float64 `json:"hit"`  // and among the first K
	MRR  *float64 `json:"mrr"`  // mean of 1/rank over the first 10 (or K)
	NDCG *float64 `json:"ndcg"` // nDCG@10, over those that list their passages

	Precision     *float64 `json:"refusal_precision"` // share of the refused that should be
	Recall        *float64 `json:"refusal_recall"`    // share of those that should be refused that are
	FalseRefusals *float64 `json:"false_refusals"`    // share of the answerable that are refused
	Unknown       int      `json:"confidence_unknown"`

	P50 float64 `json:"latency_p50_ms"`
	P95 float64 `json:"latency_p95_ms"`
}

// Kind makes a report a record.
func (*Report) Kind() string { return KindReport }

// Summarise makes the reports of judgments: for each mode in the order in
// which they come one over all questions, then one for each tag by its name.
func Summarise(judgments []*Judgment, k int) []*Report {
	var reports []*Report
	for _, mode := range modes(judgments) {
		of := filter(judgments, func(j *Judgment) bool { return j.Mode == mode })
		reports = append(reports, summary(mode, "", of, k))
		for _, tag := range tags(of) {
			tagged := filter(of, func(j *Judgment) bool { return slices.Contains(j.Tags, tag) })
			reports = append(reports, summary(mode, tag, tagged, k))
		}
	}
	return reports
}

// Overall is the report of a mode over all questions; nil if there is none.
func Overall(reports []*Report, mode string) *Report {
	for _, r := range reports {
		if r.Mode == mode && r.Tag == "" {
			return r
		}
	}
	return nil
}

func summary(mode, tag string, of []*Judgment, k int) *Report {
	r := &Report{Mode: mode, Tag: tag, Questions: len(of), K: k}
	var hit1, hit, rr, gain, precise, recalled, wrong mean
	var latencies []time.Duration
	for _, j := range of {
		latencies = append(latencies, j.latency)
		if j.Confidence == nil {
			r.Unknown++
		}
		if j.Refused {
			precise.count(!j.Answerable)
		}
		if !j.Answerable {
			recalled.count(j.Refused)
			continue
		}
		r.Answerable++
		wrong.count(j.Refused)
		hit1.count(j.hit(1))
		hit.count(j.hit(k))
		rr.add(reciprocal(j.Rank))
		if j.NDCG != nil {
			gain.add(*j.NDCG)
		}
	}
	r.Hit1, r.Hit, r.MRR, r.NDCG = hit1.value(), hit.value(), rr.value(), gain.value()
	r.Recall, r.FalseRefusals = recalled.value(), wrong.value()
	if r.Recall != nil { // else every refusal is wrong, whatever the floor
		r.Precision = precise.value()
	}
	slices.Sort(latencies)
	r.P50, r.P95 = percentile(latencies, 50), percentile(latencies, 95)
	return r
}

func reciprocal(rank int) float64 {
	if rank == 0 {
		return 0
	}
	return 1 / float64(rank)
}

// mean is an average that knows whether it has anything to average.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) { m.sum += x; m.n++ }

func (m *mean) count(yes bool) {
	if yes {
		m.sum++
	}
	m.n++
}

func (m *mean) value() *float64 {
	if m.n == 0 {
		return nil
	}
	x := m.sum / float64(m.n)
	return &x
}

// percentile is the smallest of the sorted values that p percent do not
// exceed, in milliseconds.
func percentile(sorted []time.Duration, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := (len(sorted)*p + 99) / 100
	return float64(sorted[max(i-1, 0)].Microseconds()) / 1000
}

// modes lists the modes in the order in which they come.
func modes(judgments []*Judgment) []string {
	var out []string
	for _, j := range judgments {
		if !slices.Contains(out, j.Mode) {
			out = append(out, j.Mode)
		}
	}
	return out
}

// tags lists the tags by name.
func tags(judgments []*Judgment) []string {
	var out []string
	for _, j := range judgments {
		out = append(out, j.Tags...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func filter(judgments []*Judgment, keep func(*Judgment) bool) []*Judgment {
	var out []*Judgment
	for _, j := range judgments {
		if keep(j) {
			out = append(out, j)
		}
	}
	return out
}
