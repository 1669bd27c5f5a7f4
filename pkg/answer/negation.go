package answer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A claim contradicts its source if it denies what the source only affirms, or
// affirms what the source only denies. What is denied is the content behind a
// negator, modal words passed over: 审批 in 不需要审批, requir in "does not
// require".
//
//	claim 不需要审批, source 需要审批        no sentence of the source with 审批 denies anything
//	claim 周日安排考试, source 周日不安排考试  安排 is only denied, and the claim is close to that sentence
//
// Both rules give way when in doubt: any negator in the sentence is enough.

// minEcho is the share of a denied sentence's terms that a claim must have for
// its missing negator to be a contradiction.
const minEcho = 0.6

// contradicts returns the words of a folded claim, or of the source, that deny
// what the other affirms; "" if there are none.
func (s *source) contradicts(claim string) string {
	denied := denials(claim)
	for _, d := range denied {
		if s.only(d.content, false) {
			return d.literal
		}
	}
	if len(denied) > 0 || denies(claim) {
		return ""
	}
	have := make(map[string]bool)
	for _, t := range terms(claim) {
		have[t] = true
	}
	for _, sentence := range s.sentences {
		for _, clause := range clauses(sentence) {
			for _, d := range denials(clause) {
				if affirms(claim, d.content) && echo(have, clause) >= minEcho && s.only(d.content, true) {
					return d.literal
				}
			}
		}
	}
	return ""
}

// affirms says whether a claim has the content at the beginning of a word:
// impossible does not affirm possible.
func affirms(claim, content string) bool {
	for at := 0; ; {
		i := strings.Index(claim[at:], content)
		if i < 0 {
			return false
		}
		at += i
		if before, _ := utf8.DecodeLastRuneInString(claim[:at]); !isNameRune(before) || !isNameRune(rune(content[0])) {
			return true
		}
		at++
	}
}

// echo is the share of the clause's terms that a claim has.
func echo(have map[string]bool, clause string) float64 {
	found, all := 0, 0
	for _, t := range terms(clause) {
		if strings.ContainsFunc(t, isNegatorRune) {
			continue
		}
		all++
		if have[t] {
			found++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(found) / float64(all)
}

// only says whether the content occurs in the source, and in denying sentences
// only (denied) or in none (not denied).
func (s *source) only(content string, denied bool) bool {
	occurs := false
	for _, sentence := range s.sentences {
		if !strings.Contains(sentence, content) {
			continue
		}
		if denies(sentence) != denied {
			return false
		}
		occurs = true
	}
	return occurs
}

func clauses(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("，,。.；;：:！!？?（）()\n", r) })
}

// denial is a negator with the content that it denies.
type denial struct{ content, literal string }

// denies says whether a folded text has any negator.
func denies(s string) bool {
	for i := 0; i < len(s); {
		if negator(s, i) > 0 {
			return true
		}
		i = nextUnit(s, i)
	}
	return containsAny(s, "拒绝", "取消", "停止", "免", "暂停", "除外", "refus", "prohibit", "forbid", "deni", "deny", "lack", "fail", "unable", "except")
}

// denials returns the negators of a folded text whose content is known.
func denials(s string) []denial {
	var out []denial
	for i := 0; i < len(s); {
		n := negator(s, i)
		if n == 0 {
			i = nextUnit(s, i)
			continue
		}
		start := i
		i += n
		if content, end := denied(s, i); content != "" {
			out = append(out, denial{content, strings.TrimSpace(s[start:end])})
		}
	}
	return out
}

// nextUnit is behind the word, or the character of another script, at i.
func nextUnit(s string, i int) int {
	r, n := utf8.DecodeRuneInString(s[i:])
	if isNameRune(r) {
		n = len(nameAt(s[i:]))
	}
	return i + n
}

func isNegatorRune(r rune) bool { return strings.ContainsRune("不没无未勿", r) }

