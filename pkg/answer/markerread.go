package answer

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

type verdict int

const (
	noMarker verdict = iota
	isMarker
	undecided
)

type style int

const (
	square      style = iota // [1] 【1】 ［1］ [[1]]
	round                    // (1) （1）
	superscript              // ¹
	tag                      // <sup>1</sup>
)

// marker is what stands at an opening bracket.
type marker struct {
	state    verdict
	size     int // in bytes, brackets included
	style    style
	numbers  []int
	labelled bool // [source 1], [^1], [1†name]: cannot be anything else
	ascii    bool // it ends with ], as links and indices do
}

func opensMarker(r rune) bool {
	switch r {
	case '[', '【', '［', '(', '（', '<':
		return true
	}
	return isSuperscript(r)
}

func isSuperscript(r rune) bool {
	return r == '¹' || r == '²' || r == '³' || r >= '⁰' && r <= '⁹' && r != 'ⁱ'
}

func opensSquare(r rune) bool  { return r == '[' || r == '【' || r == '［' }
func closesSquare(r rune) bool { return r == ']' || r == '】' || r == '］' }

func readMarker(s string, final bool) marker {
	r, _ := utf8.DecodeRuneInString(s)
	switch {
	case strings.HasPrefix(s, "[["):
		return readDouble(s, final)
	case s == "[" && !final:
		return marker{state: undecided}
	case opensSquare(r):
		return readSquare(s, final)
	case r == '<':
		return readTag(s, final)
	case isSuperscript(r):
		return readSuperscript(s, final)
	}
	return readRound(s, final)
}

func readDouble(s string, final bool) marker {
	m := readSquare(s[1:], final)
	switch {
	case m.state != isMarker:
		return m
	case strings.HasPrefix(s[1+m.size:], "]"):
		m.size += 2
		return m
	case len(s) == 1+m.size && !final:
		return marker{state: undecided}
	}
	return marker{}
}

func readSquare(s string, final bool) marker {
	_, at := utf8.DecodeRuneInString(s)
	start, limit := at, maxMarker
	for count := 0; at < len(s); count++ {
		r, n := utf8.DecodeRuneInString(s[at:])
		if closesSquare(r) {
			m := readNumbers(s[start:at])
			m.size, m.ascii = at+n, r == ']'
			return m
		}
		if r == '†' {
			limit = maxSource
		}
		if r == '\n' || opensSquare(r) || count >= limit {
			return marker{}
		}
		at += n
	}
	return pending(final)
}

func pending(final bool) marker {
	if final {
		return marker{}
	}
	return marker{state: undecided}
}

func readTag(s string, final bool) marker {
	const opening, closing = "<sup>", "</sup>"
	if len(s) < len(opening) && strings.EqualFold(s, opening[:len(s)]) {
		return pending(final)
	}
	if len(s) < len(opening) || !strings.EqualFold(s[:len(opening)], opening) {
		return marker{}
	}
	body := s[len(opening):min(len(s), len(opening)+3*maxMarker)]
	end := strings.Index(strings.ToLower(body), closing)
	if end < 0 {
		return pending(final || len(body) == 3*maxMarker || strings.Contains(body, "\n"))
	}
	m := readNumbers(strings.Trim(body[:end], "[]【】［］"))
	m.style, m.labelled = tag, true
	m.size = len(opening) + end + len(closing)
	return m
}

func readSuperscript(s string, final bool) marker {
	n := len(s) - len(strings.TrimLeftFunc(s, isSuperscript))
	if n == len(s) && !final {
		return marker{state: undecided}
	}
	number, err := strconv.Atoi(norm.NFKC.String(s[:n]))
	if err != nil {
		return marker{}
	}
	return marker{state: isMarker, size: n, style: superscript, numbers: []int{number}}
}

func readRound(s string, final bool) marker {
	_, at := utf8.DecodeRuneInString(s)
	start := at
	for count := 0; at < len(s) && count <= maxMarker/2; count++ {
		r, n := utf8.DecodeRuneInString(s[at:])
		if r == ')' || r == '）' {
			m := readNumbers(s[start:at])
			m.style, m.size = round, at+n
			return m
		}
		if !unicode.IsDigit(r) && !strings.ContainsRune(",，、 ", r) {
			return marker{}
		}
		at += n
	}
	return pending(final || at < len(s))
}

