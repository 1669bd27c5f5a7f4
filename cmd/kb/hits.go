package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"kb/pkg/answer"
	"kb/pkg/record"
	"kb/pkg/search"
)

// printHits writes the hits of one query for reading: rank, relevance, place
// and two or three lines of the passage with the matched words marked. Hits
// that only fill the list are counted.
func printHits(w io.Writer, s style, q *record.Query, hits []*record.Hit, explain bool) {
	if len(hits) == 0 {
		fmt.Fprintln(w, strings.TrimSuffix("no hits: "+whyNoHits(q), ": "))
	}
	weak := 0
	for i, h := range hits {
		if !explain && i > 0 && search.Unrelated(h) {
			weak++
			continue
		}
		rank, relevance := fmt.Sprint(h.Rank), score(search.Relevance(q, h))
		place := s.indented(answer.Place(h.Path, h.Page, h.Line, h.Headings), columns(rank+relevance)+4)
		fmt.Fprintf(w, "%s  %s  %s\n", s.bold(rank), relevance, s.place(place))
		for _, line := range excerpt(h.Text, q, s.width-3, 3) {
			fmt.Fprintf(w, "   %s\n", mark(line, q, s))
		}
		if explain {
			fmt.Fprintf(w, "   %s\n", s.dim(explainScores(h.Scores)))
		}
	}
	if weak > 0 {
		fmt.Fprintln(w, s.dim(s.wrapped(fmt.Sprintf("%s without a word of the question left out (--explain shows all)", count(weak, "hit")))))
	}
	if q != nil && q.Below > 0 {
		fmt.Fprintln(w, s.dim(fmt.Sprintf("%s below --min-score left out (best %s)", count(q.Below, "hit"), score(q.BestBelow))))
	}
	if legs := describeLegs(q); legs != "" && (len(hits) > 0 || whyNoHits(q) == "" || explain) {
		fmt.Fprintln(w, s.dim(s.wrapped(legs+describeScore(q, hits))))
	}
	if explain {
		fmt.Fprintln(w, s.dim(s.wrapped(explainQuery(q))))
	}
}

// whyNoHits is the reason, as far as the query tells it.
func whyNoHits(q *record.Query) string {
	if why := q.WhyNothing(); why != "" {
		return why
	}
	if q.Below == 0 && len(q.Terms) > 0 {
		return "nothing in the notes shares a word with the question"
	}
	return ""
}

