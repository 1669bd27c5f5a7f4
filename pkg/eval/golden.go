package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"kb/pkg/record"
)

// A golden file is the ranking of one question as a small text, so that a
// change of the ranking can be read as a diff:
//
//	question: how do I rotate keys?
//	mode: hybrid+rerank
//	wanted: notes/runbook.md, with "rotate_keys"
//	outcome: rank 2
//
//	1   notes/security.md › Keys
//	2 * notes/runbook.md › Key rotation
//
// There are no scores, lines or times in it: they change without the ranking.

const goldenHead = "question: "

// golden renders a judgment: the first k hits, and the wanted one below them.
func golden(j *Judgment, k int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\nmode: %s\n", goldenHead, oneLine(j.Question), j.Mode)
	fmt.Fprintf(&b, "wanted: %s\noutcome: %s\n\n", j.wanted.describe(), j.outcome())
	for i, h := range j.Hits {
		if i >= k && i+1 != j.Rank {
			continue
		}
		mark := " "
		if h.Wanted {
			mark = "*"
		}
		fmt.Fprintf(&b, "%d %s %s\n", i+1, mark, h.place())
	}
	return b.String()
}

// describe says what would answer the question.
func (q *Question) describe() string {
	switch {
	case !q.Answerable:
		return "a refusal"
	case len(q.Passages) > 0:
		return oneLine(strings.Join(q.Passages, ", "))
	}
	var parts []string
	if len(q.Source) > 0 {
		parts = append(parts, strings.Join(q.Source, " or "))
	}
	if len(q.MustContain) > 0 {
		quoted := make([]string, len(q.MustContain))
		for i, s := range q.MustContain {
			quoted[i] = strconv.Quote(s)
		}
		parts = append(parts, "with "+strings.Join(quoted, " and "))
	}
	return oneLine(strings.Join(parts, ", "))
}

func (j *Judgment) outcome() string {
	text := "not found"
	switch {
	case !j.Answerable && j.Refused:
		return "refused"
	case !j.Answerable:
		return "answered"
	case j.Rank > 0:
		text = fmt.Sprintf("rank %d", j.Rank)
	}
	if j.Refused {
		text += ", but refused"
	}
	return text
}

// place is the path, page and headings of a hit.
func (f Found) place() string {
	where := f.Path
	if f.Page > 0 {
		where += fmt.Sprintf(" p.%d", f.Page)
	}
	return oneLine(strings.Join(append([]string{where}, f.Headings...), " › "))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// goldenName is a file name that a reader recognises and that no other
// question has: the letters of the question, and a part of the hash of its id.
func goldenName(j *Judgment) string {
	var b strings.Builder
	for _, r := range j.Question {
		if b.Len() >= 60 {
			break
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		} else if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-") + "-" + record.QueryID(j.ID)[:8] + ".txt"
}

// Difference is a golden file that is not what the ranking is now.
type Difference struct {
	Name string // of the file
	Diff string // lines with "- " (the file), "+ " (now) or two spaces before them
}

// ErrNoGolden is returned for a folder that has nothing to compare with.
var ErrNoGolden = errors.New("no golden files")

// CompareGolden holds the judgments of one mode against the golden files in a
// folder, by name. It fails if the folder has no golden file.
func CompareGolden(dir string, judgments []*Judgment, k int) ([]Difference, error) {
	have, err := readGolden(dir)
	if err != nil {
		return nil, err
	}
	if len(have) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoGolden)
	}
	want := render(judgments, k)
	var out []Difference
	for _, name := range sortedNames(have, want) {
		if have[name] != want[name] {
			out = append(out, Difference{name, diff(have[name], want[name])})
		}
	}
	return out, nil
}

// UpdateGolden writes the golden files of the judgments of one mode, and
// removes those of questions that are gone. It says how many files it wrote,
// as they were not the same already, and removed.
func UpdateGolden(dir string, judgments []*Judgment, k int) (written, removed int, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, 0, err
	}
	have, err := readGolden(dir)
	if err != nil {
		return 0, 0, err
	}
	want := render(judgments, k)
	for _, name := range sortedNames(have, want) {
		file := filepath.Join(dir, name)
		text, wanted := want[name]
		switch {
		case !wanted:
			err = os.Remove(file)
			removed++
		case have[name] != text:
			err = os.WriteFile(file, []byte(text), 0o666)
			written++
		}
		if err != nil {
			return written, removed, err
		}
	}
	return written, removed, nil
}

func render(judgments []*Judgment, k int) map[string]string {
	out := make(map[string]string, len(judgments))
	for _, j := range judgments {
		out[goldenName(j)] = golden(j, k)
	}
	return out
}

// readGolden reads the golden files of a folder and leaves other files alone.
func readGolden(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".txt" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(string(text), goldenHead) {
			out[e.Name()] = string(text)
		}
	}
	return out, nil
}

func sortedNames(a, b map[string]string) []string {
	var out []string
	for name := range a {
		out = append(out, name)
	}
	for name := range b {
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
