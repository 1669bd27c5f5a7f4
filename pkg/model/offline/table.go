package offline

import "strings"

func isRow(line string) bool { return strings.HasPrefix(line, "|") }

// isTableRule says whether a line parts the head of a table from its rows.
func isTableRule(line string) bool {
	return isRow(line) && strings.Trim(line, "|-: \t") == ""
}

// cells are the cells of a row, without emphasis; some may be empty.
func cells(row string) []string {
	row = strings.TrimPrefix(strings.TrimSpace(row), "|")
	out := strings.Split(strings.TrimSuffix(row, "|"), "|")
	for i, cell := range out {
		out[i] = strings.TrimSpace(strings.ReplaceAll(cell, "**", ""))
	}
	return out
}

// joinCells keeps the cells of a row apart: "一线城市 | 500 元". With all of
// them, one that is empty stays in its place.
func joinCells(cells []string, all bool) string {
	var out []string
	for _, cell := range cells {
		switch {
		case cell != "":
			out = append(out, cell)
		case all:
			out = append(out, "–")
		}
	}
	return strings.Join(out, " | ")
}
