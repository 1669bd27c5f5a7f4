package answer

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"kb/pkg/record"
)

// labelled is one line of eval/claims.jsonl: a sentence, the passage that it
// cites, and whether that bears it out. Of each passage there are a sentence
// that is copied, one lightly edited, one with a synonym and one paraphrased,
// one with a changed number, a changed name or noun and a negation, and one
// that belongs to another passage.
type labelled struct {
	Lang, Kind, Sentence, Passage string
	Supported                     bool
}

// TestLabelledClaims holds the check of claims against eval/claims.jsonl:
// changed numbers and names must be caught and support that is verbatim or
// lightly edited must be accepted, in both languages; -v shows the table.
func TestLabelledClaims(t *testing.T) {
	type cell struct{ lang, kind string }
	right, all := map[cell]int{}, map[cell]int{}
	confusion := map[string]*[4]int{"zh": {}, "en": {}} // accepted: rightly, wrongly; marked: rightly, wrongly
	for _, l := range readLabelled(t) {
		accepted := accepts(t, l)
		k := cell{l.Lang, l.Kind}
		all[k]++
		if accepted == l.Supported {
			right[k]++
		} else {
			t.Logf("%s %s: accepted %t: %s", l.Lang, l.Kind, accepted, l.Sentence)
		}
		c := confusion[l.Lang]
		switch {
		case accepted && l.Supported:
			c[0]++
		case accepted:
			c[1]++
		case !l.Supported:
			c[2]++
		default:
			c[3]++
		}
	}
	kinds := []struct {
		name string
		min  float64 // share judged rightly; 0: measured only
	}{{"copied", 0.97}, {"light", 0.97}, {"synonym", 0.9}, {"paraphrase", 0}, {"number", 0.95}, {"name", 0.95}, {"noun", 0}, {"negated", 0}, {"other", 0.95}}
	total := 0
	for _, lang := range []string{"zh", "en"} {
		for _, kind := range kinds {
			k := cell{lang, kind.name}
			share := float64(right[k]) / float64(all[k])
			total += all[k]
			t.Logf("| %s | %-10s | %2d of %2d | %.2f |", lang, kind.name, right[k], all[k], share)
			if !(share >= kind.min) {
				t.Errorf("%s %s: %.2f judged rightly, want %.2f", lang, kind.name, share, kind.min)
			}
		}
		c := confusion[lang]
		t.Logf("%s: of the marked claims %s are not supported; of those not supported %s are marked",
			lang, ratio(c[2], c[2]+c[3]), ratio(c[2], c[2]+c[1]))
	}
	if total < 150 {
		t.Errorf("%d labelled claims, want 150", total)
	}
}

func ratio(a, b int) string { return fmt.Sprintf("%.2f (%d of %d)", float64(a)/float64(b), a, b) }

func readLabelled(t *testing.T) []labelled {
	f, err := os.Open("../../eval/claims.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []labelled
	for in := bufio.NewScanner(f); in.Scan(); {
		var l labelled
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// accepts says whether an answer that is this sentence, with a citation
// before its full stop, passes the check.
func accepts(t *testing.T, l labelled) bool {
	q := &record.Query{ID: "q", Text: "这是什么？"}
	if l.Lang == "en" {
		q.Text = "what is it?"
	}
	stop, size := utf8.DecodeLastRuneInString(l.Sentence)
	model := &replies{text: l.Sentence[:len(l.Sentence)-size] + "[1]" + string(stop)}
	hit := &record.Hit{Query: "q", ID: "h", Path: "note.md", Text: l.Passage}
	a, err := Answer(context.Background(), q, []*record.Hit{hit}, Options{Generator: model}, nil)
	if err != nil || a.Refused || len(a.Claims) == 0 {
		t.Fatalf("%q: %v, %+v", l.Sentence, err, a)
	}
	for _, c := range a.Claims {
		if !c.Supported {
			if l.Supported {
				t.Log(c.Why)
			}
			return false
		}
	}
	return strings.Contains(a.Text, "[1]")
}
