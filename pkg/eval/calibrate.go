package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"

	"kb/pkg/store"
)

// Calibrating fits the refusal floor to an index and its embedder: a question
// whose confidence is below the floor is refused.
//
// The floor is the one with the greatest balanced accuracy,
//
//	(share of the unanswerable that are refused + share of the answerable that are not) / 2
//
// which, unlike accuracy, does not depend on how many of each a file happens
// to hold; among those that refuse at most a tenth of the answerable ones, and
// of equally good floors the lowest, as a false refusal is the worse surprise.
// All floors that tell the confidences apart are tried, each half way between two
// of them: sorting is the cost.
//
// A floor is flattered by the questions that it was fitted on. So the figures
// are cross-validated: questions are dealt to folds by a hash of their text,
// the same in every run, and each fold is refused by a floor fitted on the
// others. The floor itself is fitted on all. The floor that was in force is
// measured on all questions, which is fair to both as long as it was fitted on
// none of them: see [Calibration.Worse].
//
// With a semantic embedder the confidence of many questions is not known
// before: words do not speak against an answer that shares none with the
// question, and what the vectors tell depends on the model. There the vectors'
// part is fitted first, in each fold anew, see [fitStandout]. A question whose
// confidence is still not known is refused by no floor; it counts as answered
// throughout.

// KindCalibration is the kind of a [Calibration].
const KindCalibration = "calibration"

const (
	folds = 5
	// fewest questions of either kind: with less, a fold decides by chance
	fewest = 10
	// most of the answerable questions that a fitted floor may refuse
	mostFalse = 0.1
)

// ErrNoConfidence is returned where no floor would change anything.
var ErrNoConfidence = errors.New("no question has a confidence: a floor would refuse none of them")

// Calibration is a fitted floor and how well it does.
type Calibration struct {
	Mode       string  `json:"mode"`
	Floor      float64 `json:"floor"`
	Questions  int     `json:"questions"`
	Answerable int     `json:"answerable"`
	Unknown    int     `json:"confidence_unknown"` // never refused by a floor
	Slope      float64 `json:"slope,omitempty"`    // of the vectors' part, see [store.Calibration]
	Middle     float64 `json:"middle,omitempty"`
	Folds      int     `json:"folds"`
	Held       Point   `json:"cross_validated"`   // each fold by a floor fitted on the others; its Floor is their mean
	Now        Point   `json:"before"`            // by the floor that was in force
	Calibrated bool    `json:"before_calibrated"` // that floor was fitted, too, maybe on these questions
	Stored     bool    `json:"stored"`            // false where the floor in force does better, see [Calibration.Worse]
	Curve      []Point `json:"curve"`             // on all questions: flattering at the floor that was fitted on them
}

// Point is how well a floor does.
type Point struct {
	Floor         float64  `json:"floor"`
	Precision     *float64 `json:"precision"` // of refusals; null where nothing is refused
	Recall        float64  `json:"recall"`
	FalseRefusals float64  `json:"false_refusals"`
	Balanced      float64  `json:"balanced_accuracy"`
}

// Kind makes a calibration a record.
func (*Calibration) Kind() string { return KindCalibration }

// Calibrate fits the floor to the judgments of one mode. The floor in force is
// that of the judgments; calibrated says whether it was fitted, too.
func Calibrate(judgments []*Judgment, calibrated bool) (*Calibration, error) {
	c := &Calibration{Questions: len(judgments), Folds: folds, Calibrated: calibrated}
	for _, j := range judgments {
		c.Mode = j.Mode
		if j.Answerable {
			c.Answerable++
		}
	}
	if without := c.Questions - c.Answerable; c.Answerable < fewest || without < fewest {
		return nil, fmt.Errorf("%d questions with an answer and %d without: calibration needs at least %d of each",
			c.Answerable, without, fewest)
	}
	c.Now = at(judgments, judgments[0].Floor)
	if err := c.crossValidate(judgments); err != nil {
		return nil, err
	}
	s := fitStandout(judgments)
	judgments = s.apply(judgments)
	for _, j := range judgments {
		if j.Confidence == nil {
			c.Unknown++
		}
	}
	if c.Unknown == len(judgments) {
		return nil, ErrNoConfidence
	}
	if s != nil {
		c.Slope, c.Middle = s.Slope, s.Middle
	}
	c.Floor = fit(judgments)
	c.Curve = curve(judgments, c.Floor)
	return c, nil
}

