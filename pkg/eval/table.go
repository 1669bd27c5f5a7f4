package eval

import (
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// WriteTable writes reports over all questions as a Markdown table, a mode a
// row.
func WriteTable(w io.Writer, reports []*Report) error {
	return writeReports(w, "mode", func(r *Report) string { return r.Mode }, reports)
}

// WriteTags writes the reports of one mode as a Markdown table, a tag a row.
func WriteTags(w io.Writer, reports []*Report) error {
	return writeReports(w, "tag", func(r *Report) string { return r.Tag }, reports)
}

func writeReports(w io.Writer, what string, name func(*Report) string, reports []*Report) error {
	if len(reports) == 0 {
		return nil
	}
	graded := false
	for _, r := range reports {
		graded = graded || r.NDCG != nil
	}
	head := []string{what, "questions", "Hit@1", fmt.Sprintf("Hit@%d", reports[0].K), "MRR"}
	if graded {
		head = append(head, "nDCG@10")
	}
	rows := [][]string{append(head, "refusal P / R", "false refusals", "p50", "p95")}
	for _, r := range reports {
		row := []string{cell(name(r)), fmt.Sprint(r.Questions), figure(r.Hit1, 3), figure(r.Hit, 3), figure(r.MRR, 3)}
		if graded {
			row = append(row, figure(r.NDCG, 3))
		}
		rows = append(rows, append(row, figure(r.Precision, 2)+" / "+figure(r.Recall, 2),
			percent(r.FalseRefusals), milliseconds(r.P50), milliseconds(r.P95)))
	}
	return writeRows(w, rows)
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
