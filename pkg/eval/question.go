package eval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kb/pkg/jsonl"
	"kb/pkg/record"
	"kb/pkg/store"
)

// Question is one question of a file, and what would answer it.
type Question struct {
	ID    string // of the line, or made from the text: the same in every run
	Label string // for people: the line's own id, or q and its line in the file
	Text  string
	Tags  []string
	// Answerable is false for a question that should be refused.
	Answerable  bool
	MustContain []string // the wanted hit holds all of them
	Source      []string // and its path is one of these paths or globs
	Passages    []string // ids (or paths) of the wanted hits; judged by them alone if there are any

	folded  []string // MustContain
	sources *store.Matcher
}

// line is a question as it stands in a file. Other fields are allowed.
type line struct {
	ID          string `json:"id"`
	Q           string `json:"q"`
	Question    string `json:"question"` // other names of q, see [record.QuestionFields]
	Query       string `json:"query"`
	MustContain list   `json:"must_contain"`
	Source      list   `json:"source"`
	Tags        list   `json:"tags"`
	Passages    list   `json:"passages"`
	Answerable  *bool  `json:"answerable"` // nil: it is if anything is wanted
}

func (*line) Kind() string { return "" }

// list is a list of strings; a single string is a list of one, and blank
// strings count as absent.
type list []string

func (l *list) UnmarshalJSON(b []byte) error {
	var one string
	many := []string{}
	if json.Unmarshal(b, &one) == nil {
		many = []string{one}
	} else if json.Unmarshal(b, &many) != nil {
		return fmt.Errorf("%.40s is neither a string nor a list of strings", b)
	}
	for _, s := range many {
		if strings.TrimSpace(s) != "" {
			*l = append(*l, s)
		}
	}
	return nil
}

// ErrNoQuestions is returned for a file without any question.
var ErrNoQuestions = errors.New(`no questions: want lines like {"q": "…", "must_contain": "…", "source": "notes/…"}`)

// ReadQuestions reads a file of questions. A question with must_contain,
// source or passages has an answer; one with none of them, or with
// "answerable": false, should be refused. A line that cannot be right is a
// [*jsonl.Error].
func ReadQuestions(in jsonl.Input) ([]*Question, error) {
	var questions []*Question
	seen := map[string]int{}
	err := eachObject(in, func(n int, object []byte) error {
		q, err := parseQuestion(n, object)
		if err != nil {
			return err
		}
		if first, ok := seen[q.ID]; ok {
			return repeated(q, first)
		}
		seen[q.ID] = n
		questions = append(questions, q)
		return nil
	})
	if err == nil && len(questions) == 0 {
		err = fmt.Errorf("%s: %w", in.Name, ErrNoQuestions)
	}
	return questions, err
}

func repeated(q *Question, first int) error {
	if q.Label == q.ID {
		return fmt.Errorf("the id %q is that of line %d already", q.ID, first)
	}
	return fmt.Errorf("the same question as in line %d; remove one, or give each an id of its own", first)
}

func parseQuestion(n int, object []byte) (*Question, error) {
	var l line
	if err := record.Decode(object, &l); err != nil {
		return nil, err
	}
	l.Q = cmp.Or(l.Q, l.Question, l.Query)
	if strings.TrimSpace(l.Q) == "" {
		return nil, errors.New(`no question: want {"q": "…"}`)
	}
	q := &Question{ID: l.ID, Label: l.ID, Text: l.Q, Tags: l.Tags}
	if l.ID == "" {
		q.ID, q.Label = record.QueryID(l.Q), fmt.Sprintf("q%d", n)
	}
	wanted := len(l.MustContain)+len(l.Source)+len(l.Passages) > 0
	q.Answerable = wanted
	if l.Answerable != nil {
		q.Answerable = *l.Answerable
	}
	switch {
	case !q.Answerable:
		return q, nil
	case !wanted:
		return nil, errors.New("answerable, but none of must_contain, source and passages says by what")
	}
	q.MustContain, q.Source, q.Passages = l.MustContain, l.Source, l.Passages
	for _, s := range q.MustContain {
		q.folded = append(q.folded, fold(s))
	}
	var err error
	q.sources, err = store.NewMatcher(store.Filter{Paths: q.Source})
	return q, err
}

// Unreachable returns the questions of whose sources, or passages, the index
// has none, so that no way of finding could ever get them right. chunks are the
// ids of the chunks; they are looked at only where a question lists passages.
func Unreachable(questions []*Question, paths []string, chunks map[string]bool) []*Question {
	var out []*Question
	for _, q := range questions {
		if q.Answerable && !q.reachable(paths, chunks) {
			out = append(out, q)
		}
	}
	return out
}

func (q *Question) reachable(paths []string, chunks map[string]bool) bool {
	if len(q.Passages) > 0 {
		return slices.ContainsFunc(q.Passages, func(p string) bool { return chunks[p] || slices.Contains(paths, p) })
	}
	return len(q.Source) == 0 || slices.ContainsFunc(paths, q.from)
}

// Wanted names what a question without a reachable answer asked for.
func (q *Question) Wanted() string {
	if len(q.Passages) > 0 {
		return "passage " + strings.Join(q.Passages, " or ")
	}
	return "document " + strings.Join(q.Source, " or ")
}
