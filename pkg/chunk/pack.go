package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"kb/pkg/text"
)

type splitter struct {
	text string
	opt  Options
	cuts []cut
}

// count is the number of code points between two offsets.
func (s *splitter) count(start, end int) int { return utf8.RuneCountInString(s.text[start:end]) }

// region packs the units of a region into chunks.
func (s *splitter) region(r region) {
	p := &packer{splitter: s, region: &r}
	for u := range s.units(&r) {
		p.add(u)
	}
	p.emit()
}

// packer holds the units of the chunk that is being filled.
type packer struct {
	*splitter
	region *region
	units  []unit
	runes  int // of the units
}

func (p *packer) add(u unit) {
	if len(p.units) > 0 && p.headerRunes()+p.runes+p.visible(u) > p.opt.Size {
		p.emit()
		p.keepTail(u)
	}
	p.units = append(p.units, u)
	p.runes += u.runes
}

// visible is the length of a unit without white space at its end, which would
// be the end of the chunk.
func (p *packer) visible(u unit) int {
	body := p.text[u.start:u.end]
	return u.runes - utf8.RuneCountInString(body[len(trimRight(body)):])
}

// headerRunes is the length of the header rows that the chunk will repeat.
func (p *packer) headerRunes() int {
	if len(p.units) == 0 || p.units[0].table == nil {
		return 0
	}
	return utf8.RuneCountInString(p.header(p.units[0].table))
}

// emit makes a chunk of the units, unless they are blank.
func (p *packer) emit() {
	if len(p.units) == 0 {
		return
	}
	start, end := p.trim(p.units[0].start, p.units[len(p.units)-1].end)
	if start == end {
		return
	}
	c := cut{start: start, end: end, region: p.region}
	if t := p.units[0].table; t != nil {
		c.header = p.header(t)
	}
	p.cuts = append(p.cuts, c)
}

// trim leaves out white space at the edges, but not the indentation of the
// first line.
func (p *packer) trim(start, end int) (int, int) {
	body := trimRight(p.text[start:end])
	end = start + len(body)
	lead := len(body) - len(strings.TrimLeftFunc(body, blank))
	if i := strings.LastIndexByte(body[:lead], '\n'); i >= 0 {
		return start + i + 1, end
	}
	if lead > 0 && start > p.region.start && p.text[start-1] != '\n' {
		return max(start, text.LastBoundary(p.text, start+lead)), end
	}
	return start, end
}

// blank takes NUL for white space, as it is left out.
func blank(r rune) bool { return unicode.IsSpace(r) || r == 0 }

func trimRight(s string) string { return strings.TrimRightFunc(s, blank) }

// keepTail reduces the units to the end of the chunk, which the next chunk
// repeats: the most whole units that the overlap and the next unit allow. Where
// these are less than a quarter of that, it begins inside the unit before.
func (p *packer) keepTail(next unit) {
	units := p.units
	last := units[len(units)-1]
	room := p.opt.Size - p.visible(next)
	if last.table != nil {
		room -= utf8.RuneCountInString(p.header(last.table))
	}
	room = min(room, p.opt.Overlap+last.runes-p.visible(last))
	p.units, p.runes = nil, 0
	if p.opt.Overlap == 0 || room <= 0 {
		return
	}
	i, kept := len(units), 0
	for i > 0 && kept+units[i-1].runes <= room {
		i--
		kept += units[i].runes
	}
	if i > 0 && kept*4 < room && !units[i-1].whole {
		if part, ok := p.endOf(units[i-1], room-kept); ok {
			p.units, p.runes = append(p.units, part), part.runes
		}
	}
	p.units = append(p.units, units[i:]...)
	p.runes += kept
}

// endOf is the last part of a unit, of room code points at most. It begins with
// the first sentence, else with the first word, that leaves at least half of
// that, else with any character.
func (p *packer) endOf(u unit, room int) (unit, bool) {
	start := u.end
	for n := 0; n < room && start > u.start; n++ {
		_, size := utf8.DecodeLastRuneInString(p.text[u.start:start])
		start -= size
	}
	for start < u.end && !text.GraphemeBoundary(p.text, start) {
		_, size := utf8.DecodeRuneInString(p.text[start:])
		start += size
	}
	start += firstBreak(p.text[start:u.end])
	if strings.TrimFunc(p.text[start:u.end], blank) == "" {
		return unit{}, false
	}
	return unit{start: start, end: u.end, runes: p.count(start, u.end), table: u.table}, true
}

// firstBreak is the offset of the first sentence or word in the first half of
// s, 0 if there is none.
func firstBreak(s string) int {
	for _, level := range []level{text.Sentences, behind(" ")} {
		for _, end := range level(s) {
			if 2*end > len(s) {
				break
			}
			if cuttable(s, end) {
				return end
			}
		}
	}
	return 0
}