// negator is the length of the negator at i; 0 if there is none.
func negator(s string, i int) int {
	if s[i] < utf8.RuneSelf {
		return englishNegator(s, i)
	}
	rest := s[i:]
	for _, n := range []string{"没有", "并非", "禁止", "严禁"} {
		if strings.HasPrefix(rest, n) {
			return len(n)
		}
	}
	r, size := utf8.DecodeRuneInString(rest)
	if !isNegatorRune(r) {
		return 0
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(rest[size:])
	switch {
	case r == '不' && strings.ContainsRune("仅但过管论断同少久妨如止只然幸足满良便利错明", after),
		r == '不' && strings.HasPrefix(rest, "不得不"),
		r == '无' && strings.ContainsRune("论疑线锡数非形", after),
		r == '未' && strings.ContainsRune("来必", after),
		r == '没' && strings.ContainsRune("收落", after),
		before == '是' && r == '不' && after == '是', // 是不是
		strings.ContainsRune("毫从南越虚", before) && r == '无':
		return 0
	}
	return size
}

func englishNegator(s string, i int) int {
	word := nameAt(s[i:])
	switch word {
	case "not", "no", "never", "none", "cannot", "without", "neither", "nor", "nobody", "nothing":
		rest := strings.TrimLeft(s[i+len(word):], " ")
		if word == "not" && strings.HasPrefix(rest, "only") || word == "no" && strings.HasPrefix(rest, ".") {
			return 0
		}
		return len(word)
	}
	if strings.HasSuffix(word, "n't") {
		return len(word)
	}
	return 0
}

// denied is the content behind a negator that ends at i, and where it ends.
func denied(s string, i int) (string, int) {
	i = skipModals(s, i)
	if i >= len(s) {
		return "", i
	}
	if s[i] < utf8.RuneSelf {
		return deniedWord(s, i)
	}
	end := i
	for range 2 {
		r, n := utf8.DecodeRuneInString(s[end:])
		if !unicode.Is(unicode.Han, r) {
			return "", end
		}
		end += n
	}
	switch content := s[i:end]; content {
	case "提及", "提到", "说明", "给出", "找到", "包含", "涉及", "指定", "明确", "相关":
		return "", end // said about the notes, not by them
	default:
		return content, end
	}
}

// deniedWord is the stem of the first word behind an English negator that is
// no function word, within its clause.
func deniedWord(s string, i int) (string, int) {
	for words := 0; i < len(s) && words < 5; {
		if s[i] == ' ' {
			i++
			continue
		}
		word := nameAt(s[i:])
		if word == "" {
			return "", i
		}
		i += len(word)
		words++
		if isFunctionWord(word) {
			continue
		}
		switch word {
		case "mention", "mentioned", "contain", "specify", "specified", "provide", "state", "stated", "say":
			return "", i
		}
		stem := analyzer().Tokens(word)
		if len(stem) != 1 || len(stem[0]) < 3 {
			return "", i
		}
		return stem[0], i
	}
	return "", i
}

func isFunctionWord(word string) bool {
	switch word {
	case "any", "yet", "more", "less", "also", "ever", "need", "needs", "needed", "necessarily", "get", "got", "only", "just", "very", "all", "be":
		return true
	}
	t := analyzer().QueryTerms(word + " zzz") // stop words leave a question
	return len(t) == 1
}

func skipModals(s string, i int) int {
	for {
		rest := strings.TrimLeft(s[i:], " ")
		at := len(s) - len(rest)
		n := 0
		for _, modal := range []string{"需要", "可以", "能够", "应该", "应当", "予以", "允许", "进行", "必须", "必要",
			"得", "能", "可", "会", "必", "需", "须", "要", "应", "有", "被", "再", "予", "许", "准", "法", "曾", "将", "是", "在", "对", "由", "把", "给"} {
			if strings.HasPrefix(rest, modal) {
				n = len(modal)
				break
			}
		}
		if n == 0 {
			return at
		}
		i = at + n
	}
}
