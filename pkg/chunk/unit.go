package chunk

import (
	"iter"
	"unicode/utf8"

	"kb/pkg/markdown"
)

// unit is a piece of a region that is not cut further.
type unit struct {
	start, end int
	runes      int
	whole      bool            // the overlap takes all of it or nothing
	table      *markdown.Block // that it is a row of
}

// units tile the region. None is longer than limit allows.
func (s *splitter) units(r *region) iter.Seq[unit] {
	return func(yield func(unit) bool) {
		switch {
		case s.opt.Strategy == Fixed:
			s.characters(r.start, r.end, nil, yield)
		case s.opt.Strategy == Recursive:
			s.recurse(r.start, r.end, s.opt.Size, nil, recursiveLevels(), yield)
		case r.blocks == nil && r.page == 0:
			s.recurse(r.start, r.end, s.opt.Size, nil, textLevels(), yield)
		case r.blocks == nil:
			s.recurse(r.start, r.end, s.opt.Size, nil, sentenceLevels(), yield)
		default:
			for i := range r.blocks {
				if !s.block(&r.blocks[i], yield) {
					return
				}
			}
		}
	}
}

// block yields the units of a Markdown block: code and tables whole where they
// fit.
func (s *splitter) block(b *markdown.Block, yield func(unit) bool) bool {
	switch b.Kind {
	case markdown.Code:
		if n := s.count(b.Start, b.End); n <= s.opt.Size {
			return yield(unit{start: b.Start, end: b.End, runes: n, whole: true})
		}
		return s.recurse(b.Start, b.End, s.opt.Size, nil, lineLevels(), yield)
	case markdown.Table:
		if n := s.count(b.Start, b.End); n <= s.opt.Size {
			return yield(unit{start: b.Start, end: b.End, runes: n, whole: true})
		}
		return s.table(b, yield)
	}
	return s.recurse(b.Start, b.End, s.opt.Size, nil, sentenceLevels(), yield)
}

// table yields the header rows, in one where they can be repeated, then the
// other rows.
func (s *splitter) table(b *markdown.Block, yield func(unit) bool) bool {
	header := utf8.RuneCountInString(s.header(b))
	if header > 0 {
		if !yield(unit{start: b.Start, end: b.Body, runes: header, whole: true}) {
			return false
		}
	} else if !s.recurse(b.Start, b.Body, s.opt.Size, nil, lineLevels(), yield) {
		return false
	}
	return s.recurse(b.Body, b.End, s.opt.Size-header, b, lineLevels(), yield)
}

// header is the rows that are repeated where the table is cut: none where
// they would take more than half of each chunk.
func (s *splitter) header(b *markdown.Block) string {
	if b == nil {
		return ""
	}
	rows := s.text[b.Start:b.Body]
	if 2*utf8.RuneCountInString(rows) > s.opt.Size {
		return ""
	}
	return rows
}
