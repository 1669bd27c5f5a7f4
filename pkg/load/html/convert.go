package html

import (
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"

	"kb/pkg/markdown"
)

type converter struct {
	scope
	w    markdown.Writer
	text inline

	title        string
	firstHeading string
	meta         map[string]string
	count        map[string]int // of main and article elements
	unclosed     bool           // a part that was left out went on to the end

	skip     string // element that is left out with its content
	depth    int    // of elements of that name inside it
	noise    bool   // it was left out by scope.clean
	inside   int    // open elements that within names
	sections int    // open main, article and section elements

	heading  int // level of the open heading
	quotes   int
	lists    []list
	marker   string // of the item that has no text yet
	pre      int    // open pre elements
	code     strings.Builder
	language string
	power    bool // the next character is superscript
	tables   []*table
}

// list is one open list: its number of items if they are counted.
type list struct {
	ordered bool
	items   int
}

func convert(src string, s scope) *converter {
	c := &converter{scope: s, meta: map[string]string{}, count: map[string]int{}}
	z := &tokenizer{src: src}
	for {
		switch t := z.next(); t.kind {
		case end:
			c.end()
			return c
		case characters:
			if c.skip == "" && c.taken() {
				c.write(t.text)
			}
		case startTag:
			c.start(z, t)
		case endTag:
			c.close(t.name)
		}
	}
}

func (c *converter) taken() bool { return c.within == "" || c.inside > 0 }

func (c *converter) end() {
	c.unclosed = c.skip != "" && c.noise
	if c.pre > 0 {
		c.pre = 1
		c.endPre()
	}
	for len(c.tables) > 0 {
		c.endTable()
	}
	c.flush()
}

func (c *converter) write(s string) {
	if c.pre > 0 {
		c.code.WriteString(s)
		return
	}
	if c.power && s != "" {
		c.power = false
		if c.text.last != 0 && (s[0] >= '0' && s[0] <= '9' || s[0] == '-') {
			s = "^" + s
		}
	}
	c.text.write(s)
}

func (c *converter) start(z *tokenizer, t token) {
	name, attr := t.name, t.attr
	if c.skip != "" {
		if name == c.skip && !t.shut {
			c.depth++
		}
		return
	}
	tag := atom.Lookup([]byte(name))
	switch {
	case leftOut(tag):
		c.leaveOut(name, tag, t.shut, false)
		return
	case c.clean && (tag == atom.Footer && c.sections == 0 || hidden(tag, attr) || isNoise(tag, attr)):
		c.leaveOut(name, tag, t.shut, true)
		return
	}
	switch tag {
	case atom.Title:
		c.readTitle(z)
	case atom.Meta:
		c.readMeta(attr)
	case atom.Main, atom.Article, atom.Section:
		c.sections++
		c.count[name]++
	}
	if name == c.within {
		c.inside++
	}
	if c.taken() {
		c.open(tag, attr)
	}
}

// leaveOut passes over an element, unless it can have no content.
func (c *converter) leaveOut(name string, tag atom.Atom, selfClosing, noise bool) {
	switch tag {
	case atom.Input, atom.Img, atom.Br, atom.Hr, atom.Link, atom.Meta, atom.Embed, atom.Source, atom.Wbr:
		return
	case atom.Svg, atom.Math:
		if selfClosing {
			return
		}
	}
	if block(tag) {
		c.breakBlock()
	}
	c.skip, c.depth, c.noise = name, 1, noise
}

func (c *converter) close(name string) {
	if c.skip != "" {
		if name == c.skip {
			if c.depth--; c.depth == 0 {
				c.skip = ""
			}
		}
		return
	}
	tag := atom.Lookup([]byte(name))
	if c.taken() {
		c.shut(tag)
	}
	switch tag {
	case atom.Main, atom.Article, atom.Section:
		c.sections = max(c.sections-1, 0)
	}
	if name == c.within {
		c.breakBlock()
		c.inside = max(c.inside-1, 0)
	}
}

