package answer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"kb/pkg/record"
	"kb/pkg/text"
)

// An answer is refused at one of three gates: no hit is good enough, the
// confidence is below the index's calibrated floor, or the model finds no
// answer in the passages. The first two cost no model call.

// The sentences of a refusal. The prompt asks the model for the same ones.
const (
	refusalZH = "资料中没有找到相关内容。"
	refusalEN = "The notes do not contain an answer to this."
)

// refusalText is a refusal in the question's language.
func refusalText(question string) string {
	if text.IsChinese(question) {
		return refusalZH
	}
	return refusalEN
}

// gate says why the question is refused without asking the model; "" if it is
// not.
func (w *writer) gate() string {
	weak := w.weak()
	if weak != "" && len(w.q.Missing) > 0 {
		return Missing(w.q.Missing) + "; " + weak
	}
	return weak
}

func (w *writer) weak() string {
	switch {
	case w.nearest == nil:
		if why := w.q.WhyNothing(); why != "" {
			return w.searched() + "nothing found: " + why
		}
		return w.searched() + "nothing found"
	case len(w.passages) == 0:
		return fmt.Sprintf("%s (too weak: score %.2f, wanted %.2f)", w.nearestTo(), w.nearest.Score, w.opt.MinScore)
	case w.q.Confidence == nil || *w.q.Confidence >= w.q.Floor:
	default:
		return fmt.Sprintf("%s (too weak: confidence %s, floor %.2f)", w.nearestTo(), below(*w.q.Confidence, w.q.Floor), w.q.Floor)
	}
	return ""
}

// Missing says which names of a question the notes do not have.
func Missing(names []string) string {
	quoted := `"` + Plain(strings.Join(names, `", "`)) + `"`
	if len(names) == 1 {
		return quoted + " does not occur in the notes"
	}
	return quoted + " do not occur in the notes"
}

// modelReason is the reason of a refusal by the model, or by the offline
// answerer.
func (w *writer) modelReason() string {
	n := len(w.passages)
	if w.opt.Generator.Offline() {
		return fmt.Sprintf("%s (no sentence of the %s answers it)", w.nearestTo(), count(n, "passage"))
	}
	if n == 1 {
		return w.nearestTo() + " (the model found no answer in the passage)"
	}
	return fmt.Sprintf("%s (the model found no answer in the %d passages)", w.nearestTo(), n)
}

func (w *writer) nearestTo() string {
	h := w.nearest
	return w.searched() + "nearest: " + Where(passage(1, h))
}

func (w *writer) searched() string {
	if w.q.Chunks == 0 {
		return ""
	}
	if w.q.Documents == 0 {
		return fmt.Sprintf("searched %d chunks; ", w.q.Chunks)
	}
	return fmt.Sprintf("searched %s of %s; ", count(w.q.Chunks, "chunk"), count(w.q.Documents, "document"))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Where says where a passage stands, for people: notes/x.pdf p.1 › 1.1 总则,
// notes/course.md:3 › 课程安排. The path and the line or page come first, so
// that terminals can open them.
func Where(p record.Passage) string {
	var b strings.Builder
	b.WriteString(Plain(p.Path))
	switch {
	case p.Page > 0:
		fmt.Fprintf(&b, " p.%d", p.Page)
	case p.Line > 0:
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	for _, h := range p.Headings {
		if h = oneLine(h); h != "" {
			b.WriteString(" › " + h)
		}
	}
	return b.String()
}

// oneLine is a heading or a path without line ends and control characters.
func oneLine(s string) string { return strings.Join(strings.Fields(Plain(s)), " ") }

// modelRefused says whether the model's answer, which cites nothing, says that
// the passages do not hold one. An empty answer is the extractive generator's
// way to say so.
func (w *writer) modelRefused(marks []mark) bool {
	return w.text.Len() == 0 || isRefusal(w.text.String(), len(marks) > 0)
}

// longestRefusal is how many characters a refusal in the model's own words may
// have: a longer text without citations says something besides.
const longestRefusal = 160

func isRefusal(answer string, cites bool) bool {
	s := strings.Trim(text.Normalize(stripMarks(answer)), " \n\t.。!！*_\"'“”`>")
	for _, exact := range []string{refusalZH, refusalEN} {
		if s == strings.TrimRight(text.Normalize(exact), ".。") {
			return true
		}
	}
	if utf8.RuneCountInString(s) > longestRefusal || cites && !speaksOfNotes(s) {
		return false
	}
	return refusesZH(s) || refusesEN(s)
}

// speaksOfNotes says whether an answer that cites is one clause about the notes
// themselves ("The passages do not mention it [1]"): then it may be a refusal.
func speaksOfNotes(s string) bool {
	subject := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(s, "the "), "provided "), "given ")
	return !strings.ContainsAny(s, ",;:，；：。") && !containsAny(s, "但", "而是", " but ", " only ") &&
		beginsWithAny(subject, "note", "passage", "document", "source", "context", "资料", "笔记", "文档", "上下文", "所给资料", "提供的资料")
}

