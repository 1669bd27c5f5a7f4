package markdown

import "strings"

// appendTables adds the block, cut at the tables that it holds: without
// goldmark's table extension a table is a paragraph, or its last lines.
func appendTables(out []Block, src string, b Block) []Block {
	if b.Kind != Text {
		return append(out, b)
	}
	header, body, ok := findTable(src, b)
	if !ok {
		return append(out, b)
	}
	if header > b.Start {
		out = append(out, Block{Start: b.Start, End: header})
	}
	return append(out, Block{Start: header, End: b.End, Kind: Table, Body: body})
}

// findTable looks for a header row with a delimiter row below it. header is
// where the header row begins, body the offset behind the delimiter row.
func findTable(src string, b Block) (header, body int, ok bool) {
	before, cells := -1, 0
	for i := b.Start; i < b.End; {
		line, next := cutLine(src, i)
		next = min(next, b.End)
		if before >= 0 && cells > 0 && delimiterCells(line) == cells {
			return before, next, true
		}
		before, cells = i, rowCells(line)
		i = next
	}
	return 0, 0, false
}

// rowCells counts the cells of a row; 0 where the line is indented like code
// or has no pipe.
func rowCells(line string) int {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 || !strings.Contains(trimmed, "|") {
		return 0
	}
	trimmed = strings.TrimPrefix(trimmed, "|")
	if !strings.HasSuffix(trimmed, `\|`) {
		trimmed = strings.TrimSuffix(trimmed, "|")
	}
	return 1 + strings.Count(trimmed, "|") - strings.Count(trimmed, `\|`)
}

// delimiterCells counts the cells of a delimiter row like |---|:-:|; 0 where
// the line is none.
func delimiterCells(line string) int {
	n := rowCells(line)
	if n == 0 || strings.Trim(line, "|-: \t") != "" {
		return 0
	}
	line = strings.TrimSpace(line)
	for cell := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|") {
		cell = strings.TrimSpace(cell)
		cell = strings.TrimSuffix(strings.TrimPrefix(cell, ":"), ":")
		if cell == "" || strings.Trim(cell, "-") != "" {
			return 0
		}
	}
	return n
}