// open is the beginning of an element that is taken.
func (c *converter) open(tag atom.Atom, attr attributes) {
	if c.pre > 0 && tag != atom.Pre {
		if tag == atom.Br {
			c.code.WriteByte('\n')
		} else if tag == atom.Code && c.language == "" {
			c.language = languageOf(attr)
		}
		return
	}
	if c.heading > 0 && c.text.last != 0 && block(tag) {
		c.flush() // a heading that was not closed
		c.heading = 0
	}
	switch tag {
	case atom.Br:
		c.text.line()
	case atom.Img:
		c.write(" " + attr["alt"] + " ")
	case atom.Sup:
		c.power = true
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		c.spreadTables()
		c.breakBlock()
		c.heading = int(tag.String()[1] - '0')
	case atom.Ul, atom.Ol, atom.Menu:
		c.breakBlock()
		first, err := strconv.Atoi(attr["start"])
		if err != nil {
			first = 1
		}
		c.lists = append(c.lists, list{ordered: tag == atom.Ol, items: first - 1})
	case atom.Li:
		c.breakBlock()
		c.item()
	case atom.Dd:
		c.breakBlock()
		if len(c.lists) > 0 {
			c.marker = "-"
		}
	case atom.Blockquote:
		c.breakBlock()
		c.quotes++
	case atom.Pre:
		c.spreadTables()
		c.breakBlock()
		c.pre++
		c.language = languageOf(attr)
	case atom.Table:
		c.spreadTables()
		c.breakBlock()
		c.tables = append(c.tables, &table{})
	case atom.Tr:
		c.endRow()
	case atom.Td, atom.Th:
		c.endCell()
		c.beginCell(attr)
	default:
		if block(tag) {
			c.breakBlock()
		}
	}
}

// shut is the end of an element that is taken.
func (c *converter) shut(tag atom.Atom) {
	if c.pre > 0 && tag != atom.Pre {
		return
	}
	switch tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		c.breakBlock()
		c.heading = 0
	case atom.Ul, atom.Ol, atom.Menu:
		c.breakBlock()
		c.marker = ""
		c.lists = c.lists[:max(len(c.lists)-1, 0)]
	case atom.Blockquote:
		c.breakBlock()
		c.quotes = max(c.quotes-1, 0)
	case atom.Pre:
		c.endPre()
	case atom.Table:
		c.endTable()
	case atom.Tr:
		c.endRow()
	case atom.Td, atom.Th:
		c.endCell()
	case atom.Sup:
		c.power = false
	default:
		if block(tag) {
			c.breakBlock()
		}
	}
}

// breakBlock ends a block: in the cell of a table this is a new line only.
func (c *converter) breakBlock() {
	if t := c.table(); t != nil && t.inCell {
		c.text.line()
		return
	}
	c.flush()
}

func (c *converter) item() {
	c.marker = "-"
	if n := len(c.lists); n == 0 {
		c.lists = append(c.lists, list{})
	} else if l := &c.lists[n-1]; l.ordered {
		l.items++
		c.marker = strconv.Itoa(l.items) + "."
	}
}

func (c *converter) endPre() {
	if c.pre = max(c.pre-1, 0); c.pre > 0 || c.code.Len() == 0 {
		return
	}
	c.w.Code(c.language, strings.NewReplacer("\u00a0", " ", "\x00", "").Replace(c.code.String()))
	c.code.Reset()
}

// readTitle takes the title element, whose content is one text.
func (c *converter) readTitle(z *tokenizer) {
	t := z.next()
	if t.kind != characters {
		return // its end
	}
	if strings.TrimSpace(c.title) == "" {
		c.title = t.text
	}
	c.skip, c.depth, c.noise = "title", 1, false
}

func (c *converter) readMeta(attr attributes) {
	name := strings.ToLower(attr["name"] + attr["property"])
	switch name {
	case "article:published_time", "date":
		name = "date"
	case "author", "keywords":
	default:
		return
	}
	// Each chunk of the document carries them.
	const longest = 2000
	if c.meta[name] == "" && attr["content"] != "" && len(attr["content"]) <= longest {
		c.meta[name] = attr["content"]
	}
}

// languageOf reads the language of code from a class like language-go.
func languageOf(attr attributes) string {
	for class := range strings.FieldsSeq(attr["class"]) {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-"} {
			if l, ok := strings.CutPrefix(class, prefix); ok && len(l) < 20 && !strings.Contains(l, "`") {
				return l
			}
		}
	}
	return ""
}
