package answer

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Citation markers. Models write [1] [1][2] [1,2] [1-3] 【1】 【1†source】 ［1］
// [^1] [资料1] [citation:1] <sup>1</sup> ¹ and more; a normalizer reads them
// all and writes [n]. Numbers that name no passage are taken out and noted.
// It leaves alone what only looks like a marker: code, links, array indices,
// footnote definitions, years.
//
// The text arrives in pieces. Each step looks at the text ahead and either
// decides what the next bytes are or waits for more, so the result does not
// depend on where the pieces were cut. What it waits for is short: a marker's
// closing bracket (at most maxMarker runes) and the rune behind it, or the end
// of a code span.

const (
	maxMarker = 16   // runes between the brackets of a marker
	maxSource = 80   // the same where a † names the source
	maxSpan   = 256  // bytes of a code span that is waited for
	minYear   = 1000 // a number from here on is none of a passage
)

// mark is one [n] in the normalised text: bytes start to end.
type mark struct{ start, end, n int }

type normalizer struct {
	passages int                        // markers 1..passages are valid
	replace  func(marker string) string // if set: what becomes of every marker
	exact    bool                       // only [1] is a marker

	in      string // not decided yet
	written int    // bytes of output so far
	marks   []mark
	invalid []int // sorted, unique

	tail      string // the last bytes that were decided, as they came
	lineStart bool   // nothing but blanks since the line began
	fence     string // the code fence that is open
	group     int    // len(marks) when the adjacent markers began; -1 if the last thing was no marker
	bracketed bool   // a marker in square brackets was seen
	inside    int    // runes left in which an open literal bracket may still close
}

func newNormalizer(passages int) *normalizer {
	return &normalizer{passages: passages, lineStart: true, group: -1}
}

// write takes the next piece, of whole runes, and returns what has been
// decided.
func (z *normalizer) write(s string) string {
	z.in += s
	return z.advance(false)
}

// close decides the rest.
func (z *normalizer) close() string { return z.advance(true) }

func (z *normalizer) advance(final bool) string {
	var out strings.Builder
	for z.in != "" {
		n, text := z.step(z.in, final)
		if n == 0 {
			break
		}
		z.passed(z.in[:n])
		z.in = z.in[n:]
		z.written += len(text)
		out.WriteString(text)
	}
	return out.String()
}

// step decides the first bytes of s: how many they are and what becomes of
// them. It returns 0 if that depends on what is still to come.
func (z *normalizer) step(s string, final bool) (int, string) {
	if z.fence != "" {
		return z.stepFence(s, final)
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == '`', r == '~' && z.lineStart:
		return z.stepCode(s, final)
	case r == '\\':
		return z.stepEscape(s, final)
	case r == ' ':
		return z.stepBlank(s, final)
	case opensMarker(r):
		return z.stepMarker(s, "", final)
	}
	n := size
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if r == '`' || r == '~' || r == '\\' || r == ' ' || r == '\n' || opensMarker(r) {
			break
		}
		n += size
	}
	if s[0] == '\n' {
		n = 1
	}
	return z.literal(n, s[:n])
}

func (z *normalizer) literal(n int, text string) (int, string) {
	z.group = -1
	return n, text
}

// passed notes what the decided bytes mean for those behind them.
func (z *normalizer) passed(s string) {
	z.inside = max(0, z.inside-utf8.RuneCountInString(s))
	z.tail += s
	if len(z.tail) > 64 {
		z.tail = strings.Clone(z.tail[len(z.tail)-48:])
	}
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		z.lineStart, z.inside = true, 0
		s = s[i+1:]
	}
	if strings.Trim(s, " \t") != "" {
		z.lineStart = false
	}
}

// stepFence copies the inside of a fenced code block, up to the line that
// closes it.
func (z *normalizer) stepFence(s string, final bool) (int, string) {
	if z.lineStart {
		rest := strings.TrimLeft(s, " \t")
		run := rest[:len(rest)-len(strings.TrimLeft(rest, z.fence[:1]))]
		if run == rest && !final {
			return 0, ""
		}
		if len(run) >= len(z.fence) {
			z.fence = ""
			n := len(s) - len(rest) + len(run)
			return z.literal(n, s[:n])
		}
	}
	n := strings.IndexByte(s, '\n') + 1
	if n == 0 {
		n = len(s)
	}
	return z.literal(n, s[:n])
}

