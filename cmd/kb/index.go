package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"kb/pkg/index"
	"kb/pkg/jsonl"
	"kb/pkg/record"
)

const indexLong = `index brings the index in step with a stream of chunks. An unchanged document
is left alone, a changed one is replaced when all of its chunks have come, and
a document that is gone from a folder is removed when the folder's "root"
record came: a pipe that was cut removes nothing. The file is replaced as a
whole or not at all.

Reads:   {"kind":"chunk",…,"vector":…}, {"kind":"skipped",…}, {"kind":"root",…}, {"kind":"export",…}
Writes:  {"kind":"indexed","path":…,"status":"created|updated|unchanged|removed|incomplete|kept","chunks":9,"embedded":9,"reused":0}`

func newIndex(e *env, s *settings) *cobra.Command {
	var (
		out                outputFlags
		allowEmpty, noWait bool
		verify, repair     bool
	)
	cmd := &cobra.Command{
		Use:         "index [FILE…]",
		Short:       "chunks + vectors → index",
		Long:        indexLong,
		Example:     "  kb load notes | kb chunk | kb embed | kb index\n  kb index --verify",
		Annotations: about(exitMismatch, exitDamaged, exitPartial),
		RunE: func(cmd *cobra.Command, files []string) error {
			st, err := s.openStore()
			if err != nil {
				return err
			}
			if verify || repair {
				if len(files) > 0 {
					return usagef("--verify and --repair take no files: --index names the index")
				}
				return checkIndex(cmd.Context(), e, st, repair, !noWait)
			}
			analyzer, err := s.analyzer()
			if err != nil {
				return err
			}
			in, done, err := e.inputs(files)
			defer done()
			if err != nil {
				return err
			}
			c := e.console("kb index")
			began := e.now()
			at := new(jsonl.Place)
			var reports []record.Record
			var result index.Result
			err = withTightHeap(func() error {
				chunks := jsonl.RecordsAt(in, at, record.KindDocument, record.KindChunk, record.KindSkipped, record.KindRoot, record.KindExport)
				reports, result, err = index.Run(cmd.Context(), chunks,
					index.Options{Store: st, Analyzer: analyzer, AllowEmpty: allowEmpty, NoWait: noWait, Warn: c.warn})
				return err
			})
			if bad := new(index.RecordError); errors.As(err, &bad) {
				err = at.Wrap(err)
			}
			if err != nil {
				return err
			}
			if err := reportIndexed(e, c, out, st.Name(), reports, result, e.now().Sub(began)); err != nil {
				return err
			}
			if err := reportExport(c, st.Name(), result); err != nil {
				return err
			}
			return partial(result.Incomplete + result.Failed)
		},
	}
	out.register(cmd)
	indexFlag(cmd, s)
	analyzerFlag(cmd, s)
	cmd.Flags().BoolVar(&allowEmpty, "allow-empty", false, "let an empty folder remove all of its documents")
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "fail when another process is writing, instead of waiting")
	cmd.Flags().BoolVar(&verify, "verify", false, "read the whole index and report any damage")
	cmd.Flags().BoolVar(&repair, "repair", false, "save what is whole of a damaged index in a file")
	cmd.MarkFlagsMutuallyExclusive("verify", "repair")
	return cmd
}

// reportIndexed writes what became of the documents: records into a pipe, a
// summary for a person.
func reportIndexed(e *env, c *console, out outputFlags, name string, reports []record.Record, r index.Result, took time.Duration) error {
	warnIncomplete(c, reports)
	if out.human(e) {
		printSummary(e.stdout, e.style(), name, r, took)
		return nil
	}
	return writeRecords(e, reports)
}

// warnIncomplete names the documents that are not indexed as they are now.
func warnIncomplete(c *console, reports []record.Record) {
	for _, rec := range reports {
		if i, ok := rec.(*record.Indexed); ok && (i.Status == record.StatusIncomplete || i.Status == record.StatusKept) {
			c.warn(fmt.Sprintf("%s: %s: %s", i.Path, i.Status, i.Reason))
		}
	}
}

func writeRecords(e *env, records []record.Record) error {
	w := jsonl.NewWriter(e.stdout)
	for _, r := range records {
		if err := w.Write(r); err != nil {
			return err
		}
	}
	return w.Flush()
}

func printSummary(w io.Writer, s style, name string, r index.Result, took time.Duration) {
	line := fmt.Sprintf("%s, %s:", count(r.Info.Documents, "document"), count(r.Info.Chunks, "chunk"))
	n := 0
	for _, part := range []struct {
		n    int
		what string
	}{{r.Created, "created"}, {r.Updated, "updated"}, {r.Removed, "removed"}, {r.Unchanged, "unchanged"},
		{r.Kept, "kept"}, {r.Incomplete, "incomplete"}, {r.Skipped, "skipped"}} {
		if part.n == 0 {
			continue
		}
		if n > 0 {
			line += ","
		}
		line += fmt.Sprintf(" %d %s", part.n, part.what)
		n++
	}
	if n == 0 {
		line += " nothing to do"
	}
	fmt.Fprintln(w, s.beside(line, s.bold, seconds(took)))
	fmt.Fprintf(w, "%s  %s  %s\n", name, size(r.Info.Size), describeModel(r.Info.Settings))
	if r.Skipped > 0 {
		fmt.Fprintln(w, s.dim(`"kb status" lists what was skipped, .kbignore leaves it out`))
	}
}
