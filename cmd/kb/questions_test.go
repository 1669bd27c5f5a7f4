package main

import (
	"os"
	"slices"
	"testing"

	"kb/pkg/eval"
	"kb/pkg/jsonl"
	"kb/pkg/record"
	"kb/pkg/store/flat"
	"kb/pkg/text"
)

// The questions of eval/ are what every change of retrieval is judged by, so
// they are judged themselves: there are enough of each kind, each has a passage
// in notes/ that would be right, and a paraphrase shares few terms with it.
func TestQuestions(t *testing.T) {
	file, err := os.Open("../../eval/questions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	questions, err := eval.ReadQuestions(jsonl.Input{Name: file.Name(), R: file})
	if err != nil {
		t.Fatal(err)
	}
	chunks := repositoryChunks(t)
	analyzer, err := text.NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, q := range questions {
		counts["all"]++
		for _, tag := range q.Tags {
			if tag != "paraphrase" {
				counts[tag]++
			}
		}
		if slices.Contains(q.Tags, "unanswerable") == q.Answerable {
			t.Errorf("%s: tagged %v, but answerable is %v", q.Text, q.Tags, q.Answerable)
		}
		if !q.Answerable {
			continue
		}
		least, found := 1.0, false
		for _, c := range chunks {
			if q.Wants(&record.Hit{ID: c.ID, Path: c.Path, Text: c.Text}) {
				found, least = true, min(least, shared(analyzer, q.Text, c))
			}
		}
		if !found {
			t.Errorf("%s: no passage of notes/ would be right", q.Text)
		}
		if slices.Contains(q.Tags, "paraphrase") && least <= 1./3 {
			counts["paraphrase"]++
		}
	}
	for tag, least := range map[string]int{"all": 60, "unanswerable": 12, "identifier": 8, "paraphrase": 8, "cross-language": 6} {
		if counts[tag] < least {
			t.Errorf("%d questions with tag %s, want at least %d", counts[tag], tag, least)
		}
	}
}

// repositoryChunks are the chunks of the index that comes with the repository.
func repositoryChunks(t *testing.T) []*record.Chunk {
	t.Helper()
	r, err := flat.New("../../index.jsonl.zst").Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var chunks []*record.Chunk
	for c, err := range r.Chunks(t.Context(), "", false) {
		if err != nil {
			t.Fatal(err)
		}
		chunks = append(chunks, c)
	}
	return chunks
}

// shared is the share of the question's terms that a chunk holds.
func shared(a text.Analyzer, question string, c *record.Chunk) float64 {
	terms, tokens, n := a.QueryTerms(question), a.Tokens(c.FullText()), 0
	for _, term := range terms {
		if slices.Contains(tokens, term) {
			n++
		}
	}
	return float64(n) / float64(max(len(terms), 1))
}