// stepCode decides what a run of backticks or tildes is: a fence, a code span,
// or just itself.
func (z *normalizer) stepCode(s string, final bool) (int, string) {
	run := s[:len(s)-len(strings.TrimLeft(s, s[:1]))]
	if run == s && !final {
		return 0, ""
	}
	line, whole := codeLine(s[len(run):], final)
	if z.lineStart && len(run) >= 3 && !strings.Contains(line, "`") {
		if !whole {
			return 0, ""
		}
		z.fence = run
		return z.literal(len(run), run)
	}
	if s[0] == '~' {
		return z.literal(len(run), run)
	}
	if end := spanEnd(line, run, whole); end > 0 {
		n := len(run) + end
		return z.literal(n, s[:n])
	}
	if !whole {
		return 0, ""
	}
	return z.literal(len(run), run)
}

// codeLine is what is looked at of the line behind a run of backticks, and
// whether that is all that will be.
func codeLine(s string, final bool) (line string, whole bool) {
	line, whole = s, final
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		line, whole = s[:i], true
	}
	if len(line) > maxSpan {
		line, whole = line[:maxSpan], true
	}
	return line, whole
}

// spanEnd is the offset behind the run of backticks in line that closes a code
// span; 0 if there is none, or if the run may still grow.
func spanEnd(line, run string, whole bool) int {
	for at := 0; ; {
		i := strings.IndexByte(line[at:], '`')
		if i < 0 {
			return 0
		}
		at += i
		n := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
		if n == len(run) && (whole || at+n < len(line)) {
			return at + n
		}
		at += n
	}
}

// stepEscape copies a backslash and the punctuation mark that it escapes.
func (z *normalizer) stepEscape(s string, final bool) (int, string) {
	if len(s) == 1 && !final {
		return 0, ""
	}
	if len(s) > 1 && strings.IndexByte("[](){}`\\*_", s[1]) >= 0 {
		return z.literal(2, s[:2])
	}
	return z.literal(1, s[:1])
}

// stepBlank keeps blanks together with a marker behind them, because they go
// where the marker goes.
func (z *normalizer) stepBlank(s string, final bool) (int, string) {
	rest := strings.TrimLeft(s, " ")
	n := len(s) - len(rest)
	if rest == "" && !final {
		return 0, ""
	}
	if r, _ := utf8.DecodeRuneInString(rest); rest == "" || !opensMarker(r) {
		return z.literal(n, s[:n])
	}
	return z.stepMarker(rest, s[:n], final)
}

// stepMarker decides what stands at an opening bracket, after some blanks.
func (z *normalizer) stepMarker(s, blanks string, final bool) (int, string) {
	before := z.tail + blanks
	m := readMarker(s, final)
	if m.state == undecided {
		return 0, ""
	}
	if m.state == isMarker {
		switch z.judge(before, m, s[m.size:], final) {
		case undecided:
			return 0, ""
		case isMarker:
			if z.replace != nil {
				z.group = max(z.group, 0)
				return len(blanks) + m.size, blanks + z.replace(s[:m.size])
			}
			return len(blanks) + m.size, z.emit(m, blanks)
		}
		return z.literal(len(blanks)+m.size, blanks+s[:m.size])
	}
	if blanks != "" {
		return z.literal(len(blanks), blanks)
	}
	r, n := utf8.DecodeRuneInString(s)
	if strings.ContainsRune("[【［(（", r) {
		z.inside = 2 * maxMarker
	}
	return z.literal(n, s[:n])
}

// emit writes the valid numbers of a marker, each once in a row of markers,
// and notes the others.
func (z *normalizer) emit(m marker, blanks string) string {
	if m.style == square {
		z.bracketed = true
	}
	if z.group < 0 || blanks != "" {
		z.group = len(z.marks)
	}
	text := blanks
	valid := 0
	for _, n := range m.numbers {
		if n < 1 || n > z.passages {
			z.reject(n)
			continue
		}
		valid++
		if slices.ContainsFunc(z.marks[z.group:], func(m mark) bool { return m.n == n }) {
			continue
		}
		start := z.written + len(text)
		text += "[" + strconv.Itoa(n) + "]"
		z.marks = append(z.marks, mark{start, z.written + len(text), n})
	}
	if valid > 0 {
		return text
	}
	if z.inside > 0 {
		// without a trace of it, the brackets around might become a marker
		return "…"
	}
	return ""
}

func (z *normalizer) reject(n int) {
	if i, found := slices.BinarySearch(z.invalid, n); !found {
		z.invalid = slices.Insert(z.invalid, i, n)
	}
}