// crossValidate refuses each fold by a floor that was fitted on the others.
func (c *Calibration) crossValidate(judgments []*Judgment) error {
	var t tally
	mean := 0.0
	for fold := range folds {
		train := filter(judgments, func(j *Judgment) bool { return foldOf(j) != fold })
		if !both(train) {
			return errors.New("all questions of one kind fall into one fold of the cross-validation: add some more")
		}
		s := fitStandout(train)
		floor := fit(s.apply(train))
		mean += floor / folds
		for _, j := range s.apply(judgments) {
			if foldOf(j) == fold {
				t.add(j, refusedAt(j, floor))
			}
		}
	}
	c.Held = t.point(mean)
	return nil
}

func foldOf(j *Judgment) int {
	h := fnv.New32a()
	io.WriteString(h, j.Question)
	return int(h.Sum32() % folds)
}

func both(judgments []*Judgment) bool {
	yes := func(j *Judgment) bool { return j.Answerable }
	no := func(j *Judgment) bool { return !j.Answerable }
	return slices.ContainsFunc(judgments, yes) && slices.ContainsFunc(judgments, no)
}

// refusedAt is what the answer stage would do with another floor.
func refusedAt(j *Judgment, floor float64) bool {
	return len(j.Hits) == 0 || j.Confidence != nil && *j.Confidence < floor
}

// fit returns the floor with the greatest balanced accuracy. It raises the
// floor over one confidence after the other and keeps count.
func fit(judgments []*Judgment) float64 {
	var t tally
	var sorted []*Judgment
	for _, j := range judgments {
		t.add(j, len(j.Hits) == 0)
		if len(j.Hits) > 0 && j.Confidence != nil {
			sorted = append(sorted, j)
		}
	}
	slices.SortFunc(sorted, func(a, b *Judgment) int { return cmp.Compare(*a.Confidence, *b.Confidence) })
	if len(sorted) == 0 {
		return 0
	}
	floor, best := between(0, *sorted[0].Confidence), t.balanced()
	for i := 0; i+1 < len(sorted); i++ {
		t.refuse(sorted[i])
		low, high := *sorted[i].Confidence, *sorted[i+1].Confidence
		if x := t.balanced(); low < high && x > best+rounding && t.falseRate() <= mostFalse {
			floor, best = between(low, high), x
		}
	}
	return floor
}

// between is a number above low and not above high with few digits, near the
// middle of the two; high where there is none.
func between(low, high float64) float64 {
	middle := low + (high-low)/2
	for scale := 100.0; scale < 1e12; scale *= 10 {
		if x := math.Round(middle*scale) / scale; low < x && x <= high {
			return x
		}
	}
	return high
}

// tally counts refusals.
type tally struct{ right, wrong, answerable, unanswerable int }

func (t *tally) add(j *Judgment, refused bool) {
	if j.Answerable {
		t.answerable++
	} else {
		t.unanswerable++
	}
	if refused {
		t.refuse(j)
	}
}

func (t *tally) refuse(j *Judgment) {
	if j.Answerable {
		t.wrong++
	} else {
		t.right++
	}
}

func (t *tally) recall() float64 { return float64(t.right) / float64(t.unanswerable) }
func (t *tally) falseRate() float64 {
	return float64(t.wrong) / float64(t.answerable)
}
func (t *tally) balanced() float64 { return (t.recall() + 1 - t.falseRate()) / 2 }

