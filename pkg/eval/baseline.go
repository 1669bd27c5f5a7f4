package eval

import (
	"errors"
	"fmt"

	"kb/pkg/jsonl"
	"kb/pkg/record"
)

// KindChange is the kind of a [Change].
const KindChange = "change"

// ErrNoJudgments is returned for a baseline without judgments.
var ErrNoJudgments = errors.New(`no judgment records: want what "kb eval --json" wrote`)

// ReadBaseline reads the judgments of an earlier evaluation; records of other
// kinds are passed over. A line that cannot be read is a [*jsonl.Error].
func ReadBaseline(in jsonl.Input) ([]*Judgment, error) {
	var out []*Judgment
	err := eachObject(in, func(_ int, object []byte) error {
		if record.KindOf(object) != KindJudgment {
			return nil
		}
		j := new(Judgment)
		if err := record.Decode(object, j); err != nil {
			return err
		}
		out = append(out, j)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: %w", in.Name, ErrNoJudgments)
	}
	return out, err
}

// Change is a question that fares better or worse than in the baseline.
type Change struct {
	Mode     string `json:"mode"`
	ID       string `json:"id"`
	Question string `json:"q"`
	What     string `json:"what"` // gained or lost
	Before   State  `json:"before"`
	Now      State  `json:"now"`

	label, place string
}

// State is what a change is a change of.
type State struct {
	Rank    int  `json:"rank"`
	Refused bool `json:"refused"`
}

// Values of Change.What.
const (
	Gained = "gained"
	Lost   = "lost"
)

// Kind makes a change a record.
func (*Change) Kind() string { return KindChange }

// String is `lost  q17 "…": rank 1 → 3 (notes/runbook.md › 密钥轮换)`.
func (c *Change) String() string {
	text := fmt.Sprintf("%-6s %s %q: %s", c.What, c.label, c.Question, c.moved())
	if c.place != "" {
		text += " (" + c.place + ")"
	}
	return text
}

func (c *Change) moved() string {
	if c.Before.Refused != c.Now.Refused {
		if c.Now.Refused {
			return "answered → refused"
		}
		return "refused → answered"
	}
	rank := func(n int) string {
		if n == 0 {
			return "none"
		}
		return fmt.Sprint(n)
	}
	return "rank " + rank(c.Before.Rank) + " → " + rank(c.Now.Rank)
}

// Drop is a figure, over the questions that both evaluations have, that is
// lower than in the baseline.
type Drop struct {
	Mode, Metric string
	Before, Now  float64
}

func (d Drop) String() string {
	return fmt.Sprintf("%s %.3f → %.3f in mode %s (by %s)", d.Metric, d.Before, d.Now, d.Mode, gap(d.Before-d.Now))
}

// Comparison is an evaluation beside its baseline.
type Comparison struct {
	Changes []*Change // in the order of the judgments
	Drops   []Drop    // of any size
	New     int       // judgments that the baseline does not have
	Gone    int       // and the other way around, in the modes compared
}

// Count is the number of changes of a kind.
func (c *Comparison) Count(what string) int {
	n := 0
	for _, x := range c.Changes {
		if x.What == what {
			n++
		}
	}
	return n
}

// Beyond are the drops that are greater than the tolerance.
func (c *Comparison) Beyond(tolerance float64) []Drop {
	var out []Drop
	for _, d := range c.Drops {
		if d.Before-d.Now > tolerance+rounding {
			out = append(out, d)
		}
	}
	return out
}

// Compare puts judgments beside those of a baseline: same mode, same question,
// the same k for both. It fails if the two have nothing in common.
func Compare(now, before []*Judgment, k int) (*Comparison, error) {
	type key struct{ mode, id string }
	old := map[key]*Judgment{}
	for _, j := range before {
		old[key{j.Mode, j.ID}] = j
	}
	c := &Comparison{}
	for _, mode := range modes(now) {
		var a, b []*Judgment
		for _, j := range filter(now, func(j *Judgment) bool { return j.Mode == mode }) {
			o := old[key{mode, j.ID}]
			if o == nil || o.Answerable != j.Answerable {
				c.New++
				continue
			}
			a, b = append(a, o), append(b, j)
			if change := compare(o, j); change != nil {
				c.Changes = append(c.Changes, change)
			}
		}
		if len(a) == 0 {
			continue
		}
		there := 0
		for k := range old {
			if k.mode == mode {
				there++
			}
		}
		c.Gone += there - len(a)
		c.Drops = append(c.Drops, drops(summary(mode, "", a, k), summary(mode, "", b, k))...)
	}
	if c.New == len(now) {
		return nil, errors.New("the baseline has none of these questions in any of these modes")
	}
	return c, nil
}

// compare says how a question's fate changed. Whether it is refused comes
// first: a refused question shows no hit, wherever it stands.
func compare(before, now *Judgment) *Change {
	better := 0
	switch {
	case before.Refused != now.Refused:
		better = -1
		if now.Refused != now.Answerable {
			better = 1
		}
	case now.Answerable && before.Rank != now.Rank:
		better = -1
		if reciprocal(now.Rank) > reciprocal(before.Rank) {
			better = 1
		}
	default:
		return nil
	}
	c := &Change{Mode: now.Mode, ID: now.ID, Question: now.Question, What: Lost, label: now.label,
		Before: State{before.Rank, before.Refused}, Now: State{now.Rank, now.Refused}}
	if better > 0 {
		c.What = Gained
	}
	if c.place = now.wantedPlace(); c.place == "" {
		c.place = before.wantedPlace()
	}
	return c
}

// wantedPlace is where the first wanted hit stands.
func (j *Judgment) wantedPlace() string {
	for _, h := range j.Hits {
		if h.Wanted {
			return h.place()
		}
	}
	return ""
}

// drops compares all metrics but the precision of refusals, which falls with
// every right refusal less and has no value without one.
func drops(before, now *Report) []Drop {
	var out []Drop
	for _, m := range metrics() {
		a, b := m.of(before), m.of(now)
		if m.name != "precision" && a != nil && b != nil && *b < *a-rounding {
			out = append(out, Drop{now.Mode, m.name, *a, *b})
		}
	}
	return out
}
