package answer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kb/pkg/record"
	"kb/pkg/text"
)

// claims takes an answer apart into sentences and checks each against the
// passages that it cites. Claim.Text is the sentence as it stands in the
// answer, markers included, so that it can be found there.
//
// Not every line claims something: headings, the head of a table and lines
// that only lead in what follows ("步骤如下：") do not. "是的。" belongs to the
// sentence behind it. Items of a list share the citations of the line that
// leads them in, and so does a block of code.
// open lists the claims that only fail for want of shared words, which another
// judge may see otherwise.
func claims(answer string, marks []mark, passages []record.Passage, chinese bool) (out []record.Claim, open []int) {
	c := checker{passages: passages, chinese: chinese, sources: make(map[string]*source)}
	for _, s := range statements(answer, marks) {
		claim := record.Claim{Text: s.text, Cites: s.cites}
		switch {
		case len(s.cites) == 0:
			claim.Why = c.say("没有引用", "no citation")
		case s.code:
			claim.Supported, claim.Why = c.checkCode(s)
		default:
			var words bool
			claim.Supported, claim.Why, words = c.check(s)
			if !claim.Supported && words {
				open = append(open, len(out))
			}
		}
		out = append(out, claim)
	}
	return out, open
}

// statement is a sentence, or a block of code, that claims something.
type statement struct {
	text  string // as in the answer
	plain string // without markers and what Markdown puts before a line
	cites []int  // sorted
	code  bool
}

// part is one sentence of the answer, trimmed.
type part struct {
	start, end int
	cites      []int
	line       int // the line it begins in
}

func statements(answer string, marks []mark) []statement {
	var out []statement
	var lead []int // citations of the line that leads in a list
	parts := splitParts(answer, marks)
	for i := 0; i < len(parts); i++ {
		p := parts[i]
		s := answer[p.start:p.end]
		if isFence(s) {
			end := fenceEnd(answer, parts, i)
			code := statement{text: answer[p.start:parts[end].end], cites: lead, code: true}
			if len(code.cites) == 0 && len(out) > 0 {
				code.cites = out[len(out)-1].cites
			}
			out = append(out, code)
			i = end
			continue
		}
		if isInterjection(s, p) && joinsNext(answer, parts, i) {
			parts[i+1].start = p.start
			continue
		}
		st := statement{text: s, plain: plainSentence(answer, p, marks), cites: p.cites}
		if !isItemLine(s) {
			lead = nil
			if leadsIn(st.plain) {
				lead = p.cites
			}
		} else if len(st.cites) == 0 {
			st.cites = lead
		}
		if !isFrame(answer, parts, i, st.plain) {
			out = append(out, st)
		}
	}
	return out
}

func leadsIn(plain string) bool {
	return strings.HasSuffix(plain, ":") || strings.HasSuffix(plain, "：")
}

// joinsNext says whether another sentence follows on the same line.
func joinsNext(answer string, parts []part, i int) bool {
	return i+1 < len(parts) && parts[i+1].line == parts[i].line && !isFence(answer[parts[i+1].start:parts[i+1].end])
}

// splitParts finds the sentences and gives each the markers inside it.
func splitParts(answer string, marks []mark) []part {
	var parts []part
	line := 0
	for start, end := range text.Sentences(answer) {
		whole := answer[start:end]
		left := strings.TrimLeftFunc(whole, unicode.IsSpace)
		p := part{start: end - len(left), line: line + strings.Count(whole[:len(whole)-len(left)], "\n")}
		p.end = p.start + len(strings.TrimRightFunc(left, unicode.IsSpace))
		line += strings.Count(whole, "\n")
		if p.start >= p.end {
			continue
		}
		for _, m := range marks {
			if m.start >= start && m.start < end {
				p.cites = mergeCites(p.cites, []int{m.n})
			}
		}
		parts = append(parts, p)
	}
	// What ends with a semicolon shares the citation at the end of the sentence.
	for i := len(parts) - 2; i >= 0; i-- {
		p := &parts[i]
		if s := answer[p.start:p.end]; len(p.cites) == 0 && parts[i+1].line == p.line && (strings.HasSuffix(s, ";") || strings.HasSuffix(s, "；")) {
			p.cites = parts[i+1].cites
		}
	}
	return parts
}

