package main

import (
	"iter"

	"github.com/spf13/cobra"

	"kb/pkg/chunk"
	"kb/pkg/record"
)

const chunkLong = `chunk cuts documents into passages. Markdown is cut by its headings, then by
sentences up to the size; PDF by page, then by sentences. Sizes are in
characters. Every character of a document is in some chunk.

Reads:   {"kind":"document","path":…,"title":…,"hash":…,"text":…,"pages":[…]}
Writes:  {"kind":"chunk","id":…,"document":…,"path":…,"title":…,"hash":…,"seq":1,"of":9,"headings":[…],"page":…,"line":…,"start":0,"end":480,"text":…}`

// chunkFlags are the flags of the commands that cut documents.
type chunkFlags struct{ chunk.Options }

func (f *chunkFlags) register(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.Size, "size", 500, "greatest length of a chunk, in characters")
	cmd.Flags().IntVar(&f.Overlap, "overlap", 80, "characters that a chunk repeats from the end of the one before")
	cmd.Flags().StringVar(&f.Strategy, "strategy", "markdown", "markdown, recursive or fixed")
}

func (f *chunkFlags) options() (chunk.Options, error) {
	opt := f.Options
	if err := opt.Validate(); err != nil {
		return opt, &usageError{err}
	}
	return opt, nil
}

func newChunk(e *env) *cobra.Command {
	var f chunkFlags
	cmd := &cobra.Command{
		Use:         "chunk [FILE…]",
		Short:       "documents → chunks",
		Long:        chunkLong,
		Example:     "  kb load notes | kb chunk --size 300 --overlap 0 | jq -r '.headings | join(\" › \")'",
		Annotations: about(),
		RunE: func(cmd *cobra.Command, files []string) error {
			opt, err := f.options()
			if err != nil {
				return err
			}
			stage := func(in iter.Seq2[record.Record, error]) iter.Seq2[record.Record, error] {
				return chunk.Run(in, opt)
			}
			return withTightHeap(func() error { return e.filter(files, stage, record.KindDocument) })
		},
	}
	f.register(cmd)
	return cmd
}
