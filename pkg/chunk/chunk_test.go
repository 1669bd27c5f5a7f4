package chunk

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"kb/pkg/record"
)

func doc(name, text string) *record.Document {
	return &record.Document{ID: record.DocumentID(name), Path: name, Title: "T", Hash: "h", Text: text}
}

func texts(chunks iter.Seq[*record.Chunk]) []string {
	var out []string
	for c := range chunks {
		out = append(out, c.Text)
	}
	return out
}

func TestSections(t *testing.T) {
	src := "---\ntitle: x\n---\nintro\n\n# A\n\n## B\n\n```sh\n# no heading\n```\n\n## C\n\nc\n\n---\n\ntail\n\nD\n=\n\n# E\n"
	type want struct {
		headings string
		line     int
		text     string
	}
	wants := []want{
		{"", 4, "intro"},
		{"A/B", 6, "# A\n\n## B\n\n```sh\n# no heading\n```"},
		{"A/C", 14, "## C\n\nc\n\n---\n\ntail"},
		{"D", 22, "D\n="},
		{"E", 25, "# E"},
	}
	chunks := slices.Collect(Split(doc("a.md", src), Options{Size: 100}))
	for i, c := range chunks {
		if got := (want{strings.Join(c.Headings, "/"), c.Line, c.Text}); i >= len(wants) || got != wants[i] {
			t.Errorf("chunk %d: %+v", i, got)
		}
		if c.Seq != i+1 || c.Of != len(wants) || src[c.Start:c.End] != c.Text || c.Document != record.DocumentID("a.md") || c.Title != "T" {
			t.Errorf("chunk %d: %+v", i, c)
		}
	}
	if len(chunks) != len(wants) {
		t.Errorf("%d chunks", len(chunks))
	}
}

func TestLongNamesAreCut(t *testing.T) {
	long := strings.Repeat("界", longestName)
	d := doc("a.md", "# "+long+"\n\ntext\n")
	d.Title = long
	for c := range Split(d, Options{Size: 100}) {
		for _, s := range append(c.Headings, c.Title) {
			if len(s) > longestName || !utf8.ValidString(s) || !strings.HasPrefix(long, strings.TrimSuffix(s, "…")) {
				t.Fatalf("%d bytes: %q", len(s), s)
			}
		}
		if len(c.Headings) != 1 {
			t.Fatalf("headings %q", c.Headings)
		}
	}
}

func TestFrontMatter(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"alone":    {"---\ntitle: x\n---\n", "---\ntitle: x\n---"},
		"broken":   {"---\ntitle: [\n---\n# H\nx", "---\ntitle: [\n---|# H\nx"},
		"open":     {"---\ntitle: x\n\n# H\n\nx", "---\ntitle: x|# H\n\nx"},
		"a rule":   {"---\n\nfirst\n\n---\n\nsecond", "---\n\nfirst\n\n---\n\nsecond"},
		"byte bom": {"\ufeff---\na: b\n---\n# H\nx", "# H\nx"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(texts(Split(doc("a.md", c.src), Options{Size: 100})), "|"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestTables(t *testing.T) {
	var b strings.Builder
	b.WriteString("# T\n\nBefore the table.\n\n| a | b |\n|---|---|\n")
	for i := range 12 {
		fmt.Fprintf(&b, "| row %d | %d |\n", i, i*i)
	}
	b.WriteString("\nAfter.\n")
	chunks := slices.Collect(Split(doc("a.md", b.String()), Options{Size: 80, Overlap: 20}))
	header := "| a | b |\n|---|---|\n"
	for i, c := range chunks {
		if n := utf8.RuneCountInString(c.Text); n > 80 {
			t.Errorf("chunk %d has %d characters", i, n)
		}
		if strings.Contains(c.Text, "| row") && strings.Count(c.Text, header) != 1 {
			t.Errorf("chunk %d without its header:\n%s", i, c.Text)
		}
		if rest := strings.TrimPrefix(c.Text, header); i > 0 && b.String()[c.Start:c.End] != rest {
			t.Errorf("chunk %d: %q is not the text from %d to %d", i, rest, c.Start, c.End)
		}
	}
	if len(chunks) < 4 {
		t.Errorf("%d chunks", len(chunks))
	}
}

// Code that fits into a chunk is in one, fences included, wherever it stands.
func TestFencesStayWhole(t *testing.T) {
	var b strings.Builder
	var blocks []string
	for i := range 40 {
		block := fmt.Sprintf("```sh\n%s# no heading %d\n\nend. One\n```\n", strings.Repeat("step one. two\n", i%5), i)
		blocks = append(blocks, block)
		fmt.Fprintf(&b, "Words %s before.\n\n%s\n", strings.Repeat("and words ", i%7), block)
	}
	for _, overlap := range []int{0, 30, 90} {
		got := texts(Split(doc("a.md", b.String()), Options{Size: 120, Overlap: overlap}))
		for _, block := range blocks {
			if block = strings.TrimSpace(block); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, block) }) {
				t.Errorf("overlap %d: cut: %q", overlap, block)
			}
		}
		for _, text := range got {
			if strings.Count(text, "```")%2 != 0 {
				t.Errorf("overlap %d: half of a block: %q", overlap, text)
			}
		}
	}
}

