package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinLines mends the lines that the layout of the page cut. A line is joined
// to the next if it is full: at least 0.7 of the width that one line in five
// of the page exceeds, and at least 28 columns, so that cells of a table and
// headings stay by themselves; and if it does not end, and the next does not
// begin, like a paragraph. Between Chinese characters nothing is put; before a
// word in lower case a space; other lines stay apart, which costs nothing, as
// words and sentences go on over a line end. A hyphen between lower-case letters
// goes.
func joinLines(page string) string {
	lines := strings.Split(page, "\n")
	widths := make([]int, len(lines))
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(line, unicode.IsSpace)
		widths[i] = columns(lines[i])
	}
	full := fullWidth(widths)
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteString(joint(lines[i-1], line, widths[i-1] >= full))
			if hyphenated(lines[i-1], line) {
				line = strings.TrimLeft(line, " \t")
			}
		}
		if i+1 < len(lines) && hyphenated(line, lines[i+1]) {
			line = line[:len(line)-1]
		}
		b.WriteString(line)
	}
	return collapseBlank(b.String())
}

// joint is what stands between two lines.
func joint(before, after string, full bool) string {
	if hyphenated(before, after) {
		return ""
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	if !full || after == "" || strings.ContainsRune("。！？：；…!?.:;|", last) || beginsParagraph(after) {
		return "\n"
	}
	switch {
	case isMark(rune(before[0])):
		return "\n"
	case tabular(before) || tabular(after):
	case unspaced(last) && unspaced(first):
		return ""
	case unicode.IsLower(first):
		return " "
	}
	return "\n"
}

// tabular says whether a line looks like a row of a Chinese table: with spaces
// that no Latin letter explains.
func tabular(line string) bool {
	between, loose := 0, 0
	before := rune(0)
	for i, r := range line {
		if before == ' ' && r != ' ' {
			left, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line[:i], " "))
			if unspaced(left) && unspaced(r) {
				between++
			}
			if !latin(left) && !latin(r) {
				loose++
			}
		}
		before = r
	}
	return between >= 2 || loose >= 3
}

func latin(r rune) bool { return r < 0x250 && unicode.IsLetter(r) }

func hyphenated(before, after string) bool {
	if !strings.HasSuffix(before, "-") {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before[:len(before)-1])
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " \t"))
	return unicode.IsLower(last) && unicode.IsLower(first)
}

// fullWidth is the width from which a line counts as full.
func fullWidth(widths []int) int {
	const least = 28
	used := slices.DeleteFunc(slices.Clone(widths), func(w int) bool { return w == 0 })
	if len(used) == 0 {
		return least
	}
	slices.Sort(used)
	return max(least, used[len(used)*4/5]*7/10)
}

// columns is the width of a line, with two columns for a Chinese character.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n++
		if unspaced(r) {
			n++
		}
	}
	return n
}

// unspaced says whether r belongs to writing without spaces between words.
func unspaced(r rune) bool {
	return r >= 0x2e80 && (r >= 0x3000 && r <= 0x30ff || r >= 0xff01 && r <= 0xff60 || unicode.Is(unicode.Han, r))
}

// beginsParagraph says whether a line begins like an item, a clause or a row:
// • 1. 1) 3.2 （一） 第三条 |
func beginsParagraph(line string) bool {
	line = strings.TrimLeft(line, " \t\u3000")
	r, n := utf8.DecodeRuneInString(line)
	rest := line[n:]
	switch {
	case strings.ContainsRune("•·●○▪■◆*|※", r):
		return true
	case strings.ContainsRune("-–—", r):
		return strings.HasPrefix(rest, " ")
	case r == '第':
		end := strings.IndexAny(rest, "章节条款部")
		return end > 0 && end <= 12 && strings.Trim(rest[:end], "一二三四五六七八九十百零0123456789 ") == ""
	case strings.ContainsRune("（(", r):
		end := strings.IndexAny(rest, "）)")
		return end > 0 && end <= 9 && strings.Trim(rest[:end], "一二三四五六七八九十0123456789abcdefgivx") == ""
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789."))
	if digits == 0 || digits > 8 {
		return false
	}
	next, _ := utf8.DecodeRuneInString(line[digits:])
	return next == '、' || next == ')' || next == '）' || strings.Contains(line[:digits], ".") && next == ' '
}

// collapseBlank leaves one blank line where there are several.
func collapseBlank(s string) string {
	for strings.Contains(s, "\n\n\n") {
		s = strings.ReplaceAll(s, "\n\n\n", "\n\n")
	}
	return strings.TrimSpace(s)
}
