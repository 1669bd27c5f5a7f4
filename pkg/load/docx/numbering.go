package docx

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

const (
	levels = 9 // of a numbering
	// longestMarker bounds the text of a level, which each of its paragraphs
	// has again, in bytes.
	longestMarker = 100
)

// number is one numbering of the document: an abstract one, whose counters go
// on, or begin again where the level has a number to begin with.
type number struct {
	*abstract
	again [levels]int // to begin with at the first paragraph; 0: go on
}

// abstract says how a numbering looks, and counts.
type abstract struct {
	formats [levels]string // decimal, bullet, chineseCounting, …
	texts   [levels]string // like %1.%2
	starts  [levels]int
	legal   [levels]bool // all numbers of the text in digits
	counted [levels]int
	used    [levels]bool
}

func (c *converter) readNumbering(d *xml.Decoder) error {
	abstracts := map[string]*abstract{}
	var a *abstract
	var n *number
	at := 0
	return elements(d, func(e xml.StartElement) error {
		value := attr(e, "val")
		switch e.Name.Local {
		case "abstractNum":
			c.made += madeNumber
			a, n, at = &abstract{}, nil, 0
			abstracts[attr(e, "abstractNumId")] = a
		case "num":
			c.made += madeNumber
			a, n, at = nil, &number{abstract: &abstract{}}, 0
			c.numbering[attr(e, "numId")] = n
		case "abstractNumId":
			if known := abstracts[value]; n != nil && known != nil {
				n.abstract = known
			}
		case "lvl", "lvlOverride":
			at = level(xml.StartElement{Attr: []xml.Attr{{Name: xml.Name{Local: "val"}, Value: attr(e, "ilvl")}}})
		case "startOverride":
			if n != nil {
				n.again[at] = whole(value)
			}
		}
		if err := c.bounded(); err != nil || a == nil {
			return err
		}
		switch e.Name.Local {
		case "start":
			a.starts[at] = whole(value)
		case "numFmt":
			a.formats[at] = value
		case "lvlText":
			if len(value) <= longestMarker {
				a.texts[at] = value
			}
		case "isLgl":
			a.legal[at] = isOn(e)
		}
		return nil
	})
}

func whole(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return min(max(n, 0), 1<<20)
}

// marker counts a paragraph and returns what stands before it: "3.2", "第三条",
// "-" for a bullet, "" for nothing.
func (c *converter) marker(ref numRef) string {
	n := c.numbering[ref.id]
	if n == nil || ref.id == "0" {
		return ""
	}
	at := ref.level
	n.count(at)
	switch n.formats[at] {
	case "bullet":
		return "-"
	case "none":
		return ""
	}
	text := n.texts[at]
	for i := range levels {
		name := fmt.Sprintf("%%%d", i+1)
		if !strings.Contains(text, name) {
			continue
		}
		kind := n.formats[i]
		if n.legal[at] {
			kind = "decimal"
		}
		text = strings.ReplaceAll(text, name, format(kind, n.value(i)))
	}
	return strings.TrimSpace(text)
}

func (n *number) count(at int) {
	switch {
	case n.again[at] > 0:
		n.counted[at], n.used[at], n.again[at] = n.again[at], true, 0
	case n.used[at]:
		n.counted[at]++
	default:
		n.counted[at], n.used[at] = n.starts[at], true
	}
	for below := at + 1; below < levels; below++ {
		n.used[below] = false
	}
}

// value is the number that a level has now, or would begin with.
func (n *number) value(at int) int {
	if n.used[at] {
		return n.counted[at]
	}
	return n.starts[at]
}

// format writes a number as Word does.
func format(kind string, n int) string {
	switch kind {
	case "lowerLetter":
		return letters(n, 'a')
	case "upperLetter":
		return letters(n, 'A')
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "decimalZero":
		return fmt.Sprintf("%02d", n)
	case "chineseCounting", "chineseCountingThousand", "ideographDigital", "taiwaneseCountingThousand", "japaneseCounting", "taiwaneseCounting":
		return chinese(n)
	case "decimalEnclosedCircle", "decimalEnclosedCircleChinese":
		if n >= 1 && n <= 20 {
			return string(rune('①' + n - 1))
		}
	}
	return strconv.Itoa(n)
}

// letters writes a, b, … z, aa, bb, ….
func letters(n int, first byte) string {
	if n < 1 || n > 780 {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(first+byte((n-1)%26)), (n-1)/26+1)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, s := range []struct {
		value int
		text  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= s.value; n -= s.value {
			b.WriteString(s.text)
		}
	}
	return b.String()
}

// chinese writes 1 to 9999 in Chinese: 十二, 一百零三, 二百一十.
func chinese(n int) string {
	if n < 1 || n > 9999 {
		return strconv.Itoa(n)
	}
	digits := []rune("零一二三四五六七八九")
	units := []string{"", "十", "百", "千"}
	text := strconv.Itoa(n)
	var b strings.Builder
	zero := false
	for i, d := range text {
		unit := units[len(text)-1-i]
		switch {
		case d == '0':
			zero = true
			continue
		case zero && b.Len() > 0:
			b.WriteRune('零')
		}
		zero = false
		if !(d == '1' && unit == "十" && i == 0) {
			b.WriteRune(digits[d-'0'])
		}
		b.WriteString(unit)
	}
	return b.String()
}
