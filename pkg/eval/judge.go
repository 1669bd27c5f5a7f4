package eval

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"kb/pkg/record"
)

// KindJudgment is the kind of a [Judgment].
const KindJudgment = "judgment"

// Judgment is what became of one question in one mode. It holds nothing that
// changes from run to run, so that a file of judgments is a baseline that can
// be kept and compared.
type Judgment struct {
	Mode       string   `json:"mode"`
	ID         string   `json:"id"` // of the question
	Question   string   `json:"q"`
	Tags       []string `json:"tags,omitempty"`
	Answerable bool     `json:"answerable"`
	Rank       int      `json:"rank"`           // of the first wanted hit, from 1; 0: not among those looked at
	NDCG       *float64 `json:"ndcg,omitempty"` // nDCG@10, where the wanted passages are listed
	Refused    bool     `json:"refused"`
	Confidence *float64 `json:"confidence"` // null when not known: the floor does not refuse then
	Floor      float64  `json:"floor"`
	Hits       []Found  `json:"hits"`

	label   string
	signals map[string]float64 // what the confidence was made of
	wanted  *Question          // what was asked for, for messages
	latency time.Duration
}

// Found is a hit of a judgment: where it stands, and whether it is wanted.
type Found struct {
	ID       string   `json:"id"` // of the chunk
	Path     string   `json:"path"`
	Headings []string `json:"headings,omitempty"`
	Page     int      `json:"page,omitempty"`
	Wanted   bool     `json:"wanted,omitempty"`
}

// Kind makes a judgment a record.
func (*Judgment) Kind() string { return KindJudgment }

// Right says whether all went well: a question with an answer has a wanted hit
// among the first k and is not refused, any other is refused.
func (j *Judgment) Right(k int) bool {
	if !j.Answerable {
		return j.Refused
	}
	return j.hit(k) && !j.Refused
}

func (j *Judgment) hit(k int) bool { return j.Rank > 0 && j.Rank <= k }

func judge(q *Question, found *record.Query, hits []*record.Hit) *Judgment {
	j := &Judgment{
		ID: q.ID, Question: q.Text, Tags: q.Tags, Answerable: q.Answerable,
		Refused:    len(hits) == 0 || found.Confidence != nil && *found.Confidence < found.Floor,
		Confidence: found.Confidence, Floor: found.Floor,
		Hits: []Found{}, label: q.Label, signals: found.Signals, wanted: q,
	}
	for i, h := range hits {
		f := Found{ID: h.ID, Path: h.Path, Headings: h.Headings, Page: h.Page, Wanted: q.Wants(h)}
		if f.Wanted && j.Rank == 0 {
			j.Rank = i + 1
		}
		j.Hits = append(j.Hits, f)
	}
	if q.Answerable && len(q.Passages) > 0 {
		x := ndcg(q.Passages, hits)
		j.NDCG = &x
	}
	return j
}

// Wants says whether a hit answers the question.
func (q *Question) Wants(h *record.Hit) bool {
	switch {
	case !q.Answerable:
		return false
	case len(q.Passages) > 0:
		return slices.Contains(q.Passages, h.Path) || slices.Contains(q.Passages, h.ID)
	case len(q.Source) > 0 && !q.from(h.Path):
		return false
	}
	text := ""
	for _, wanted := range q.folded {
		if text == "" {
			text = fold(h.Text)
		}
		if !strings.Contains(text, wanted) {
			return false
		}
	}
	return true
}

// from says whether a document is a source of the answer.
func (q *Question) from(path string) bool {
	return slices.Contains(q.Source, path) || q.sources.Match(path, nil)
}

// fold makes texts comparable: NFKC, and no white space, which differs
// between a file, a line break in it and what a PDF gives.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(s))
}

// ndcg is the normalised discounted cumulative gain over the first [Depth]
// hits, with a gain of 1 for each wanted passage where it first occurs:
//
//	Σ gain(i) / log2(i+1), over the same sum for the best possible order
//
// (Järvelin and Kekäläinen, ACM TOIS 20, 2002).
func ndcg(passages []string, hits []*record.Hit) float64 {
	left := make(map[string]bool, len(passages))
	for _, p := range passages {
		left[p] = true
	}
	gain, ideal := 0.0, 0.0
	for i := range min(len(left), Depth) {
		ideal += discount(i)
	}
	for i, h := range hits[:min(len(hits), Depth)] {
		if left[h.Path] || left[h.ID] {
			gain += discount(i)
		}
		delete(left, h.Path)
		delete(left, h.ID)
	}
	return gain / ideal
}

func discount(i int) float64 { return 1 / math.Log2(float64(i)+2) }
