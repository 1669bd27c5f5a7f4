package answer

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"kb/pkg/record"
	"kb/pkg/text"
)

// The check of one claim against the passages it cites, taken together. It is
// lexical, costs microseconds and needs no model:
//
//  1. Each number, quoted string and name of the claim must occur: numbers by
//     value and unit (number.go), names as words (name.go).
//  2. What the claim denies must not be affirmed, and the other way round
//     (negation.go).
//  3. What stands in a copied sentence in place of something else must be no
//     other name or word (swap.go).
//  4. Enough of the claim's terms must occur: character pairs of Han text,
//     stems of other words, stop words left out.
//
// What it cannot see is a wrong relation between right words. Where the claim
// is in another language than the passages only its numbers, names and quoted
// strings can be checked, and one of them must be there.

// The shares of terms that are enough. They were chosen on claims made of a
// question with its answer in place of the question word (XQuAD zh and en, CMRC
// 2018, 400 of each), which paraphrase more than an answer from passages does.
// right: not recognised in the passage that holds the answer; wrong: recognised
// in the best-ranked other passage, mostly of the same article, by the overlap
// alone (numbers and names catch half of these).
//
//	share   xquad-zh right / wrong   cmrc right / wrong   xquad-en right / wrong
//	0.30         1.3 / 18.6 %            0.8 / 31.2 %         0.0 / 50.6 %
//	0.35         3.3 / 10.1              1.3 / 23.2           0.3 / 31.5
//	0.40         8.8 /  5.3              2.6 / 17.4           0.5 / 26.4
//	0.50        20.9 /  1.5              5.2 / 10.7           1.0 / 14.1
//	0.60        41.6 /  0.3             12.8 /  3.6           7.1 /  4.0
//
// Half of the pairs of a Chinese paraphrase lie across the borders of words,
// which is why the shares differ.
const (
	minOverlapHan   = 0.35
	minOverlapLatin = 0.5
)

type checker struct {
	passages []record.Passage
	chinese  bool // the language of the reasons
	sources  map[string]*source
}

func (c *checker) say(chinese, english string) string {
	if c.chinese {
		return chinese
	}
	return english
}

// source is the folded text of some passages, with what is looked up in it.
type source struct {
	folded    string
	dense     string // its letters and digits
	tokens    map[string]bool
	numbers   []number
	sentences []string // of the texts, folded
}

func (c *checker) source(cites []int) *source {
	key := fmt.Sprint(cites)
	if s := c.sources[key]; s != nil {
		return s
	}
	var passages []record.Passage
	for _, n := range cites {
		passages = append(passages, c.passages[n-1])
	}
	s := newSource(passages)
	c.sources[key] = s
	return s
}

// newSource reads all that the passages say: their paths, titles and headings
// count, but only the sentences of their texts affirm or deny anything.
func newSource(passages []record.Passage) *source {
	s := &source{tokens: make(map[string]bool)}
	var raw strings.Builder
	for _, p := range passages {
		for _, part := range append([]string{p.Path, p.Title}, p.Headings...) {
			raw.WriteString(part + "\n\n")
		}
		raw.WriteString(p.Text + "\n\n")
		for start, end := range text.Sentences(p.Text) {
			s.sentences = append(s.sentences, text.Normalize(p.Text[start:end]))
		}
	}
	s.folded = text.Normalize(raw.String())
	s.dense = dense(s.folded)
	for _, t := range analyzer().Tokens(raw.String()) {
		s.tokens[t] = true
	}
	s.numbers = findNumbers(s.folded, false)
	return s
}

var analyzer = sync.OnceValue(func() text.Analyzer {
	a, _ := text.NewAnalyzer(text.DefaultAnalyzer) // there always is one
	return a
})

// dense keeps the letters and digits of a folded text.
func dense(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, s)
}