func TestOverlap(t *testing.T) {
	for name, c := range map[string]struct {
		path, text string
		opt        Options
		want       string
	}{
		"sentence":        {"a.txt", "One two. Three four. Five six.", Options{Size: 21, Overlap: 12}, "One two. Three four.|Three four. Five six."},
		"fixed":           {"a.txt", "abcdefghij", Options{Strategy: Fixed, Size: 4, Overlap: 2}, "abcd|cdef|efgh|ghij"},
		"chinese":         {"a.txt", "一二三四五六七八九十", Options{Size: 4, Overlap: 1}, "一二三四|四五六七|七八九十"},
		"word":            {"a.txt", "alpha beta gamma delta epsilon", Options{Size: 16, Overlap: 7}, "alpha beta gamma|gamma delta|delta epsilon"},
		"not over a page": {"a.pdf", "one two.\fthree four.", Options{Size: 12, Overlap: 5}, "one two.|three four."},
		"whole code":      {"a.md", "```\nabc def ghi jkl\n```\n\nsome text that follows it.", Options{Size: 30, Overlap: 10}, "```\nabc def ghi jkl\n```|some text that follows it."},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(texts(Split(doc(c.path, c.text), c.opt)), "|"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestRecursive(t *testing.T) {
	text := "一二三。四五六，七八九十，甲乙。\n\nshort\nlines here"
	got := strings.Join(texts(Split(doc("a.txt", text), Options{Strategy: Recursive, Size: 9})), "|")
	if want := "一二三。四五六，|七八九十，甲乙。|short|lines|here"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPages(t *testing.T) {
	pages := []record.Page{{Page: 1, Text: "one"}, {Page: 2, Status: "empty"}, {Page: 3, Text: "three"}}
	for name, d := range map[string]*record.Document{
		"as loaded":    {Path: "a.pdf", Text: "one\f\fthree", Pages: pages},
		"no text":      {Path: "a.pdf", Pages: pages},
		"no pages":     {Path: "a.pdf", Text: "one\f\fthree"},
		"wrong number": {Path: "a.pdf", Text: "one\f\fthree", Pages: pages[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			chunks := slices.Collect(Split(d, Options{Size: 100}))
			if len(chunks) != 2 || chunks[0].Page != 1 || chunks[1].Page != 3 || chunks[1].Text != "three" || chunks[1].Line != 0 || chunks[1].Start != 5 {
				t.Errorf("%+v", chunks)
			}
		})
	}
}

func TestPageSections(t *testing.T) {
	page := func(n int, text string, headings ...record.PageHeading) record.Page {
		return record.Page{Page: n, Text: text, Headings: headings}
	}
	pages := []record.Page{
		page(1, "cover\nPolicy\n3  Hotels\n3.1 Limits\n500 a night.\n3.2 Above",
			record.PageHeading{Start: 6, Level: 1, Title: "Policy"},
			record.PageHeading{Start: 13, Level: 2, Title: "3 Hotels"},
			record.PageHeading{Start: 23, Level: 3, Title: "3.1 Limits"},
			record.PageHeading{Start: 47, Level: 3, Title: "3.2 Above"}),
		page(2, "两级审批。\n4 Trains\nSecond class.",
			record.PageHeading{Start: 1, Level: 1, Title: "inside a character"},
			record.PageHeading{Start: 16, Level: 2, Title: "4 Trains"},
			record.PageHeading{Start: 3, Level: 1, Title: "out of order"},
			record.PageHeading{Start: 99, Level: 1, Title: "off the page"}),
		page(3, "no line says it", record.PageHeading{Level: 2, Title: "Bookmark"}),
		page(4, "end"),
	}
	var all []string
	for _, p := range pages {
		all = append(all, p.Text)
	}
	d := &record.Document{Path: "a.pdf", Text: strings.Join(all, record.PageBreak), Pages: pages}
	split := func(strategy string, size int) (got []string) {
		for c := range Split(d, Options{Size: size, Strategy: strategy}) {
			if d.Text[c.Start:c.End] != c.Text {
				t.Errorf("%+v is not the text from %d to %d", c, c.Start, c.End)
			}
			got = append(got, fmt.Sprintf("%d %s: %s", c.Page, strings.Join(c.Headings, "/"), c.Text))
		}
		return got
	}
	want := []string{
		"1 : cover",
		"1 Policy/3 Hotels/3.1 Limits – 3.2 Above: Policy\n3  Hotels\n3.1 Limits\n500 a night.\n3.2 Above",
		"2 Policy/3 Hotels/3.2 Above: 两级审批。",
		"2 Policy/4 Trains: 4 Trains\nSecond class.",
		"3 Policy/Bookmark: no line says it",
		"4 Policy/Bookmark: end",
	}
	if got := split(Markdown, 100); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := split(Markdown, 45); got[2] != "1 Policy/3 Hotels/3.2 Above: 3.2 Above" {
		t.Errorf("too large to be joined: %q", got)
	}
	if got := split(Recursive, 100); len(got) != 4 || !strings.HasPrefix(got[3], "4 : ") {
		t.Errorf("recursive: %q", got)
	}
	d.Text = strings.ReplaceAll(d.Text, "cover", "a changed cover")
	if got := split(Markdown, 100); !strings.HasPrefix(got[0], "1 : a changed cover\nPolicy") {
		t.Errorf("offsets into another text: %q", got)
	}
}

func sequence(records ...record.Record) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func TestRun(t *testing.T) {
	d := doc("a.txt", "a\x00b")
	d.Meta = json.RawMessage(`{"tags":["x"]}`)
	d.Extra = record.Extra{{Key: "mine", Value: json.RawMessage(`1`)}, {Key: "vector", Value: json.RawMessage(`2`)}}
	raw, root := &record.Raw{Line: []byte(`{}`)}, &record.Root{Path: "."}
	var got []record.Record
	for r, err := range Run(sequence(raw, d, doc("b.txt", " \n\x00"), root), Options{Size: 10}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if len(got) != 4 || got[0] != raw || got[3] != root {
		t.Fatalf("%+v", got)
	}
	c := got[1].(*record.Chunk)
	if c.Text != "ab" || string(c.Meta) != string(d.Meta) || len(c.Extra) != 1 || c.Extra[0].Key != "mine" {
		t.Errorf("%+v", c)
	}
	if s, ok := got[2].(*record.Skipped); !ok || s.Class != record.ClassEmpty || s.Path != "b.txt" {
		t.Errorf("%+v", got[2])
	}
	for _, opt := range []Options{{}, {Size: 1, Overlap: 1}, {Size: 1, Overlap: -1}, {Size: 1, Strategy: "x"}} {
		if opt.Validate() == nil {
			t.Errorf("%+v is valid", opt)
		}
	}
}

// check holds what is promised of the chunks of any document.
func check(t *testing.T, d *record.Document, opt Options) {
	t.Helper()
	chunks := slices.Collect(Split(d, opt))
	covered, before := 0, 0
	skip := 0
	for _, r := range regions(d, d.Text, opt)[:1] {
		skip = r.start
	}
	boundaries := graphemes(d.Text)
	for i, c := range chunks {
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("%+v: chunk %d of %q %+v: %s", opt, i, d.Text, *c, fmt.Sprintf(format, args...))
		}
		body := strings.ReplaceAll(d.Text[c.Start:c.End], "\x00", "")
		n, source := utf8.RuneCountInString(c.Text), utf8.RuneCountInString(d.Text[c.Start:c.End])
		switch {
		case strings.TrimSpace(c.Text) == "":
			fail("blank")
		case !strings.HasSuffix(c.Text, body) || c.Text != body && !strings.Contains(c.Text, "|"):
			fail("not the text from %d to %d", c.Start, c.End)
		case max(n, source) > opt.Size && uniseg.GraphemeClusterCount(d.Text[c.Start:c.End]) > 1 && source > longest:
			fail("%d characters", n)
		case !boundaries[c.Start] || !boundaries[c.End]:
			fail("cuts a character")
		case c.Start < before:
			fail("begins before the one before")
		case c.Seq != i+1 || c.Of != len(chunks):
			fail("number")
		case c.Page == 0 && c.Line != 1+strings.Count(d.Text[:c.Start], "\n"):
			fail("line")
		case c.Start < covered && utf8.RuneCountInString(d.Text[c.Start:covered]) > opt.Overlap:
			fail("overlap %q", d.Text[c.Start:covered])
		}
		if gap := strings.TrimFunc(d.Text[max(covered, skip):max(c.Start, covered, skip)], blank); gap != "" {
			fail("%q before it is lost", gap)
		}
		covered, before = max(covered, c.End), c.Start
	}
	if rest := strings.TrimFunc(d.Text[max(covered, skip):], blank); rest != "" {
		t.Fatalf("%+v: %q is lost of %q", opt, rest, d.Text)
	}
	again := slices.Collect(Split(d, opt))
	if !slices.EqualFunc(chunks, again, func(a, b *record.Chunk) bool { return a.ID == b.ID && a.Text == b.Text }) {
		t.Fatal("another time, other chunks")
	}
}

// graphemes are the offsets where text may be cut: between characters, and
// inside those of more than the longest that is kept whole.
func graphemes(s string) map[int]bool {
	out := map[int]bool{0: true}
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		from, to := g.Positions()
		out[to] = true
		if utf8.RuneCountInString(s[from:to]) > longest {
			for i := from; i < to; i++ {
				out[i] = utf8.RuneStart(s[i])
			}
		}
	}
	return out
}

func TestProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"一二三。", "四五，六七", "Word ", "two. ", "three, four; ", "\n", "\n\n", "# H\n", "## G\n\n", "e\u0301", "👨‍👩‍👧", "🇨🇳",
		" \u0301", "| a | b |\n|---|---|\n", "| c | d |\n", "```\ncode # x\n```\n", "    indented\n", "- item\n", "> quote\n", "\x00", "\r\n", "\t",
		"averyveryverylongwordwithoutanend", "\f", "---\n", "Title\n===\n", strings.Repeat("\u0301", 70)}
	for range 3000 {
		var b strings.Builder
		for range rng.IntN(30) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		size := 1 + rng.IntN(60)
		opt := Options{Strategy: []string{Markdown, Recursive, Fixed}[rng.IntN(3)], Size: size, Overlap: rng.IntN(size)}
		d := doc([]string{"a.md", "a.txt", "a.pdf"}[rng.IntN(3)], b.String())
		if rng.IntN(2) == 0 {
			d.Pages = headedPages(rng, d.Text)
		}
		check(t, d, opt)
	}
}

// headedPages are the pages of a text with headings anywhere, some of which
// cannot be.
func headedPages(rng *rand.Rand, text string) []record.Page {
	var pages []record.Page
	for i, page := range strings.Split(text, record.PageBreak) {
		p := record.Page{Page: i + 1, Text: page}
		for range rng.IntN(5) {
			p.Headings = append(p.Headings, record.PageHeading{Start: rng.IntN(len(page)+5) - 2, Level: rng.IntN(5), Title: "H"})
		}
		pages = append(pages, p)
	}
	return pages
}

// Short sentences leave room for all of the overlap that was asked for, but
// for less than one sentence.
func TestOverlapAsAsked(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "句子%03d。", i)
	}
	for _, overlap := range []int{6, 12, 50} {
		chunks := slices.Collect(Split(doc("a.txt", b.String()), Options{Size: 100, Overlap: overlap}))
		for i := 1; i < len(chunks); i++ {
			got := utf8.RuneCountInString(b.String()[chunks[i].Start:chunks[i-1].End])
			if got > overlap || got <= overlap-6 {
				t.Errorf("overlap %d: %d", overlap, got)
			}
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("---\na: 1\n---\n# H\n\n| a |\n|--|\n| b |\n", uint8(20), uint8(5), uint8(0))
	f.Add("一二三。e\u0301👨‍👩‍👧\r\n\f x", uint8(3), uint8(1), uint8(5))
	f.Fuzz(func(t *testing.T, src string, size, overlap, how uint8) {
		if !utf8.ValidString(src) || size == 0 || overlap >= size {
			t.Skip()
		}
		name := []string{"a.md", "a.txt", "a.pdf"}[how%3]
		strategy := []string{Markdown, Recursive, Fixed}[how/3%3]
		check(t, doc(name, src), Options{Strategy: strategy, Size: int(size), Overlap: int(overlap)})
	})
}

// Each of these has 500 KB on one line, or without a place to cut, and takes
// some tenths of a second at most; quadratic work would take minutes.
func TestLongLines(t *testing.T) {
	for name, piece := range map[string]string{
		"words": "lorem sensor data ", "chinese": "机房温度上限", "letters": "x", "emoji": "👨‍👩‍👧", "marks": "\u0301",
		"space and mark": " \u0301", "commas": "甲，", "dots": ".", "pipes": "|", "blank": " ", "lines": "a\n",
	} {
		src := strings.Repeat(piece, 500_000/len(piece)) + "END"
		for _, path := range []string{"a.md", "a.txt"} {
			chunks := slices.Collect(Split(doc(path, src), Options{Size: 1000, Overlap: 100}))
			if last := chunks[len(chunks)-1]; !strings.HasSuffix(last.Text, "END") {
				t.Errorf("%s: the last chunk ends in %q", name, last.Text[max(0, len(last.Text)-10):])
			}
		}
	}
}