func mergeCites(a, b []int) []int {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

func isFence(s string) bool {
	line, _, _ := strings.Cut(s, "\n")
	return strings.HasPrefix(line, "```") && !strings.Contains(strings.TrimLeft(line, "`"), "`") || strings.HasPrefix(line, "~~~")
}

// fenceEnd is the part that closes the fence at parts[i], or the last one.
func fenceEnd(answer string, parts []part, i int) int {
	for j := i + 1; j < len(parts); j++ {
		if isFence(answer[parts[j].start:parts[j].end]) {
			return j
		}
	}
	return len(parts) - 1
}

// isInterjection says whether a sentence is but a word or two of assent that
// the next one explains.
func isInterjection(s string, p part) bool {
	if len(p.cites) > 0 || strings.ContainsAny(s, "0123456789\n:：|#") || isItemLine(s) {
		return false
	}
	words := strings.Fields(s)
	han := 0
	for _, r := range s {
		if unicode.Is(unicode.Han, r) {
			han++
		}
	}
	return han > 0 && han <= 4 && len(words) == 1 || han == 0 && len(words) <= 2
}

// isItemLine says whether a line is an item of a list.
func isItemLine(s string) bool {
	return len(s) > len(stripItem(s))
}

// stripItem drops the bullet or number that begins a list item.
func stripItem(s string) string {
	rest := strings.TrimLeft(s, " \t>")
	for _, bullet := range []string{"- ", "* ", "+ ", "• ", "· "} {
		if after, ok := strings.CutPrefix(rest, bullet); ok {
			return after
		}
	}
	number := strings.TrimLeft(rest, "（(")
	after := strings.TrimLeft(number, "0123456789")
	if n := len(number) - len(after); n == 0 || n > 3 {
		return s
	}
	for _, stop := range []string{". ", "、", ") ", "）", "．"} {
		if tail, ok := strings.CutPrefix(after, stop); ok {
			return tail
		}
	}
	return s
}

// plainSentence is a part without its markers and without Markdown's marks at
// the beginning of its line.
func plainSentence(answer string, p part, marks []mark) string {
	var b strings.Builder
	at := p.start
	for _, m := range marks {
		if m.start >= at && m.end <= p.end {
			b.WriteString(answer[at:m.start])
			at = m.end
		}
	}
	b.WriteString(answer[at:p.end])
	s := strings.TrimLeft(stripItem(strings.TrimSpace(b.String())), "#> \t")
	s = strings.TrimSpace(strings.Trim(s, "|"))
	return strings.TrimSpace(strings.NewReplacer("**", "", "__", "").Replace(s))
}

// isFrame says whether a sentence claims nothing itself.
func isFrame(answer string, parts []part, i int, plain string) bool {
	p := parts[i]
	s := answer[p.start:p.end]
	if !strings.ContainsFunc(plain, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return true
	}
	if leadsIn(plain) && !strings.ContainsAny(plain, "0123456789") && (len(p.cites) == 0 || utf8.RuneCountInString(plain) <= 12) {
		return true
	}
	if len(p.cites) > 0 {
		return false
	}
	if strings.HasPrefix(s, "#") || strings.HasPrefix(s, "**") && strings.HasSuffix(s, "**") && utf8.RuneCountInString(plain) <= 20 {
		return true
	}
	next := i + 1
	return strings.HasPrefix(s, "|") && next < len(parts) && isTableRule(answer[parts[next].start:parts[next].end])
}

func isTableRule(s string) bool {
	return strings.HasPrefix(s, "|") && strings.Trim(s, "|-: \t") == ""
}