// stripMarks drops [n] from a normalised text.
func stripMarks(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '[')
		if i < 0 {
			return b.String() + s
		}
		end := i + 1 + len(s[i+1:]) - len(strings.TrimLeft(s[i+1:], "0123456789"))
		if end > i+1 && strings.HasPrefix(s[end:], "]") {
			b.WriteString(s[:i])
			s = s[end+1:]
			continue
		}
		b.WriteString(s[:i+1])
		s = s[i+1:]
	}
}

// refusesZH knows the ways to say in Chinese that the material has no answer:
// it begins so, or it speaks of the material or the question, and close behind
// a negation stands a verb of finding or telling.
func refusesZH(s string) bool {
	if beginsWithAny(strings.TrimPrefix(s, "我"), "不知道", "不清楚", "不确定", "无法回答", "无法确定", "没法回答", "没有找到", "未找到", "找不到", "查不到", "抱歉", "很抱歉", "对不起") {
		return true
	}
	if !containsAny(s, "资料", "文档", "笔记", "上下文", "内容", "信息", "材料", "片段", "知识库", "问题", "答案") {
		return false
	}
	for i := range s {
		rest := s[i:]
		for _, no := range []string{"没有", "未", "无法", "不能", "无", "不", "没"} {
			if after, ok := strings.CutPrefix(rest, no); ok && containsAny(firstRunes(after, 7), "找", "提及", "提到", "包含",
				"回答", "涉及", "相关", "说明", "足", "给出", "提供", "记载", "答案", "信息", "查到") {
				return true
			}
		}
	}
	return false
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// refusesEN does the same for English.
func refusesEN(s string) bool {
	s = strings.ReplaceAll(s, "’", "'")
	if beginsWithAny(s, "i don't know", "i do not know", "i'm not sure", "i am not sure", "i can't answer", "i cannot answer", "i'm unable to",
		"i am unable to", "i couldn't find", "i could not find", "i can't find", "i cannot find", "i'm sorry", "i am sorry", "sorry", "unfortunately",
		"not found", "not mentioned", "no answer", "no information", "no relevant", "there is no information", "there is nothing") {
		return true
	}
	return containsAny(s, "note", "passage", "document", "context", "source", "material", "information", "question", "answer", "text") &&
		containsAny(s, "do not", "does not", "don't", "doesn't", "did not", "cannot", "can't", "could not", "couldn't",
			"unable", "no information", "no answer", "no relevant", "not enough", "insufficient", "is not", "are not",
			"isn't", "aren't", "not mentioned", "nothing", "no mention") &&
		containsAny(s, "contain", "find", "found", "mention", "answer", "provide", "include", "information", "relevant",
			"specif", "address", "discuss", "state", "say", "cover", "know", "determine", "tell", "indicate", "describe", "explain", "list")
}

func beginsWithAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// below writes a value so that it can be seen to be below a limit that has two
// decimals.
func below(value, limit float64) string {
	short := fmt.Sprintf("%.2f", value)
	if short != fmt.Sprintf("%.2f", limit) {
		return short
	}
	return fmt.Sprintf("%.4f", value)
}
