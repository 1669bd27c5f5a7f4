package eval

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// WriteTable writes reports over all questions as a Markdown table, a mode a
// row, with the time that a question took. How many questions there are is the
// same for all, and not in it. Without reports it writes nothing.
func WriteTable(w io.Writer, reports []*Report) error {
	if len(reports) == 0 {
		return nil
	}
	rows := quality(reports)
	for i, r := range reports {
		rows[i+1] = append(append([]string{cell(r.Mode)}, rows[i+1]...), milliseconds(r.P50), milliseconds(r.P95))
	}
	rows[0] = append(append([]string{"mode"}, rows[0]...), "p50", "p95")
	return writeRows(w, rows)
}

// WriteTags writes the reports of one mode as a Markdown table, a tag a row.
// Without reports it writes nothing.
func WriteTags(w io.Writer, reports []*Report) error {
	if len(reports) == 0 {
		return nil
	}
	rows := quality(reports)
	for i, r := range reports {
		rows[i+1] = append([]string{cell(r.Tag), fmt.Sprint(r.Questions)}, rows[i+1]...)
	}
	rows[0] = append([]string{"tag", "questions"}, rows[0]...)
	return writeRows(w, rows)
}

// quality is a row of names, and one of figures for each of the reports, of
// which there is one at least.
func quality(reports []*Report) [][]string {
	rows := [][]string{{"Hit@1", fmt.Sprintf("Hit@%d", reports[0].K), "MRR"}}
	graded := slices.ContainsFunc(reports, func(r *Report) bool { return r.NDCG != nil })
	if graded {
		rows[0] = append(rows[0], "nDCG@10")
	}
	rows[0] = append(rows[0], "refusal P/R", "false refusals")
	for _, r := range reports {
		row := []string{figure(r.Hit1, 3), figure(r.Hit, 3), figure(r.MRR, 3)}
		if graded {
			row = append(row, figure(r.NDCG, 3))
		}
		rows = append(rows, append(row, figure(r.Precision, 2)+" / "+figure(r.Recall, 2), percent(r.FalseRefusals)))
	}
	return rows
}

// writeRows writes a Markdown table whose source is aligned, too.
func writeRows(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(c), 3)
		}
	}
	var b strings.Builder
	for n, row := range rows {
		for i, c := range row {
			b.WriteString("| " + c + strings.Repeat(" ", widths[i]-uniseg.StringWidth(c)+1))
		}
		b.WriteString("|\n")
		if n > 0 {
			continue
		}
		for _, width := range widths {
			b.WriteString("| " + strings.Repeat("-", width) + " ")
		}
		b.WriteString("|\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell is text that does not end its cell.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

func figure(x *float64, digits int) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.*f", digits, *x)
}

func percent(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100**x)
}

func milliseconds(ms float64) string {
	if ms < 10 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
