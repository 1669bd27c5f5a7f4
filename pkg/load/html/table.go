package html

import (
	"strconv"
	"strings"
)

// table gathers the rows of a data table. A table with a heading, code or
// another table in a cell, or with long texts, only arranges things on the
// page: it is spread, and its cells are blocks.
type table struct {
	rows   [][]string
	row    []string
	inCell bool
	spread bool
	wide   int          // columns that the cell takes
	tall   int          // rows that it takes
	down   map[int]fill // by column, what cells of rows before reach into this one
	filled int          // bytes that were repeated, or made for wide cells
}

// fill is a cell that goes on in the next rows.
type fill struct {
	rows int
	text string
}

const (
	longestCell = 2000    // in bytes; a longer one spreads the table
	longestFill = 200     // in bytes; a longer text is not repeated in the next rows
	mostFill    = 4 << 20 // bytes that are repeated in one table
	mostWide    = 20      // columns that one cell may take
)

// table is the innermost open table that is not spread.
func (c *converter) table() *table {
	if n := len(c.tables); n > 0 && !c.tables[n-1].spread {
		return c.tables[n-1]
	}
	return nil
}

func (c *converter) beginCell(attr attributes) {
	t := c.table()
	if t == nil {
		c.flush()
		return
	}
	c.flush() // what stands between the cells
	t.inCell = true
	t.wide, t.tall = span(attr["colspan"]), span(attr["rowspan"])
	t.pad()
}

func span(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// pad takes over the cells from above that stand at the end of the row so far.
func (t *table) pad() {
	for {
		f, ok := t.down[len(t.row)]
		if !ok {
			return
		}
		if t.filled += len(f.text) + 4; t.filled > mostFill {
			t.down = nil
			return
		}
		if f.rows--; f.rows > 0 {
			t.down[len(t.row)] = f
		} else {
			delete(t.down, len(t.row))
		}
		t.row = append(t.row, f.text)
	}
}

func (c *converter) endCell() {
	t := c.table()
	if t == nil {
		c.flush()
		return
	}
	if !t.inCell {
		return
	}
	t.inCell = false
	text := c.text.take()
	long := len(text) > longestCell
	for i := range min(t.wide, mostWide) {
		if i > 0 {
			if t.filled += 4; t.filled > mostFill {
				break
			}
		}
		if t.tall > 1 {
			t.reachDown(text)
		}
		t.row = append(t.row, text)
		text = ""
	}
	if long {
		c.spreadTables()
	}
}

func (t *table) reachDown(text string) {
	if t.down == nil {
		t.down = map[int]fill{}
	}
	if len(text) > longestFill {
		text = ""
	}
	t.down[len(t.row)] = fill{t.tall - 1, text}
}

func (c *converter) endRow() {
	c.endCell()
	t := c.table()
	if t == nil || len(t.row) == 0 {
		return
	}
	t.pad()
	if strings.Join(t.row, "") != "" {
		t.rows = append(t.rows, t.row)
	}
	t.row = nil
}

func (c *converter) endTable() {
	if len(c.tables) == 0 {
		return
	}
	c.endRow()
	c.flush()
	if t := c.table(); t != nil {
		c.w.Table(t.rows)
	}
	c.tables = c.tables[:len(c.tables)-1]
}

// spreadTables writes what the open tables hold so far as blocks.
func (c *converter) spreadTables() {
	// Only the innermost table can be whole: it spread the others.
	if t := c.table(); t != nil {
		t.spread = true
		for _, row := range append(t.rows, t.row) {
			for _, cell := range row {
				c.w.Text(cell)
			}
		}
		t.rows, t.row, t.down = nil, nil, nil
	}
	c.flush()
}
