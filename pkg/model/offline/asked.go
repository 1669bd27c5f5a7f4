package offline

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// asked is the last question that a note asks itself, which is a heading of
// what answers it: the next maxAnswers sentences to the end of the paragraph or
// the list.
type asked struct {
	tokens map[string]bool
	item   bool            // the question is an item of a list: the next item is another's
	last   passageSentence // of the answer so far
	left   int             // how many sentences more the answer may have
}

const maxAnswers = 3

func (a *asked) ask(question passageSentence) {
	*a = asked{tokens: tokenSet(question.text), item: question.item, left: maxAnswers}
}

// answers says whether the next sentence is part of the answer.
func (a *asked) answers(s passageSentence) bool {
	begun := a.last.text != ""
	if a.left == 0 || begun && (a.item && s.item || s.begins && !(a.last.item && s.item)) {
		a.left = 0
		return false
	}
	a.last = s
	a.left--
	return true
}

// asks says whether a sentence asks, by its mark or by a label ("Q: …",
// "问：…"), and returns it without the label.
func asks(s string) (string, bool) {
	asking := cutLabel(s, "q", "question", "问", "問", "问题", "問題")
	return asking, asking != s || lastMark(s, "?？")
}

// cutAnswerLabel drops the "A:" of an answer.
func cutAnswerLabel(s string) string {
	return cutLabel(s, "a", "answer", "答", "答案", "回答")
}

// isLabelled says whether what a line begins with is the label of a question
// or of an answer.
func isLabelled(line string) bool {
	line, _, _ = strings.Cut(line, "\n")
	s := plain(line)
	asking, _ := asks(s)
	return asking != s || cutAnswerLabel(s) != s
}

// cutLabel drops one of the labels, with or without a number ("Q3:"), if
// something stands behind it.
func cutLabel(s string, labels ...string) string {
	i := strings.IndexAny(s, ":：")
	if i < 0 || i > 12 {
		return s
	}
	_, mark := utf8.DecodeRuneInString(s[i:])
	rest := strings.TrimSpace(s[i+mark:])
	label := strings.TrimRight(strings.ToLower(s[:i]), "0123456789 ")
	if rest == "" || !slices.Contains(labels, label) {
		return s
	}
	return rest
}