// readNumbers reads what stands between the brackets of a marker.
func readNumbers(body string) marker {
	r := numberReader{rest: strings.ToLower(strings.TrimSpace(norm.NFKC.String(body)))}
	m := marker{state: isMarker}
	for {
		labelled := r.label()
		numbers := r.span()
		if numbers == nil {
			return marker{}
		}
		m.numbers = append(m.numbers, numbers...)
		m.labelled = m.labelled || labelled
		if r.source() {
			m.labelled = true
		}
		if r.rest == "" {
			return m
		}
		if !r.separator() {
			return marker{}
		}
	}
}

// numberReader takes a marker's body apart; the body is folded.
type numberReader struct{ rest string }

func (r *numberReader) skip(cutset string) int {
	n := len(r.rest)
	r.rest = strings.TrimLeft(r.rest, cutset)
	return n - len(r.rest)
}

// label passes over the word before a number, and says whether there was one.
func (r *numberReader) label() bool {
	word := r.rest[:len(r.rest)-len(strings.TrimLeftFunc(r.rest, unicode.IsLetter))]
	if isLabel(word) {
		r.rest = r.rest[len(word):]
		r.skip(" :_-#.")
		return true
	}
	return r.skip("^") > 0
}

func isLabel(word string) bool {
	switch word {
	case "资料", "文档", "来源", "参考", "引用", "出处", "片段", "段落", "文献", "证据", "材料", "上下文", "参考资料", "参考文献",
		"注", "资料来源", "文件", "source", "sources", "src", "doc", "docs", "document", "documents", "passage", "passages",
		"citation", "citations", "cite", "ref", "refs", "reference", "references", "note", "notes", "context", "chunk",
		"snippet", "id", "footnote":
		return true
	}
	return false
}