func score(x float64) string {
	if x != 0 && x < 0.1 && x > -0.1 {
		return fmt.Sprintf("%.4f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func explainScores(s record.Scores) string {
	var parts []string
	for _, p := range []struct {
		name  string
		value *float64
	}{{"vector", s.Vector}, {"bm25", s.BM25}, {"rrf", s.RRF}, {"rerank", s.Rerank}} {
		if p.value != nil {
			parts = append(parts, fmt.Sprintf("%s %.4f", p.name, *p.value))
		}
	}
	return strings.Join(parts, "  ")
}

func explainQuery(q *record.Query) string {
	var parts []string
	if q.Confidence != nil {
		parts = append(parts, fmt.Sprintf("confidence %.2f, floor %.2f", *q.Confidence, q.Floor))
	}
	for _, name := range sortedKeys(q.Signals) {
		parts = append(parts, fmt.Sprintf("%s %.3f", name, q.Signals[name]))
	}
	for _, term := range sortedKeys(q.Terms) {
		parts = append(parts, fmt.Sprintf("%s:%.2f", term, q.Terms[term]))
	}
	return strings.Join(parts, "  ")
}

// describeLegs says which legs ran, and why one did not.
func describeLegs(q *record.Query) string {
	if q == nil {
		return ""
	}
	var ran, not []string
	for _, l := range q.Legs {
		switch {
		case l.Ran:
			text := l.Name
			var notes []string
			if l.By != "" {
				notes = append(notes, l.By)
			}
			if l.Weight != 0 && l.Weight != 1 {
				notes = append(notes, fmt.Sprintf("weight %.2g", l.Weight))
			}
			if len(notes) > 0 {
				text += " (" + strings.Join(notes, ", ") + ")"
			}
			ran = append(ran, text)
		case l.Why != "" && l.Why != search.NotAsked:
			not = append(not, fmt.Sprintf("no %s: %s", l.Name, l.Why))
		}
	}
	return strings.Join(append([]string{"legs: " + strings.Join(ran, " + ")}, not...), "; ")
}

// describeScore says what the number of a hit is, which differs between a
// search and a reranker.
func describeScore(q *record.Query, hits []*record.Hit) string {
	what := ""
	switch {
	case len(hits) == 0:
		return ""
	case search.Reranked(q.Legs):
		what = "the reranker's"
	case q.Mode == search.ModeVector:
		what = "cosine"
	case q.Mode == search.ModeBM25:
		what = "BM25 share"
	case q.Mode == search.ModeHybrid:
		what = "cosine or BM25 share"
	default:
		return "" // hits of another program
	}
	if len(q.Identifiers) > 0 && q.Mode != search.ModeBM25 && q.Mode != search.ModeVector {
		what += "; " + strings.Join(q.Identifiers, ", ") + " first"
	}
	return "; score: " + what
}

// excerpt returns up to n lines of the text, beginning near the part that
// matches the query best.
func excerpt(text string, q *record.Query, width, n int) []string {
	text = strings.Join(strings.Fields(answer.Plain(text)), " ")
	spans := matches(text, q)
	room := width * n
	start := bestStart(text, spans, room)
	prefix := ""
	if start > 0 {
		prefix = "…"
	}
	return wrap(prefix+text[start:], width, n)
}

// bestStart is the offset of a window of about room columns with the most
// matched bytes, moved back a little so that a match has something before it,
// and further where the text would end before the room does.
func bestStart(text string, spans [][2]int, room int) int {
	if columns(text) <= room || len(spans) == 0 {
		return 0
	}
	best, bestMass := 0, -1
	for i := range spans {
		mass := 0
		for _, s := range spans[i:] {
			if s[1]-spans[i][0] > room {
				break
			}
			mass += s[1] - s[0]
		}
		if mass > bestMass {
			best, bestMass = spans[i][0], mass
		}
	}
	return backToBreak(text, min(best, lastWindow(text, room)), 40)
}

// lastWindow is where the last room columns of a text begin, less what
// backToBreak may add to them.
func lastWindow(text string, room int) int {
	start := len(text)
	for width := 40; start > 0; {
		_, n := utf8.DecodeLastRuneInString(text[:start])
		if width += columns(text[start-n : start]); width > room {
			break
		}
		start -= n
	}
	return start
}

// backToBreak moves an offset back to the start of a sentence or word, by at
// most limit bytes.
func backToBreak(text string, at, limit int) int {
	from := max(at-limit, 0)
	for from > 0 && from < at && text[from]&0xC0 == 0x80 {
		from++
	}
	if from == 0 {
		return 0
	}
	head := text[from:at]
	for _, stop := range []string{"。", "！", "？", ". ", "，", " "} {
		if i := strings.LastIndex(head, stop); i >= 0 {
			return from + i + len(stop)
		}
	}
	return from
}

// wrap breaks text into at most n lines of a width; what is left over is
// shown by an ellipsis.
func wrap(text string, width, n int) []string {
	if text == "" {
		return nil
	}
	var b strings.Builder
	w := &wrapper{w: &b, width: width, hard: true}
	io.WriteString(w, text)
	w.Flush()
	lines := strings.Split(b.String(), "\n")
	if len(lines) <= n {
		return lines
	}
	last := lines[n-1]
	for columns(last) >= width {
		_, size := utf8.DecodeLastRuneInString(last)
		last = last[:len(last)-size]
	}
	return append(lines[:n-1], last+"…")
}
