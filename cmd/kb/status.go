package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"kb/pkg/jsonl"
	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/search"
	"kb/pkg/store"
)

const statusLong = `status shows what the index holds, what it was built with, which files were
skipped and why, which encodings were guessed and from how many bytes, which
documents were converted from what, and what others lost: pages of a PDF without
text, bytes that could not be decoded, front matter that could not be read.

Writes:  {"kind":"status",…,"guessed":[{"path":…,"encoding":…,"from_bytes":…}],"converted":[{"path":…,"from":…}],"lost":[{"path":…,"notes":[…]}]}
         {"kind":"root",…}
         {"kind":"skipped","path":…,"root":…,"reason":…}`

// describeModel names the embedder of an index for people.
func describeModel(s store.Settings) string {
	if s.Model == "" {
		return "no vectors (BM25 only)"
	}
	return fmt.Sprintf("model %s, %d dimensions", model.Describe(s.Model, s.BaseURL), s.Dim)
}

// describeFloor says below which confidence a question is refused, for people.
func describeFloor(c *store.Calibration) string {
	switch {
	case c == nil:
		return fmt.Sprintf("refusal floor %g, not calibrated (kb eval FILE --calibrate)", search.DefaultFloor)
	case c.Confidence != search.Confidence:
		return fmt.Sprintf("refusal floor %g: the calibration is of another version (kb eval FILE --calibrate)", search.DefaultFloor)
	}
	return fmt.Sprintf("refusal floor %g, calibrated on %s: precision %.2f, recall %.2f, false refusals %.1f %%",
		c.Floor, count(c.Questions, "question"), c.Precision, c.Recall, 100*c.FalseRatio)
}

func newStatus(e *env, s *settings) *cobra.Command {
	var out outputFlags
	cmd := &cobra.Command{
		Use:         "status",
		Short:       "what is indexed, and skipped",
		Long:        statusLong,
		Args:        args(cobra.NoArgs),
		Annotations: about(exitMismatch, exitDamaged),
		RunE: func(cmd *cobra.Command, _ []string) error {
			name, r, err := s.openIndex(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			report, err := readStatus(cmd.Context(), name, r)
			if err != nil {
				return err
			}
			if out.human(e) {
				report.print(e)
				return nil
			}
			return report.write(e)
		},
	}
	out.register(cmd)
	indexFlag(cmd, s)
	return cmd
}

// statusReport is what kb status shows.
type statusReport struct {
	name    string
	info    store.Info
	roots   []record.Root
	skipped []record.Skipped
	ledger  ledger
}

func readStatus(ctx context.Context, name string, r store.Reader) (*statusReport, error) {
	report := &statusReport{name: name, info: r.Info()}
	for root, err := range r.Roots(ctx) {
		if err != nil {
			return nil, err
		}
		report.roots = append(report.roots, root)
	}
	for s, err := range r.Skipped(ctx) {
		if err != nil {
			return nil, err
		}
		report.skipped = append(report.skipped, s)
	}
	for d, err := range r.Documents(ctx) {
		if err != nil {
			return nil, err
		}
		report.ledger.add(d)
	}
	return report, nil
}

func (r *statusReport) print(e *env) {
	i := r.info
	fmt.Fprintf(e.stdout, "%s  %s  format %d, version %s\n", r.name, size(i.Size), i.Format, i.Version)
	fmt.Fprintf(e.stdout, "%s, %s, %s\n", count(i.Documents, "document"), count(i.Chunks, "chunk"), count(i.Vectors, "vector"))
	fmt.Fprintf(e.stdout, "%s, analyzer %s\n", describeModel(i.Settings), i.Analyzer)
	fmt.Fprintln(e.stdout, describeFloor(i.Calibration))
	for _, root := range r.roots {
		fmt.Fprintf(e.stdout, "root %s: %s, %d skipped\n", root.Path, count(root.Documents, "document"), root.Skipped)
	}
	if n := i.Chunks - i.Vectors; n > 0 && i.Vectors > 0 {
		fmt.Fprintf(e.stdout, "%s without a vector: found by BM25 only\n", count(n, "chunk"))
	}
	if len(r.skipped) > 0 {
		fmt.Fprintf(e.stdout, "\nskipped (tried again in the next build):\n")
		for _, s := range r.skipped {
			fmt.Fprintf(e.stdout, "  %s\n", e.style().indented(plainLine(s.Path)+": "+plainLine(s.Reason), 4))
		}
	}
	r.ledger.print(e)
}

// statusRecord is the first line of kb status in a pipe.
type statusRecord struct {
	Index     string `json:"index"`
	Format    int    `json:"format"`
	Version   string `json:"version"`
	Documents int    `json:"documents"`
	Chunks    int    `json:"chunks"`
	Vectors   int    `json:"vectors"`
	Bytes     int64  `json:"bytes"`
	store.Settings
	ledger
}

func (*statusRecord) Kind() string { return "status" }

func (r *statusReport) write(e *env) error {
	i := r.info
	w := jsonl.NewWriter(e.stdout)
	if err := w.Write(&statusRecord{r.name, i.Format, i.Version, i.Documents, i.Chunks, i.Vectors, i.Size, i.Settings, r.ledger.shape()}); err != nil {
		return err
	}
	for i := range r.roots {
		if err := w.Write(&r.roots[i]); err != nil {
			return err
		}
	}
	for i := range r.skipped {
		if err := w.Write(&r.skipped[i]); err != nil {
			return err
		}
	}
	return w.Flush()
}
