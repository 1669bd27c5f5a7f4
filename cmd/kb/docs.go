package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kb/pkg/jsonl"
	"kb/pkg/store"
)

const docsLong = `docs lists the documents of the index by path.

Writes:  {"kind":"listed","path":…,"id":…,"hash":…,"title":…,"meta":…,"chunks":9,"vectors":9}`

func newDocs(e *env, s *settings) *cobra.Command {
	var out outputFlags
	cmd := &cobra.Command{
		Use:         "docs",
		Short:       "the documents of the index",
		Long:        docsLong,
		Args:        args(cobra.NoArgs),
		Annotations: about(exitMismatch, exitDamaged),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, r, err := s.openIndex(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			if out.human(e) {
				return printDocs(cmd.Context(), e, r)
			}
			w := jsonl.NewWriter(e.stdout)
			for d, err := range r.Documents(cmd.Context()) {
				if err != nil {
					return err
				}
				if err := w.Write(&listed{d}); err != nil {
					return err
				}
			}
			return w.Flush()
		},
	}
	out.register(cmd)
	indexFlag(cmd, s)
	return cmd
}

// printDocs shows path, number of chunks, title and tags in columns.
func printDocs(ctx context.Context, e *env, r store.Reader) error {
	var docs []store.Document
	width := 0
	for d, err := range r.Documents(ctx) {
		if err != nil {
			return err
		}
		docs = append(docs, d)
		width = max(width, columns(plainLine(d.Path)))
	}
	st := e.style()
	for _, d := range docs {
		path := plainLine(d.Path)
		line := fmt.Sprintf("%s%s  %10s  %s", path, strings.Repeat(" ", width-columns(path)), count(d.Chunks, "chunk"), plainLine(d.Title))
		for _, tag := range store.Tags(d.Meta) {
			line += st.dim("  #" + plainLine(tag))
		}
		fmt.Fprintln(e.stdout, line)
	}
	return nil
}

// listed is a document without its text. Its kind is not "document", so that it
// does not pass for one that lost its text.
type listed struct{ store.Document }

func (*listed) Kind() string { return "listed" }