func (t *tally) point(floor float64) Point {
	p := Point{Floor: floor, Recall: t.recall(), FalseRefusals: t.falseRate(), Balanced: t.balanced()}
	if refused := t.right + t.wrong; refused > 0 {
		x := float64(t.right) / float64(refused)
		p.Precision = &x
	}
	return p
}

func at(judgments []*Judgment, floor float64) Point {
	var t tally
	for _, j := range judgments {
		t.add(j, refusedAt(j, floor))
	}
	return t.point(floor)
}

// curve is how floors from 0 to 0.95, and the one that was fitted, do.
func curve(judgments []*Judgment, fitted float64) []Point {
	floors := []float64{fitted}
	for i := range 20 {
		floors = append(floors, float64(i)/20)
	}
	slices.Sort(floors)
	var out []Point
	for _, floor := range slices.Compact(floors) {
		out = append(out, at(judgments, floor))
	}
	return out
}

// WriteCalibration writes the curve as a Markdown table and marks the floor.
func WriteCalibration(w io.Writer, c *Calibration) error {
	rows := [][]string{{"floor", "refusal P / R", "false refusals", "balanced accuracy", ""}}
	row := func(p Point, note string) {
		rows = append(rows, []string{fmt.Sprintf("%.4g", p.Floor), figure(p.Precision, 2) + " / " + figure(&p.Recall, 2),
			percent(&p.FalseRefusals), figure(&p.Balanced, 3), note})
	}
	for _, p := range c.Curve {
		note := ""
		if p.Floor == c.Floor {
			note = "fitted"
		}
		row(p, note)
	}
	if err := writeRows(w, rows); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	rows = rows[:1]
	held := c.Held
	held.Floor = c.Floor
	note := "in force until now"
	if c.Calibrated {
		note += " (fitted, too: flattered if on these questions)"
	}
	row(c.Now, note)
	row(held, fmt.Sprintf("fitted, %d-fold cross-validated", c.Folds))
	return writeRows(w, rows)
}

// Worse says whether the fitted floor does worse than the one that was in
// force, on questions that neither was fitted on. It is not worse than itself,
// nor than a floor that was calibrated, which these questions may flatter, nor
// than one that refuses more of the answerable questions than a fitted one may.
func (c *Calibration) Worse() bool {
	return !c.Calibrated && c.Floor != c.Now.Floor && c.Now.FalseRefusals <= mostFalse && c.Held.Balanced < c.Now.Balanced
}

// String sums the calibration up.
func (c *Calibration) String() string {
	return fmt.Sprintf("floor %g (was %g), %d-fold cross-validated: refusal precision %s, recall %.2f, false refusals %s, balanced accuracy %.3f (was %.3f)",
		c.Floor, c.Now.Floor, c.Folds, figure(c.Held.Precision, 2), c.Held.Recall, percent(&c.Held.FalseRefusals), c.Held.Balanced, c.Now.Balanced)
}

// ErrChanged is returned where the index is no longer the one that was
// searched.
var ErrChanged = errors.New("the index was changed while it was evaluated: run it again")

// Save stores the floor in the index, if it still is of the version that was
// searched; formula names the confidence that the judgments have.
func (c *Calibration) Save(ctx context.Context, st store.Store, version, formula string) (store.Info, error) {
	tx, err := st.Begin(ctx, true)
	if err != nil {
		return store.Info{}, err
	}
	defer tx.Rollback()
	if tx.Reader() == nil || tx.Reader().Info().Version != version {
		return store.Info{}, fmt.Errorf("%s: %w", st.Name(), ErrChanged)
	}
	settings := tx.Reader().Info().Settings
	settings.Calibration = &store.Calibration{Confidence: formula, Floor: c.Floor, Questions: c.Questions,
		Recall: c.Held.Recall, FalseRatio: c.Held.FalseRefusals, Slope: c.Slope, Middle: c.Middle}
	if c.Held.Precision != nil {
		settings.Calibration.Precision = *c.Held.Precision
	}
	committed, err := tx.Commit(ctx, settings)
	c.Stored = err == nil
	return committed, err
}
