package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"kb/pkg/answer"
	"kb/pkg/jsonl"
	"kb/pkg/record"
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
			st, err := s.openStore()
			if err != nil {
				return err
			}
			r, err := st.Open(cmd.Context())
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
				if err := writeDocument(w, d); err != nil {
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

// kindListed is not the kind "document": what is listed has no text, and must
// not pass for a document that lost it.
const kindListed = "listed"

func writeDocument(w *jsonl.Writer, d store.Document) error {
	line, err := json.Marshal(struct {
		Kind string `json:"kind"`
		store.Document
	}{kindListed, d})
	if err != nil {
		return err
	}
	return w.Write(&record.Raw{RecordKind: kindListed, Line: line})
}
