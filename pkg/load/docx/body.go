package docx

import (
	"encoding/xml"
	"fmt"
	"strings"

	"kb/pkg/markdown"
)

// converter reads the body of a document.
type converter struct {
	styles    map[string]style
	normal    string // id of the style of paragraphs that name none
	numbering map[string]*number
	notes     map[string]*note // by "footnote 3"
	cited     []*note          // in the order of the text
	title     string           // first paragraph in the style Title

	w      markdown.Writer
	open   []*paragraph // a text box has paragraphs inside one
	tables []*table
	run    run
	sink   func(text string) // takes paragraphs in place of w
	made   int               // bytes that small elements became, besides their text
}

// made by one element, about, in bytes.
const (
	madeCell   = 40
	madeNote   = 200
	madeNumber = 1000
)

// note is a footnote or an endnote.
type note struct {
	text   strings.Builder
	number int // 0 as long as it was not cited
}

// paragraph is an open paragraph.
type paragraph struct {
	text  strings.Builder
	style string
	num   numRef
	level int // outline level said here; 0: not said
	inPr  bool
}

// run is the state of the run of text at hand.
type run struct {
	hidden, power bool
	inText        bool
}

// table is an open table; one inside a cell is part of the cell's text.
type table struct {
	rows    [][]string
	row     []string
	cell    []string
	span    int
	merged  bool // the cell goes on from the row above
	deleted bool // the row
}

// mostSpan bounds the columns that one cell may take.
const mostSpan = 63

func (c *converter) readBody(d *xml.Decoder) error {
	err := c.walk(d, nil)
	for len(c.tables) > 0 {
		c.endTable()
	}
	return err
}

// readNotes reads footnotes or endnotes.
func (c *converter) readNotes(kind string) func(*xml.Decoder) error {
	return func(d *xml.Decoder) error {
		if c.notes == nil {
			c.notes = map[string]*note{}
		}
		var n *note
		c.sink = func(text string) {
			if n != nil && text != "" {
				n.text.WriteString(" " + text)
			}
		}
		defer func() { c.sink = nil }()
		return c.walk(d, func(e xml.StartElement) {
			if e.Name.Local == kind {
				n = nil
				if attr(e, "type") == "" { // the others are lines between text and notes
					n = &note{}
					c.made += madeNote
					c.notes[kind+" "+attr(e, "id")] = n
				}
			}
		})
	}
}

// walk reads a part; see may look at each element that is not left out.
func (c *converter) walk(d *xml.Decoder, see func(xml.StartElement)) error {
	skip := 0 // depth inside an element that is left out
	return tokens(d, func(token xml.Token) error {
		switch t := token.(type) {
		case xml.StartElement:
			if skip > 0 || leftOut(t.Name.Local) {
				skip++
				c.deletion(t)
				return nil
			}
			if see != nil {
				see(t)
			}
			c.start(t)
		case xml.EndElement:
			if skip > 0 {
				skip--
				return nil
			}
			c.end(t.Name.Local)
		case xml.CharData:
			if skip == 0 && c.run.inText {
				c.write(string(t))
			}
		}
		return c.bounded()
	})
}

// bounded refuses what is nested deeper than any document, or becomes much
// larger than it is: each costs a file of some kilobytes many gigabytes.
func (c *converter) bounded() error {
	switch {
	case max(len(c.open), len(c.tables)) > deepest:
		return fmt.Errorf("paragraphs or tables are nested more than %d deep", deepest)
	case c.made > maxUnpacked:
		return ErrTooLarge
	}
	return nil
}

// leftOut says whether an element's content is not part of the text: deleted
// or moved away, the second form of something, or how a word is read.
func leftOut(name string) bool {
	switch name {
	case "del", "moveFrom", "Fallback", "rt", "instrText", "delText", "delInstrText", "rPrChange", "pPrChange", "tblPrChange", "trPrChange", "tcPrChange", "sectPr":
		return true
	}
	return false
}

// deletion takes from elements that are left out that they delete a row.
func (c *converter) deletion(e xml.StartElement) {
	if t := c.table(); t != nil && e.Name.Local == "del" && len(c.open) == 0 {
		t.deleted = true
	}
}

func (c *converter) table() *table {
	if len(c.tables) == 0 {
		return nil
	}
	return c.tables[len(c.tables)-1]
}

func (c *converter) paragraph() *paragraph {
	if len(c.open) == 0 {
		return nil
	}
	return c.open[len(c.open)-1]
}

func (c *converter) write(s string) {
	p := c.paragraph()
	if p == nil || c.run.hidden {
		return
	}
	if c.run.power && p.text.Len() > 0 && s != "" && (s[0] >= '0' && s[0] <= '9' || s[0] == '-') {
		s = "^" + s
	}
	p.text.WriteString(s)
}