// check says whether a statement is borne out, and if not, what is wrong;
// words is true if that is only that too few words are shared.
func (c *checker) check(st statement) (supported bool, why string, words bool) {
	src := c.source(st.cites)
	foreign := src.foreign(st.plain)
	missing, anchors := src.missing(st.plain, foreign)
	if len(missing) > 0 {
		list := strings.Join(missing, c.say("、", ", "))
		return false, c.say("原文没有：", "not in the passage: ") + list, false
	}
	if flip := src.contradicts(text.Normalize(st.plain)); flip != "" {
		return false, c.say("与原文相反：", "the passage says the opposite: ") + flip, false
	}
	if has, want := src.swapped(st.plain); has != "" {
		return false, fmt.Sprintf(c.say("“%s”在原文中是“%s”", "the passage has %[2]q, not %[1]q"), has, want), false
	}
	if foreign {
		if anchors == 0 && !src.copied(st.plain) {
			return false, c.say("原文是另一种语言，无法核对", "the passage is in another language and could not be compared"), true
		}
		return true, "", false
	}
	enough := minOverlapLatin
	if text.HanShare(st.plain) > 0.25 {
		enough = minOverlapHan
	}
	if src.overlap(st.plain) < enough {
		return false, c.say("原文没有这个意思", "the passage does not say this"), true
	}
	return true, "", false
}

// copied says whether the claim is at least one whole sentence of the passages, as
// it stands there.
func (s *source) copied(claim string) bool {
	claim = dense(text.Normalize(claim))
	return slices.ContainsFunc(s.sentences, func(sentence string) bool {
		d := dense(sentence)
		return d != "" && strings.Contains(claim, d) && strings.Contains(s.dense, claim)
	})
}

// checkCode wants each line of a code block in the passages as it stands.
func (c *checker) checkCode(st statement) (bool, string) {
	src := c.source(st.cites)
	for line := range strings.Lines(st.text) {
		line = strings.TrimSpace(line)
		if isFence(line) {
			continue
		}
		if d := dense(text.Normalize(line)); !strings.Contains(src.dense, d) {
			return false, c.say("原文没有：", "not in the passage: ") + line
		}
	}
	return true, ""
}

// missing lists the numbers, quoted strings and names of a claim that the
// source does not have, and counts those that it has.
func (s *source) missing(claim string, foreign bool) (missing []string, anchors int) {
	note := func(ok bool, what string) {
		if ok {
			anchors++
		} else {
			missing = append(missing, what)
		}
	}
	rest := claim
	for _, q := range quotations(claim) {
		note(s.quotes(q), strings.TrimSpace(q))
		rest = strings.Replace(rest, q, " ", 1)
	}
	for _, n := range findNumbers(text.Normalize(rest), true) {
		note(s.hasNumber(n), n.literal)
	}
	for _, name := range names(rest, foreign) {
		note(s.hasName(name), name)
	}
	return missing, anchors
}

// quotations returns what stands between quotation marks or in a code span.
func quotations(s string) []string {
	var out []string
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		shut := closing(r)
		if shut == 0 {
			continue
		}
		end := strings.IndexRune(s, shut)
		if end < 0 {
			continue
		}
		if q := s[:end]; utf8.RuneCountInString(dense(q)) > 1 {
			out = append(out, q)
		}
		s = s[end+utf8.RuneLen(shut):]
	}
	return out
}

func closing(open rune) rune {
	switch open {
	case '“':
		return '”'
	case '「':
		return '」'
	case '『':
		return '』'
	case '《':
		return '》'
	case '〈':
		return '〉'
	case '"', '`':
		return open
	}
	return 0
}

// quotes says whether the source has a quoted string, up to case, width,
// spaces and punctuation; … stands for anything.
func (s *source) quotes(q string) bool {
	q = strings.ReplaceAll(text.Normalize(q), "……", "…")
	for _, piece := range strings.FieldsFunc(strings.ReplaceAll(q, "...", "…"), func(r rune) bool { return r == '…' }) {
		if !strings.Contains(s.dense, dense(piece)) {
			return false
		}
	}
	return true
}

// terms are what the overlap counts: pairs of characters, words, and single
// characters only if there is nothing else.
func terms(s string) []string {
	all := analyzer().QueryTerms(s)
	out := make([]string, 0, len(all))
	for _, t := range all {
		if utf8.RuneCountInString(t) > 1 {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// overlap is the share of the claim's terms that the source has; 1 if the
// claim has none.
func (s *source) overlap(claim string) float64 {
	all := terms(claim)
	if len(all) == 0 {
		return 1
	}
	found := 0
	for _, t := range all {
		if s.tokens[t] {
			found++
		}
	}
	return float64(found) / float64(len(all))
}

// foreign says whether the claim is in another language than the source, as
// far as scripts tell: one is mostly Han and the other hardly has any.
func (s *source) foreign(claim string) bool {
	return text.Foreign(claim, s.folded)
}
