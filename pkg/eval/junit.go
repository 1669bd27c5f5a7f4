package eval

import (
	"fmt"
	"html"
	"io"
	"strings"
	"time"
	"unicode"
)

// WriteJUnit writes what continuous integration servers read of JUnit's
// format (https://github.com/testmoapp/junitxml): a suite for each mode, with
// a case for each question that fails if it is not [Judgment.Right], and a
// suite for the gates. It is written by hand, as encoding/xml costs every
// start of the program.
func WriteJUnit(w io.Writer, judgments []*Judgment, gates []*Outcome, k int) error {
	var suites []*suite
	for _, mode := range modes(judgments) {
		s := &suite{name: "kb eval " + mode}
		for _, j := range filter(judgments, func(j *Judgment) bool { return j.Mode == mode }) {
			s.judgment(j, k)
		}
		suites = append(suites, s)
	}
	if len(gates) > 0 {
		s := &suite{name: "kb eval gates"}
		for _, o := range gates {
			failure := ""
			if !o.Passed {
				failure = o.String()
			}
			s.add(fmt.Sprintf("%s ≥ %g", o.Metric, o.Min), 0, failure, "")
		}
		suites = append(suites, s)
	}
	tests, failures := 0, 0
	for _, s := range suites {
		tests, failures = tests+s.tests, failures+s.failures
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%d\" failures=\"%d\">\n", tests, failures)
	for _, s := range suites {
		fmt.Fprintf(&b, "  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" time=\"%.3f\">\n%s  </testsuite>\n",
			escape(s.name), s.tests, s.failures, s.took.Seconds(), s.cases.String())
	}
	b.WriteString("</testsuites>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// suite is a testsuite element in the making.
type suite struct {
	name            string
	tests, failures int
	took            time.Duration
	cases           strings.Builder
}

func (s *suite) judgment(j *Judgment, k int) {
	failure, detail := "", ""
	if !j.Right(k) {
		failure, detail = j.outcome(), "wanted: "+j.wanted.describe()+"\n"
		for i, h := range j.Hits {
			detail += fmt.Sprintf("%d %s\n", i+1, h.place())
		}
	}
	s.add(j.label+" "+oneLine(j.Question), j.latency, failure, detail)
}

// add adds a test case; it failed if failure is not empty.
func (s *suite) add(name string, took time.Duration, failure, detail string) {
	s.tests++
	s.took += took
	fmt.Fprintf(&s.cases, "    <testcase classname=\"%s\" name=\"%s\" time=\"%.3f\"", escape(s.name), escape(name), took.Seconds())
	if failure == "" {
		s.cases.WriteString("/>\n")
		return
	}
	s.failures++
	fmt.Fprintf(&s.cases, ">\n      <failure message=\"%s\">%s</failure>\n    </testcase>\n", escape(failure), escape(detail))
}

// escape makes a text fit for XML 1.0, which has no way to write most control
// characters.
func escape(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return unicode.ReplacementChar
		}
		return r
	}, s))
}