func (c *converter) start(e xml.StartElement) {
	if t := c.table(); t != nil && c.startCell(t, e) {
		return
	}
	switch e.Name.Local {
	case "p":
		c.open = append(c.open, &paragraph{style: c.normal})
	case "tbl":
		c.tables = append(c.tables, &table{})
	case "r":
		c.run = run{}
	case "t":
		c.run.inText = true
	case "tab", "ptab":
		if p := c.paragraph(); p != nil && !p.inPr {
			c.write("\t")
		}
	case "br", "cr":
		c.write("\n")
	case "noBreakHyphen":
		c.write("-")
	case "vanish", "webHidden":
		c.run.hidden = isOn(e)
	case "vertAlign":
		c.run.power = attr(e, "val") == "superscript"
	case "footnoteReference", "endnoteReference":
		c.cite(strings.TrimSuffix(e.Name.Local, "Reference") + " " + attr(e, "id"))
	default:
		c.property(e)
	}
}

// property reads the properties of a paragraph.
func (c *converter) property(e xml.StartElement) {
	p := c.paragraph()
	if p == nil {
		return
	}
	switch e.Name.Local {
	case "pPr":
		p.inPr = true
	case "pStyle":
		p.style = attr(e, "val")
	case "outlineLvl":
		p.level = outline(e)
	case "numId":
		p.num.id = attr(e, "val")
	case "ilvl":
		p.num.level = level(e)
	}
}

func (c *converter) startCell(t *table, e xml.StartElement) bool {
	switch e.Name.Local {
	case "tr":
		t.row, t.deleted = nil, false
	case "tc":
		t.cell, t.span, t.merged = nil, 1, false
	case "gridSpan":
		t.span = min(max(whole(attr(e, "val")), 1), mostSpan)
	case "vMerge":
		t.merged = attr(e, "val") != "restart"
	default:
		return false
	}
	return true
}

func (c *converter) end(name string) {
	switch name {
	case "p":
		c.endParagraph()
	case "pPr":
		if p := c.paragraph(); p != nil {
			p.inPr = false
			c.run = run{} // what was said of the paragraph's mark
		}
	case "r":
		c.run = run{}
	case "t":
		c.run.inText = false
	case "tc":
		if t := c.table(); t != nil {
			c.made += t.endCell()
		}
	case "tr":
		if t := c.table(); t != nil && !t.deleted && strings.Join(t.row, "") != "" {
			t.rows = append(t.rows, t.row)
		}
	case "tbl":
		c.endTable()
	}
}

// endCell adds the cell to the row. One that goes on from the row above has
// its text again, if it is short. It returns the bytes that this added.
func (t *table) endCell() (made int) {
	text := strings.Join(t.cell, " ")
	if above := len(t.rows) - 1; t.merged && text == "" && above >= 0 && len(t.row) < len(t.rows[above]) {
		const short = 200
		if again := t.rows[above][len(t.row)]; len(again) <= short {
			text, made = again, len(again)
		}
	}
	t.row = append(t.row, text)
	t.row = append(t.row, make([]string, t.span-1)...)
	t.cell = nil
	return made + t.span*madeCell
}

func (c *converter) endTable() {
	t := c.table()
	if t == nil {
		return
	}
	c.tables = c.tables[:len(c.tables)-1]
	if outer := c.table(); outer != nil {
		for _, row := range t.rows {
			outer.cell = append(outer.cell, strings.Join(row, " "))
		}
		return
	}
	if c.sink == nil {
		c.w.Table(t.rows)
		return
	}
	for _, row := range t.rows {
		c.sink(strings.Join(row, " "))
	}
}

func (c *converter) endParagraph() {
	p := c.paragraph()
	if p == nil {
		return
	}
	c.open = c.open[:len(c.open)-1]
	text := strings.TrimSpace(p.text.String())
	switch t := c.table(); {
	case t != nil:
		if text != "" {
			t.cell = append(t.cell, text)
		}
	case c.sink != nil:
		c.sink(text)
	case text != "":
		c.block(p, text)
	}
}

// block writes a paragraph as what its style makes it.
func (c *converter) block(p *paragraph, text string) {
	s := c.styles[p.style]
	if strings.HasPrefix(s.name, "toc ") {
		return
	}
	level := p.level
	if level == 0 {
		level = c.heading(p.style)
	}
	if s.name == "title" {
		if c.title == "" {
			c.title = strings.Join(strings.Fields(text), " ")
		}
		level = 1
	}
	num := p.num
	if num.id == "" {
		num = c.numbered(p.style)
	}
	marker := c.marker(num)
	switch {
	case level > 0:
		c.w.Heading(level, strings.TrimSpace(strings.TrimPrefix(marker, "-")+" "+text))
	case marker != "":
		c.w.Item(num.level, marker, text)
	default:
		c.w.Text(text)
	}
}

// cite puts the number of a note into the text.
func (c *converter) cite(key string) {
	n := c.notes[key]
	if n == nil {
		return
	}
	if n.number == 0 {
		c.cited = append(c.cited, n)
		n.number = len(c.cited)
	}
	c.run.power = false
	c.write(fmt.Sprintf("[^%d]", n.number))
}

// finish adds the notes, as Markdown writes footnotes.
func (c *converter) finish() string {
	for _, n := range c.cited {
		c.w.Text(fmt.Sprintf("[^%d]: %s", n.number, strings.Join(strings.Fields(n.text.String()), " ")))
	}
	return c.w.String()
}
