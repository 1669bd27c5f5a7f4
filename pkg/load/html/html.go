// Package html turns a web page into Markdown: its headings, paragraphs,
// lists, tables and code, without what surrounds them.
//
// The page is read as a stream of tags and text, not as a tree. The blocks of
// a page show in the stream already, and so the time is linear and the depth of
// nesting costs nothing. golang.org/x/net/html refuses pages of more than 512
// open elements, and only to link it costs each start of kb 0.2 ms and 113 KB
// for its table of entities; the standard library has one that waits.
//
// What is left out: scripts, styles, forms' fields and what is hidden;
// elements that say they are navigation, a page's footer, a table of contents
// or the like. Where a page has a main element with a quarter of its text,
// only this is taken. Where nearly nothing would be left, all is taken.
package html

import (
	"strings"

	"kb/pkg/markdown"
)

// Page is what was found in a page.
type Page struct {
	Markdown string
	Title    string            // of the title element or the first heading; "" for none
	Meta     map[string]string // of the meta elements: author, date, keywords
}

// Convert reads a page, which has been decoded. It never fails: what is not
// HTML is text.
func Convert(src string) Page {
	all := convert(src, scope{})
	best := convert(src, scope{clean: true})
	if tooLittle(best, all) {
		best = all
	}
	for _, element := range []string{"main", "article"} {
		if all.count[element] == 0 || element == "article" && all.count[element] > 1 {
			continue
		}
		if part := convert(src, scope{clean: true, within: element}); part.w.Len()*4 >= best.w.Len() {
			best = part
			break
		}
	}
	return Page{Markdown: best.w.String(), Title: all.pageTitle(), Meta: all.meta}
}

// tooLittle says whether cleaning took a page's own text with the rest.
func tooLittle(clean, all *converter) bool {
	const little = 200
	return clean.unclosed || clean.w.Len() < little && all.w.Len() > 3*clean.w.Len()
}

// scope says which parts of a page are taken.
type scope struct {
	clean  bool   // leave out what looks like navigation and the like
	within string // only what is inside elements of this name
}

// pageTitle prefers the first heading where the title element only adds the
// name of the site to it.
func (c *converter) pageTitle() string {
	title := strings.Join(strings.Fields(c.title), " ")
	if title == "" || c.firstHeading != "" && strings.Contains(title, c.firstHeading) {
		return c.firstHeading
	}
	return title
}

// block ends the text at hand and writes it as what it is.
func (c *converter) flush() {
	text := c.text.take()
	switch {
	case text == "":
		return
	case c.heading > 0:
		text = strings.TrimRight(strings.TrimSuffix(text, "¶"), " ")
		if c.firstHeading == "" && c.heading == 1 {
			c.firstHeading = strings.Join(strings.Fields(text), " ")
		}
		c.w.Heading(c.heading, text)
	case len(c.lists) > 0:
		c.w.Item(len(c.lists)-1, c.marker, text)
		c.marker = ""
	case c.quotes > 0:
		c.w.Quote(text)
	default:
		c.w.Text(text)
	}
}

// inline gathers the text of one block: white space becomes one space, or
// nothing where it is a line break between Chinese characters.
type inline struct {
	b      strings.Builder
	last   rune
	space  bool // white space came since last
	broken bool // a line break was in it
}

func (t *inline) write(s string) {
	for _, r := range s {
		switch r {
		case ' ', '\t', '\f', '\r', '\u00a0':
			t.space = true
			continue
		case '\n':
			t.space, t.broken = true, true
			continue
		case '\u00ad', '\u200b', '\ufeff', 0: // seen by nobody
			continue
		}
		if t.space && t.last != 0 && t.last != '\n' && !(t.broken && markdown.Unspaced(t.last) && markdown.Unspaced(r)) {
			t.b.WriteByte(' ')
		}
		t.b.WriteRune(r)
		t.last, t.space, t.broken = r, false, false
	}
}

// line begins a new line within the block.
func (t *inline) line() {
	if t.last != 0 && t.last != '\n' {
		t.b.WriteByte('\n')
		t.last = '\n'
	}
	t.space, t.broken = false, false
}

func (t *inline) take() string {
	s := strings.TrimSpace(t.b.String())
	*t = inline{}
	return s
}
