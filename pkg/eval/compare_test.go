package eval

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kb/pkg/jsonl"
)

// renamed is the judgments of one mode of the fixture under the name "m".
func renamed(t *testing.T, mode string) []*Judgment {
	of := filter(fixture(t), func(j *Judgment) bool { return j.Mode == mode })
	for _, j := range of {
		j.Mode = "m"
	}
	return of
}

func TestBaseline(t *testing.T) {
	var file bytes.Buffer
	w := jsonl.NewWriter(&file)
	before := renamed(t, "one")
	for _, j := range before {
		if err := w.Write(j); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range Summarise(before, 1) {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	read, err := ReadBaseline(jsonl.Input{Name: "base", R: bytes.NewReader(file.Bytes())})
	if err != nil || len(read) != 4 {
		t.Fatalf("%d judgments, %v", len(read), err)
	}

	c, err := Compare(renamed(t, "two"), read, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range c.Changes {
		got = append(got, x.String())
	}
	for _, d := range c.Beyond(0) {
		got = append(got, d.String())
	}
	want := `lost   q2 "b": rank 1 → 2 (b.md › H)
gained q4 "n": answered → refused
hit1 1.000 → 0.500 in mode m (by 0.500)
hit 1.000 → 0.500 in mode m (by 0.500)
mrr 1.000 → 0.750 in mode m (by 0.250)`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if n := len(c.Beyond(0.25)); n != 2 {
		t.Errorf("%d drops beyond 0.25, want 2", n)
	}
	if n := len(c.Beyond(0.5)); n != 0 {
		t.Errorf("%d drops beyond 0.5, want none", n)
	}
}

func TestBaselineInOtherTerms(t *testing.T) {
	all := renamed(t, "one")
	c, err := Compare(all[1:], all[:3], 1)
	if err != nil || c.New != 1 || c.Gone != 1 || len(c.Changes) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Compare(all[:2], all[2:], 1); err == nil {
		t.Error("nothing in common, and no error")
	}
	for file, want := range map[string]string{
		"":                                    "base: no judgment records",
		`{"kind":"report"}`:                   "base: no judgment records",
		"{\"kind\":\"report\"}\n{":            "base:2: not a JSON object",
		`{"kind":"judgment","rank":"first"}`:  `base:1: field "rank" is a string`,
		`{"kind":"judgment","hits":"a", "a"}`: "base:1: not a JSON object",
	} {
		_, err := ReadBaseline(jsonl.Input{Name: "base", R: strings.NewReader(file)})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}

func TestGolden(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "golden")
	if _, err := CompareGolden(dir, nil, 1); err == nil {
		t.Error("no golden files, and no error")
	}
	before := renamed(t, "one")
	if written, removed, err := UpdateGolden(dir, before, 1); written != 4 || removed != 0 || err != nil {
		t.Fatalf("%d written, %d removed, %v", written, removed, err)
	}
	if d, err := CompareGolden(dir, before, 1); len(d) != 0 || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	own := filepath.Join(dir, "README.txt")
	if err := os.WriteFile(own, []byte("about\n"), 0o666); err != nil {
		t.Fatal(err)
	}

	after := renamed(t, "two")[:3] // b moved, n is gone
	d, err := CompareGolden(dir, after, 1)
	if err != nil || len(d) != 2 {
		t.Fatalf("%v, %v", d, err)
	}
	want := `  question: b
  mode: m
  wanted: b.md
- outcome: rank 1
+ outcome: rank 2

- 1 * b.md › H
+ 1   x.md › H
+ 2 * b.md › H
`
	if d[0].Diff != want || !strings.HasPrefix(d[0].Name, "b-") {
		t.Errorf("%s\n%swant\n%s", d[0].Name, d[0].Diff, want)
	}
	if written, removed, err := UpdateGolden(dir, after, 1); written != 1 || removed != 1 || err != nil {
		t.Errorf("%d written, %d removed, %v", written, removed, err)
	}
	if _, err := os.Stat(own); err != nil {
		t.Error(err)
	}
}

func TestJUnit(t *testing.T) {
	judgments := renamed(t, "two")
	judgments[0].Question = "a <&\"\x01 b"
	gates := []*Outcome{{"m", Gate{"hit", 0.9}, 0.5, false}, {"m", Gate{"mrr", 0.1}, 0.75, true}}
	var file bytes.Buffer
	if err := WriteJUnit(&file, judgments, gates, 1); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(file.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, file.String())
	}
	if got.Tests != 6 || got.Failures != 3 || len(got.Suites) != 2 {
		t.Fatalf("%d tests, %d failures, %d suites", got.Tests, got.Failures, len(got.Suites))
	}
	cases := got.Suites[0].Cases
	if cases[0].Name != "q1 a <&\"\uFFFD b" || cases[0].Failure != nil || cases[1].Failure == nil || cases[1].Failure.Message != "rank 2" ||
		cases[2].Failure == nil || cases[2].Failure.Message != "answered" {
		t.Errorf("%+v", cases)
	}
	if f := got.Suites[1].Cases[0].Failure; f == nil || f.Message != "hit 0.500 < 0.9 (by 0.400)" {
		t.Errorf("gate: %+v", f)
	}
}
