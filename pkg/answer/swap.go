package answer

import (
	"strings"
	"unicode"

	"kb/pkg/text"
)

// A changed name in a sentence that is otherwise copied is seen by what stands
// around it: 财务部李敏负责归档 where the source has 财务部陈静负责归档. Chinese
// names have no capitals, so this is the only sign of them. The same goes for a
// negator that came in, or was left out.
//
// Both texts are cut into units: a Han character, or a word of another script;
// spaces and punctuation are passed over. Units of the claim are swapped if
// the source has the same units before them and behind them with others
// between, and what the claim has is nowhere in the source. Words are replaced by
// others of the same meaning all the time, so only what looks like a name counts
// (see [nameLike]). At the beginning of the claim the units behind have to do,
// if there are more of them.
//
// Cost: the pairs of a unit of the claim and one of the source that have the
// same unit before them, times the pairs of lengths; microseconds.

const (
	maxSwap     = 6 // what is swapped, a Han character counting 1 and a word 2
	maxSwapSpan = 4 // the same in units

	// What must agree around a swap. A side of words has two of them, or
	// reaches to the end of the claim.
	minSide   = 2
	minAround = 5
	minBehind = 6 // without anything before it
)

// unit is a Han character or a word, folded.
type unit struct {
	s   string
	han bool
}

func (u unit) weight() int {
	if u.han {
		return 1
	}
	return 2
}

func units(folded string) []unit {
	var out []unit
	for i := 0; i < len(folded); {
		end := nextUnit(folded, i)
		word := folded[i:end]
		i = end
		switch r := []rune(word)[0]; {
		case unicode.Is(unicode.Han, r):
			out = append(out, unit{word, true})
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			out = append(out, unit{word, false})
		}
	}
	return out
}

// swapped returns what a claim has in place of what the source has; "" if
// nothing is swapped.
func (s *source) swapped(claim string) (has, want string) {
	c := units(text.Normalize(claim))
	for _, sentence := range s.sentences {
		src := units(sentence)
		for i := range c {
			for j := range src {
				if has, want := s.swapAt(c, src, i, j); has != "" {
					return has, want
				}
			}
		}
	}
	return "", ""
}

// swapAt looks for a swap that begins at unit i of the claim and j of the
// sentence.
func (s *source) swapAt(c, src []unit, i, j int) (has, want string) {
	if c[i].s == src[j].s {
		return "", ""
	}
	before, left := common(c[:i], src[:j], true)
	if i > 0 && (before < minSide || before == 2*left && left < 2 && left < i) {
		return "", ""
	}
	for a := 0; a <= maxSwapSpan && i+a <= len(c); a++ {
		for b := 0; b <= maxSwapSpan && j+b <= len(src); b++ {
			rest := c[i+a:]
			behind, right := common(rest, src[j+b:], false)
			if behind < minSide || behind == 2*right && right < 2 && right < len(rest) ||
				before+behind < minAround || i == 0 && behind < minBehind || left < i && right < len(rest) ||
				strings.Contains(s.dense, dense(joinUnits(c[i-left:i+a+right]))) { // copied from elsewhere in the source
				continue
			}
			if mine, theirs := c[i:i+a], src[j:j+b]; s.differ(c, i, mine, theirs) {
				return joinUnits(mine), joinUnits(theirs)
			}
		}
	}
	return "", ""
}

// common is how many units two texts have in common, from the end of both or
// from the beginning, and their weight.
func common(a, b []unit, fromEnd bool) (weight, n int) {
	for n < min(len(a), len(b)) {
		x, y := a[n], b[n]
		if fromEnd {
			x, y = a[len(a)-1-n], b[len(b)-1-n]
		}
		if x.s != y.s {
			break
		}
		weight += x.weight()
		n++
	}
	return weight, n
}

// differ says whether the claim's units from i on cannot stand for those of
// the source.
func (s *source) differ(claim []unit, i int, mine, theirs []unit) bool {
	if size(mine) > maxSwap || size(theirs) > maxSwap || bound(mine) || bound(theirs) {
		return false
	}
	if denying(mine) != denying(theirs) {
		return i > 0
	}
	if len(mine) == 0 || len(theirs) == 0 || mine[0].han != theirs[0].han || !content(mine) || !content(theirs) {
		return false
	}
	for _, m := range mine {
		for _, t := range theirs {
			if m.s == t.s {
				return false
			}
		}
	}
	if d := len(mine) - len(theirs); d > 1 || d < -1 {
		return false // a name has the form of a name
	}
	if !nameLike(claim, i, mine, theirs) {
		return false
	}
	if !mine[0].han {
		return !s.hasAny(mine)
	}
	if len(mine) == 1 && i+1 < len(claim) {
		mine = claim[i : i+2] // a character by itself is everywhere
	}
	for n := 1; n < len(mine); n++ {
		if strings.Contains(s.dense, joinUnits(mine[n-1:n+1])) {
			return false
		}
	}
	return true
}

// hasAny says whether the source has one of the words that are no function
// words.
func (s *source) hasAny(words []unit) bool {
	for _, w := range words {
		if isFunctionWord(w.s) {
			continue
		}
		for _, t := range analyzer().Tokens(w.s) {
			if s.tokens[t] {
				return true
			}
		}
	}
	return false
}

// bound says whether units are of a bound such as 不超过, which 最多 may stand
// for; its number is checked by itself.
func bound(span []unit) bool {
	return containsAny(joinUnits(span), "超过", "多于", "少于", "低于", "高于", "晚于", "早于", "大于", "小于", "最多", "至多", "最少", "至少", "以内", "以上", "以下", "不足", "不满",
		"no more", "no less", "not more", "at most", "at least", "up to")
}

// denying says whether units hold a negator.
func denying(span []unit) bool {
	s := joinUnits(span)
	for i, u := range span {
		if u.han && negator(s, len(joinUnits(span[:i]))) > 0 || !u.han && englishNegator(u.s, 0) > 0 {
			return true
		}
	}
	return false
}

func size(span []unit) int {
	n := 0
	for _, u := range span {
		n += u.weight()
	}
	return n
}

// content says whether a span is more than function words, and numbers in
// figures, which are checked by themselves.
func content(span []unit) bool {
	for _, u := range span {
		switch {
		case u.han && !strings.Contains("的了着过须必需要应当在于会将可能已由被把给与和及或而之其该此这那个为是有也都就即则且并中上下里内外后前时等所以从到至每两仍再不没无未", u.s):
			return true
		case !u.han && strings.ContainsFunc(u.s, unicode.IsLetter) && !isFunctionWord(u.s):
			return true
		}
	}
	return false
}

// joinUnits writes words with a space between them.
func joinUnits(span []unit) string {
	var b strings.Builder
	for i, u := range span {
		if i > 0 && !u.han && !span[i-1].han {
			b.WriteByte(' ')
		}
		b.WriteString(u.s)
	}
	return b.String()
}
