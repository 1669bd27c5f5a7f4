package pdf

import (
	"slices"
	"strings"
	"unicode"
)

// Running headers and footers are looked for in so many lines at each end of a
// page, in documents of so many pages, and are what stands on so much of them.
const (
	runningLines   = 2
	runningPages   = 3
	runningPercent = 60
)

// cutRunning removes running headers and footers from the pages: lines that
// are, but for their numbers, the same on most pages. It returns their forms,
// with # for numbers.
func cutRunning(pages []Page) []string {
	counts := make(map[string]int)
	withText := 0
	for _, p := range pages {
		if p.Status != "" {
			continue
		}
		withText++
		seen := make(map[string]bool)
		for _, line := range edges(strings.Split(p.Text, "\n")) {
			if form := formOf(line); form != "" && !seen[form] {
				seen[form] = true
				counts[form]++
			}
		}
	}
	if withText < runningPages {
		return nil
	}
	var running []string
	for form, n := range counts {
		if n*100 >= withText*runningPercent {
			running = append(running, form)
		}
	}
	slices.Sort(running)
	for i := range pages {
		if pages[i].Status == "" && len(running) > 0 {
			pages[i].Text = cutEdges(pages[i].Text, running)
		}
	}
	return running
}

// edges are the first and last lines that are not blank.
func edges(lines []string) []string {
	lines = slices.DeleteFunc(slices.Clone(lines), blank)
	if len(lines) <= 2*runningLines {
		return lines
	}
	return append(lines[:runningLines:runningLines], lines[len(lines)-runningLines:]...)
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// formOf is the line with # for each number and single spaces.
func formOf(line string) string {
	var b strings.Builder
	number := false
	for _, r := range strings.Join(strings.Fields(line), " ") {
		if unicode.IsDigit(r) {
			if !number {
				b.WriteByte('#')
			}
			number = true
			continue
		}
		number = false
		b.WriteRune(r)
	}
	return b.String()
}

// cutEdges removes the running lines among the first and last lines. A page
// that has no other words keeps them: they may be what it says.
func cutEdges(text string, running []string) string {
	lines := strings.Split(text, "\n")
	cut := func(line string) bool { return blank(line) || slices.Contains(running, formOf(line)) }
	for n := 0; n < runningLines && len(lines) > 0; n++ {
		for len(lines) > 0 && blank(lines[0]) {
			lines = lines[1:]
		}
		if len(lines) > 0 && cut(lines[0]) {
			lines = lines[1:]
		}
	}
	for n := 0; n < runningLines && len(lines) > 0; n++ {
		for len(lines) > 0 && blank(lines[len(lines)-1]) {
			lines = lines[:len(lines)-1]
		}
		if len(lines) > 0 && cut(lines[len(lines)-1]) {
			lines = lines[:len(lines)-1]
		}
	}
	if len(lines) == 0 && strings.ContainsFunc(text, unicode.IsLetter) {
		return text
	}
	return strings.Join(lines, "\n")
}
