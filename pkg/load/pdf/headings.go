package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"kb/pkg/record"
)

// Headings come from a document's bookmarks where it has any, or else from
// lines in large type. While lines are cut and joined, a heading is a line that
// begins with a mark: one of six control characters, which stand for its level.
// No other line has them.
const (
	firstMark = '\u0003' // of level 1
	lastMark  = firstMark + maxLevel - 1
)

func isMark(r rune) bool { return r >= firstMark && r <= lastMark }

// unmarked drops the characters of marks from what an engine found.
func unmarked(text string) string {
	return strings.Map(func(r rune) rune {
		if isMark(r) {
			return -1
		}
		return r
	}, text)
}

// takeHeadings takes the marks out and says where they were.
func takeHeadings(text string) (string, []record.PageHeading) {
	var b strings.Builder
	var found []record.PageHeading
	for line := range strings.Lines(text) {
		if r := rune(line[0]); isMark(r) {
			line = line[1:]
			found = append(found, record.PageHeading{Start: b.Len(), Level: int(r-firstMark) + 1, Title: strings.Join(strings.Fields(line), " ")})
		}
		b.WriteString(line)
	}
	return b.String(), found
}

// typography is what the sizes of type in a document mean.
type typography struct {
	levels []float32 // sizes of headings, descending
}

// Type is large if it exceeds the size of most characters by this much, and
// plainly means headings if it makes up no more than a fourth of the characters.
const (
	largeFactor  = 1.08
	largePoints  = 0.7
	largePercent = 25
	longHeading  = 100 // columns
	manyLines    = 3   // of one heading
)

// byType looks at the type of all pages with text.
func byType(raw []rawPage, pages []Page) typography {
	characters := make(map[float32]int)
	all := 0
	for i, p := range raw {
		if pages[i].Status != "" {
			continue
		}
		eachLine(p, func(line string, size float32) {
			if line = strings.TrimSpace(line); line != "" && size > 0 {
				n := utf8.RuneCountInString(line)
				characters[size] += n
				all += n
			}
		})
	}
	body := float32(0)
	for size, n := range characters {
		if n > characters[body] || n == characters[body] && size > body {
			body = size
		}
	}
	var t typography
	large := 0
	for size, n := range characters {
		if size >= body*largeFactor && size >= body+largePoints {
			t.levels = append(t.levels, size)
			large += n
		}
	}
	if large*100 > all*largePercent {
		return typography{}
	}
	slices.SortFunc(t.levels, func(a, b float32) int { return int(math.Copysign(1, float64(b-a))) })
	return t
}

// eachLine goes through a page's lines with the sizes of their type, rounded
// to half points.
func eachLine(p rawPage, f func(line string, size float32)) {
	i := 0
	for line := range strings.Lines(p.Text) {
		size := float32(0)
		if i < len(p.Sizes) {
			size = float32(math.Round(float64(p.Sizes[i])*2) / 2)
		}
		f(line, size)
		i++
	}
}

// marked is the page's text with marks before the headings, each on one line.
func (t typography) marked(p rawPage) string {
	if len(t.levels) == 0 {
		return unmarked(p.Text)
	}
	var b strings.Builder
	var block []string // lines of one size that may be a heading
	blockSize := float32(0)
	flush := func() {
		if len(block) > 0 {
			t.writeBlock(&b, block, blockSize)
			block = nil
		}
	}
	eachLine(p, func(line string, size float32) {
		line = unmarked(line)
		if len(block) > 0 && (size != blockSize || beginsParagraph(line)) {
			flush()
		}
		if !slices.Contains(t.levels, size) {
			b.WriteString(line)
			return
		}
		block, blockSize = append(block, line), size
	})
	flush()
	return b.String()
}

func (t typography) writeBlock(b *strings.Builder, block []string, size float32) {
	title := joinTitle(block)
	if len(block) > manyLines || !isTitle(title) {
		b.WriteString(strings.Join(block, ""))
		return
	}
	b.WriteRune(firstMark + rune(min(slices.Index(t.levels, size), maxLevel-1)))
	b.WriteString(title + "\n")
}

// joinTitle puts the lines of a title together.
func joinTitle(lines []string) string {
	title := ""
	for _, line := range lines {
		line = strings.TrimSpace(line)
		last, n := utf8.DecodeLastRuneInString(title)
		first, _ := utf8.DecodeRuneInString(line)
		switch {
		case last == lineHyphen:
			title = title[:len(title)-n]
		case title != "" && !(unspaced(last) && unspaced(first)):
			title += " "
		}
		title += line
	}
	return title
}

func isTitle(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsFunc(s, unicode.IsLetter) && columns(s) <= longHeading && !strings.ContainsRune("。；，,;", last)
}

func hasBookmarks(raw []rawPage) bool {
	return slices.ContainsFunc(raw, func(p rawPage) bool { return len(p.Bookmarks) > 0 })
}

// markBookmarks marks the lines that a page's bookmarks name. The first
// bookmark, if its name is on no line, is a heading at the top of the page.
func markBookmarks(text string, bookmarks []bookmark) (marked string, top []record.PageHeading) {
	lines := strings.SplitAfter(text, "\n")
	from := 0
	for n, b := range bookmarks {
		at, end := findTitle(lines[from:], b.Title)
		if end == 0 {
			if n == 0 {
				top = []record.PageHeading{{Level: b.Level, Title: b.Title}}
			}
			continue
		}
		title := string(firstMark+rune(b.Level-1)) + joinTitle(lines[from+at:from+end]) + "\n"
		lines = slices.Replace(lines, from+at, from+end, title)
		from += at + 1
	}
	return strings.TrimSuffix(strings.Join(lines, ""), "\n"), top
}

// findTitle finds the lines that spell a title, whatever their white space;
// end is 0 if there are none. A title may go without its number.
func findTitle(lines []string, title string) (start, end int) {
	want := letters(title)
	if want == "" {
		return 0, 0
	}
	for i := range lines {
		got := ""
		for j := i; j < len(lines) && j < i+manyLines; j++ {
			got += letters(lines[j])
			if got == want || strings.TrimLeft(got, "0123456789.") == want {
				return i, j + 1
			}
			if got == "" || len(got) > len(want)+8 {
				break
			}
		}
	}
	return 0, 0
}

// letters is a text in small letters without white space.
func letters(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), "")
}