// span reads a number or a range of at most maxRange numbers.
func (r *numberReader) span() []int {
	first, ok := r.number()
	if !ok {
		return nil
	}
	last := first
	before := r.rest
	r.skip(" ")
	if r.dash() {
		if r.skip(" "); isLabel(r.rest[:len(r.rest)-len(strings.TrimLeftFunc(r.rest, unicode.IsLetter))]) {
			r.label()
		}
		if last, ok = r.number(); !ok {
			return nil
		}
	} else {
		r.rest = before
	}
	first, last = min(first, last), max(first, last)
	if last-first >= maxRange {
		return nil
	}
	numbers := make([]int, 0, last-first+1)
	for n := first; n <= last; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

const maxRange = 64

func (r *numberReader) number() (int, bool) {
	digits := r.rest[:len(r.rest)-len(strings.TrimLeft(r.rest, "0123456789"))]
	if digits == "" || len(digits) > 4 {
		return 0, false
	}
	r.rest = r.rest[len(digits):]
	r.skip("^")
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

func (r *numberReader) dash() bool {
	for _, dash := range []string{"-", "–", "—", "~", "−", "至", "到"} {
		if rest, ok := strings.CutPrefix(r.rest, dash); ok {
			r.rest = rest
			return true
		}
	}
	return false
}

// source passes over what a marker adds to its number: †name, or a page.
func (r *numberReader) source() bool {
	if i := strings.Index(r.rest, "†"); i >= 0 && strings.Trim(r.rest[:i], " :0123456789") == "" {
		r.rest = ""
		return true
	}
	page := strings.TrimLeft(r.rest, " ,;")
	if strings.HasPrefix(page, "p") || strings.HasPrefix(page, "第") {
		if strings.Trim(page, "page第页 .-0123456789") == "" {
			r.rest = ""
			return true
		}
	}
	return false
}

func (r *numberReader) separator() bool {
	before := r.rest
	n := r.skip(" ,;、/&和及")
	if rest, ok := strings.CutPrefix(r.rest, "and "); ok {
		r.rest = rest
		return true
	}
	return n > 0 && strings.Trim(before[:n], " ") != "" && r.rest != ""
}

// judge tells a marker from what only looks like one by what stands around
// it: before is the text before it, rest what follows.
func (z *normalizer) judge(before string, m marker, rest string, final bool) verdict {
	if rest == "" && !final && (m.ascii || m.style == round) {
		return undecided
	}
	next, _ := utf8.DecodeRuneInString(rest)
	if rest == "" {
		next = '\n'
	}
	if z.exact && (!m.ascii || m.labelled || len(m.numbers) > 1) {
		return noMarker
	}
	switch m.style {
	case tag:
		return isMarker
	case round:
		return z.judgeRound(before, m, next)
	case superscript:
		return z.judgeSuperscript(before, m)
	}
	if m.ascii && (next == '(' || next == ':' && z.lineStart) {
		return noMarker // a link; the definition of a link or of a footnote
	}
	if m.labelled {
		return isMarker
	}
	for _, n := range m.numbers {
		if n >= minYear {
			return noMarker
		}
	}
	if m.ascii && z.group < 0 && isIndex(before, next, m.numbers) {
		return noMarker
	}
	return isMarker
}

// judgeRound takes (1) for a marker at the end of a clause, if the text has no
// other style and it does not number an item or a formula.
func (z *normalizer) judgeRound(before string, m marker, next rune) verdict {
	prev, _ := utf8.DecodeLastRuneInString(before)
	if z.bracketed || z.lineStart || !z.allValid(m) || !strings.ContainsRune("\n。！？；，、.!?;,(（", next) {
		return noMarker
	}
	if isWordRune(prev) && prev < utf8.RuneSelf || strings.ContainsRune("：:式录图表条款项节章列", prev) {
		return noMarker
	}
	return isMarker
}

// judgeSuperscript takes ¹ for a marker, but not in m², 10² or CO².
func (z *normalizer) judgeSuperscript(before string, m marker) verdict {
	if !z.allValid(m) || z.lineStart {
		return noMarker
	}
	prev, _ := utf8.DecodeLastRuneInString(before)
	word := lastWord(before)
	if unicode.IsDigit(prev) || word != "" && len(word) < 4 || prev == ')' || prev == '）' {
		return noMarker
	}
	return isMarker
}

func (z *normalizer) allValid(m marker) bool {
	for _, n := range m.numbers {
		if n < 1 || n > z.passages {
			return false
		}
	}
	return true
}

// isIndex says whether [..] directly behind a name is an index: a[0],
// argv[1], f()[2], m[i][0]; or behind an equals sign a list: x = [0]. In prose a marker often stands directly behind a
// word too ("… of France[1]."), so a longer name must look like one in a
// program, and what follows must not end a clause.
func isIndex(before string, next rune, numbers []int) bool {
	if strings.HasSuffix(before, "]") || strings.HasSuffix(before, "()") || strings.HasSuffix(strings.TrimRight(before, " "), "=") {
		return true
	}
	word := lastWord(before)
	if word == "" || strings.Trim(word, "0123456789") == "" {
		return false
	}
	if len(word) == 1 && word[0] >= 'a' || numbers[0] == 0 {
		return true
	}
	switch word {
	case "arr", "args", "argv", "buf", "vec", "xs", "nums":
		return true
	}
	return isProgramName(word) && !strings.ContainsRune("\n。！？；，：、）.!?;:,)[", next)
}

func isProgramName(word string) bool {
	switch word {
	case "array", "list", "items", "rows", "values", "data", "matrix", "lines", "params":
		return true
	}
	if len(word) == 1 || len(word) == 2 && word[0] >= 'a' || strings.Contains(word, "_") {
		return true
	}
	for i := 1; i < len(word); i++ {
		if word[i] >= 'A' && word[i] <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// lastWord is the ASCII word at the end of s.
func lastWord(s string) string {
	i := len(s)
	for i > 0 && s[i-1] < utf8.RuneSelf && isWordRune(rune(s[i-1])) {
		i--
	}
	return s[i:]
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
