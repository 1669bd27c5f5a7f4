package docx

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// style is a style of paragraphs.
type style struct {
	name   string // in lower case; that of a built-in style is English in every language
	parent string
	level  int // of headings, from 1; 0: not said
	num    numRef
}

// numRef names a level of a numbering.
type numRef struct {
	id    string // "": none said
	level int
}

func (c *converter) readStyles(d *xml.Decoder) error {
	id := ""
	return elements(d, func(e xml.StartElement) error {
		s := c.styles[id]
		switch e.Name.Local {
		case "style":
			id = ""
			if attr(e, "type") == "paragraph" {
				id = attr(e, "styleId")
				if attr(e, "default") == "1" {
					c.normal = id
				}
			}
			return nil
		case "name":
			s.name = strings.ToLower(attr(e, "val"))
		case "basedOn":
			s.parent = attr(e, "val")
		case "outlineLvl":
			s.level = outline(e)
		case "numId":
			s.num.id = attr(e, "val")
		case "ilvl":
			s.num.level = level(e)
		default:
			return nil
		}
		if id != "" {
			c.styles[id] = s
		}
		return nil
	})
}

// outline reads an outline level, 0 to 8; 9 is that of the text.
func outline(e xml.StartElement) int {
	n, err := strconv.Atoi(attr(e, "val"))
	if err != nil || n < 0 || n > 8 {
		return 0
	}
	return n + 1
}

// level reads the level of a list, 0 to 8.
func level(e xml.StartElement) int {
	n, err := strconv.Atoi(attr(e, "val"))
	if err != nil {
		return 0
	}
	return min(max(n, 0), levels-1)
}

// heading is the level of the headings in a style, 0 for other text: by its
// outline level or its name, or those of a style that it is based on.
func (c *converter) heading(id string) int {
	for range 20 {
		s, ok := c.styles[id]
		if !ok {
			break
		}
		if s.level > 0 {
			return s.level
		}
		for _, prefix := range []string{"heading ", "标题 "} {
			if rest, ok := strings.CutPrefix(s.name, prefix); ok && len(rest) == 1 && rest[0] >= '1' && rest[0] <= '9' {
				return int(rest[0] - '0')
			}
		}
		id = s.parent
	}
	return 0
}

// numbered is the numbering that a style gives to its paragraphs. The level
// may stand in the style and the numbering in one that it is based on.
func (c *converter) numbered(id string) numRef {
	level := 0
	for range 20 {
		s, ok := c.styles[id]
		if !ok {
			break
		}
		level = max(level, s.num.level)
		if s.num.id != "" {
			return numRef{s.num.id, level}
		}
		id = s.parent
	}
	return numRef{}
}
