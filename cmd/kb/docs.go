package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"kb/pkg/answer"
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
			w := jsonl.NewWriter(e.stdout)
			for d, err := range r.Documents(cmd.Context()) {
				if err != nil {
					return err
				}
				if out.human(e) {
					fmt.Fprintf(e.stdout, "%s  %s  %s\n", answer.Plain(d.Path), count(d.Chunks, "chunk"), answer.Plain(d.Title))
					continue
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

// listed is a document without its text. Its kind is not "document", so that it
// does not pass for one that lost its text.
type listed struct{ store.Document }

func (*listed) Kind() string { return "listed" }
