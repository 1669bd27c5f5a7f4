package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTags bounds the tags of one file, as each of its chunks carries them.
const MaxTags = 100

// Tags returns the tags that people write into the text of src[from:], as
// Obsidian and others read them: a # at the beginning of a line, behind white
// space or behind full-width punctuation, and then letters, digits, _, - and /,
// of which one is a letter. Code, headings, HTML, link definitions and colours
// such as #fff have none. Each tag comes once, in the order of the text, 100 of
// them at most.
func Tags(src string, from int) []string {
	if !mayHaveTag(src[from:]) {
		return nil
	}
	var tags []string
	for _, b := range Blocks(src, from) {
		if b.Kind == Text || b.Kind == Table {
			tags = appendTags(tags, src[b.Start:b.End])
		}
		if len(tags) >= MaxTags {
			return tags[:MaxTags]
		}
	}
	return tags
}

// mayHaveTag saves files without tags the parsing.
func mayHaveTag(src string) bool {
	for i := 0; ; {
		n := strings.IndexByte(src[i:], '#')
		if n < 0 {
			return false
		}
		if i += n; tagAt(src, i) != "" {
			return true
		}
		i++
	}
}

func appendTags(tags []string, block string) []string {
	if strings.HasPrefix(strings.TrimLeft(block, " "), "<") {
		return tags
	}
	fence := ""
	for line := range strings.Lines(block) {
		body := line[containerPrefix([]byte(line)):]
		switch mark := fenceOf(body); {
		case fence != "":
			if strings.HasPrefix(mark, fence) {
				fence = ""
			}
		case mark != "":
			fence = mark
		case !isDefinition(body):
			tags = appendLine(tags, body)
		}
	}
	return tags
}

// fenceOf returns the backticks or tildes that a line of a code fence begins
// with, "" for other lines.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if n := len(line) - len(rest); n >= 3 && !(c == "`" && strings.Contains(rest, c)) {
			return line[:n]
		}
	}
	return ""
}

func isDefinition(line string) bool {
	i := strings.Index(line, "]:")
	return strings.HasPrefix(line, "[") && i > 0 && line[1] != '^'
}

func appendLine(tags []string, line string) []string {
	code := codeSpans(line)
	for i := 0; i < len(line) && len(tags) < MaxTags; i++ {
		for len(code) > 0 && code[0][1] <= i {
			code = code[1:]
		}
		if len(code) > 0 && i >= code[0][0] {
			i = code[0][1] - 1
			continue
		}
		if line[i] != '#' {
			continue
		}
		if tag := tagAt(line, i); tag != "" && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}

// codeSpans returns where the code spans of a line begin and end: each run of
// backticks opens one that ends with the next run of the same length.
func codeSpans(line string) [][2]int {
	var runs [][2]int
	for i := strings.IndexByte(line, '`'); i >= 0 && i < len(line); i++ {
		if line[i] != '`' {
			continue
		}
		start := i
		for i < len(line) && line[i] == '`' {
			i++
		}
		runs = append(runs, [2]int{start, i})
	}
	closer := make([]int, len(runs)) // index of the next run of the same length; 0: none
	later := make(map[int]int)
	for k, run := range slices.Backward(runs) {
		closer[k] = later[run[1]-run[0]]
		later[run[1]-run[0]] = k
	}
	var spans [][2]int
	for k := 0; k < len(runs); k++ {
		if to := closer[k]; to > 0 {
			spans = append(spans, [2]int{runs[k][0], runs[to][1]})
			k = to
		}
	}
	return spans
}

// tagAt returns the tag, without its #, whose # stands at i; "" for none.
func tagAt(s string, i int) string {
	if before, _ := utf8.DecodeLastRuneInString(s[:i]); i > 0 && !opensTag(before) {
		return ""
	}
	rest := s[i+1:]
	end := strings.IndexFunc(rest, func(r rune) bool { return !inTag(r) })
	switch {
	case end == 0:
		return ""
	case end > 0 && rest[end] == '#':
		return ""
	case end < 0:
		end = len(rest)
	}
	tag := strings.TrimRight(rest[:end], "-/")
	if len(tag) > maxTag || strings.IndexFunc(tag, unicode.IsLetter) < 0 || isColour(tag) {
		return ""
	}
	return tag
}

// maxTag is the greatest length of a tag, in bytes.
const maxTag = 200

func opensTag(r rune) bool {
	return unicode.IsSpace(r) || r >= 0x3000 && r <= 0x303f || r >= 0xff01 && r <= 0xff65 && unicode.IsPunct(r)
}

func inTag(r rune) bool {
	return r == '_' || r == '-' || r == '/' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// isColour says whether a tag is a colour in hexadecimal rather than a word:
// #fff, #1e90ff and #FFAADD are, #facade and #feed are not.
func isColour(tag string) bool {
	if strings.Trim(tag, "0123456789abcdefABCDEF") != "" {
		return false
	}
	digits := strings.ContainsAny(tag, "0123456789")
	switch len(tag) {
	case 3:
		return true
	case 4, 8:
		return digits
	case 6:
		return digits || tag == strings.ToUpper(tag) || tag[0] == tag[1] && tag[2] == tag[3] && tag[4] == tag[5]
	}
	return false
}
