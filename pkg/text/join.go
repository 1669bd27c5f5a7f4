package text

import "strings"

// Joint is two neighbouring words of a question as one word. People write
// "pay 1102" of what the notes call PAY-1102, and "roll back" of a rollback.
type Joint struct {
	Term   string // as an index has it: pay1102, rollback
	Name   string // as the question has it
	Number string // the second word, if it is a number; the two may be an identifier
	end    int    // of the name in the question
}

// Joints are those of a question: words of the Latin alphabet with one space
// and a word or a number behind.
func Joints(question string) []Joint {
	var out []Joint
	var stems stemmer
	for i := 0; i < len(question); {
		first := plainWord(question[i:])
		behind := strings.TrimPrefix(question[i+first:], " ")
		n := plainWord(behind)
		word, next := strings.ToLower(question[i:i+first]), strings.ToLower(behind[:n])
		if first > 1 && n > 0 && len(behind) < len(question)-i-first && isLetters(word) && !isStop(word) {
			end := i + first + 1 + n
			j := Joint{Term: stems.stem(word + next), Name: question[i:end], end: end}
			if strings.Trim(next, digits) == "" {
				j.Number = next
			}
			if j.Number != "" || isLetters(next) {
				out = append(out, j)
			}
		}
		i += max(first, 1)
	}
	return out
}

// Join writes the joints that an index knows as one word: an identifier in
// place of the two words, any other behind them.
func Join(question string, known func(term string) bool) string {
	var out strings.Builder
	at := 0
	for _, j := range Joints(question) {
		space := j.end - len(j.Number) - 1 // of an identifier
		switch {
		case !known(j.Term):
		case j.Number != "":
			out.WriteString(question[at:space])
			at = space + 1
		default:
			out.WriteString(question[at:j.end])
			out.WriteString(" " + strings.Replace(j.Name, " ", "", 1))
			at = j.end
		}
	}
	out.WriteString(question[at:])
	return out.String()
}

// Counts says whether s has the word of a joint as a name with another number:
// "Week 42" where week 53 is asked about, INC-88 where it is inc 91. A small word
// with a space behind is none, nor is one that stands before amounts: who is over
// 70 is asked about where notes say "over 65".
func (j Joint) Counts(s string) bool {
	word, _, _ := strings.Cut(j.Name, " ")
	if beforeAmounts(strings.ToLower(word)) {
		return false
	}
	for i := 0; i+len(word) < len(s); i++ {
		if i > 0 && wordASCII(s[i-1]) || !strings.EqualFold(s[i:i+len(word)], word) {
			continue
		}
		rest, named := s[i+len(word):], !lower(s[i])
		if digit(rest[0]) || len(rest) > 1 && digit(rest[1]) && (named && rest[0] == ' ' || strings.IndexByte(".-_/#", rest[0]) >= 0) {
			return true
		}
	}
	return false
}

// beforeAmounts says whether a word stands before amounts, and names nothing.
func beforeAmounts(word string) bool {
	switch word {
	case "over", "under", "above", "below", "within", "after", "before", "until", "till", "since", "past", "beyond",
		"between", "around", "nearly", "almost", "exactly", "only", "least", "most", "every", "each", "all", "per",
		"first", "last", "next", "another", "more", "less", "up", "aged", "age":
		return true
	}
	return false
}

// plainWord is the length of the word of letters and digits of ASCII that s
// begins with.
func plainWord(s string) int {
	n := 0
	for n < len(s) && (lower(s[n]|0x20) || digit(s[n])) {
		n++
	}
	return n
}

func isLetters(word string) bool { return strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" }
