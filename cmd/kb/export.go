package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kb/pkg/index"
	"kb/pkg/jsonl"
	"kb/pkg/record"
	"kb/pkg/store"
)

const exportLong = `export writes out all that the index holds, so that "kb index" can bring it into
another store, vectors included: no model is asked again.

  kb export | kb index --index postgres://host/db

Into an index that has some of it already it brings what is missing: a copy that
broke off goes on when both are run again. "kb index" says at the end how much
came of what was exported, and whether the content of both is the same. Analyzer
and calibration come along where the other index has none of its own.

Writes:  {"kind":"export","index":…,"version":…,"documents":9,"chunks":9,"vectors":9,"analyzer":…,"calibration":…}
         {"kind":"chunk",…,"vector":…,"model":…}   as embed does, by path
         {"kind":"skipped",…}, {"kind":"root",…}`

func newExport(e *env, s *settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:         "export",
		Short:       "the index → chunks + vectors",
		Long:        exportLong,
		Example:     "  kb export | kb index --index copy.jsonl.zst\n  kb export --index postgres://host/db | jq -r .text",
		Args:        args(cobra.NoArgs),
		Annotations: about(exitMismatch, exitDamaged),
		RunE: func(cmd *cobra.Command, _ []string) error {
			name, r, err := s.openIndex(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			c := e.console("kb export")
			defer c.close()
			return export(cmd.Context(), e.stdout, c, name, r)
		},
	}
	indexFlag(cmd, s)
	return cmd
}

func export(ctx context.Context, out io.Writer, c *console, name string, r store.Reader) error {
	info := r.Info()
	head := &record.Export{Index: name, Version: info.Version, Documents: info.Documents, Chunks: info.Chunks, Vectors: info.Vectors, Analyzer: info.Analyzer}
	if info.Calibration != nil {
		calibration, err := json.Marshal(info.Calibration)
		if err != nil {
			return err
		}
		head.Calibration = calibration
	}
	w := jsonl.NewWriter(out)
	if err := w.Write(head); err != nil {
		return err
	}
	n := 0
	for chunk, err := range r.Chunks(ctx, "", true) {
		if err != nil {
			return err
		}
		if err := w.Write(chunk); err != nil {
			return err
		}
		if n++; n%100 == 0 {
			c.status(fmt.Sprintf("%d of %s", n, count(info.Chunks, "chunk")))
		}
	}
	for s, err := range r.Skipped(ctx) {
		if err != nil {
			return err
		}
		if err := w.Write(&s); err != nil {
			return err
		}
	}
	for root, err := range r.Roots(ctx) {
		if err != nil {
			return err
		}
		if err := w.Write(&root); err != nil {
			return err
		}
	}
	return w.Flush()
}

// reportExport says how much came of what another index was to bring; less
// than all makes the run a partial one.
func reportExport(c *console, name string, r index.Result) error {
	x := r.Export
	if x == nil {
		return nil
	}
	counts := func(n index.Content) string {
		return fmt.Sprintf("%s, %s, %s", count(n.Documents, "document"), count(n.Chunks, "chunk"), count(n.Vectors, "vector"))
	}
	want := index.Content{Documents: x.Documents, Chunks: x.Chunks, Vectors: x.Vectors}
	if r.Came != want {
		return withHint(&codeError{exitPartial, fmt.Errorf("%s came of %s that %s has", counts(r.Came), counts(want), x.Index)},
			"run both commands again: what came is kept")
	}
	same := "which has other documents or settings besides"
	if x.Version == r.Info.Version {
		same = "whose content is the same now, version " + x.Version
	}
	c.warn(fmt.Sprintf("%s came from %s to %s, %s", counts(want), x.Index, name, same))
	return nil
}
