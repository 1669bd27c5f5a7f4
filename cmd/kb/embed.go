package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kb/pkg/embed"
	"kb/pkg/jsonl"
	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/store"
)

const embedLong = `embed adds a vector to each chunk: of its title, headings and text together.
Without KB_EMBED_BASE_URL the offline embedder serves; it is lexical. Vectors
of equal text are taken from the existing index and cost no request.

Reads:   {"kind":"chunk","path":…,"title":…,"headings":[…],"text":…}   (and query records)
Writes:  the same with "vector" (base64 of little-endian float32), "model", "base_url", "dim"`

func newEmbed(e *env, s *settings) *cobra.Command {
	var (
		concurrency int
		reuse       bool
	)
	cmd := &cobra.Command{
		Use:         "embed [FILE…]",
		Short:       "chunks → chunks + vectors",
		Long:        embedLong,
		Example:     "  kb load notes | kb chunk | kb embed > vectors.jsonl",
		Annotations: about(exitPartial),
		RunE: func(cmd *cobra.Command, files []string) error {
			c := e.console("kb embed")
			defer c.close()
			ctx := cmd.Context()
			if concurrency < 1 {
				return usagef("--concurrency %d: must be at least 1", concurrency)
			}
			opt, err := s.embedOptions(c)
			if err != nil {
				return err
			}
			if reuse {
				st, err := s.openStore()
				if err != nil {
					return err
				}
				opt.Reuse = reuseOf(st, opt)
			}
			if opt.Embedder.Info().BaseURL == "" {
				c.warn(offlineNote)
			}
			opt.Concurrency = concurrency
			in, done, err := e.inputs(files)
			defer done()
			if err != nil {
				return err
			}
			stats := &embed.Stats{}
			opt.Stats = stats
			defer c.waiting(s.endpoints("EMBED"))()
			out := embed.Run(ctx, jsonl.Records(in, record.KindChunk, record.KindQuery), opt)
			err = withHeadroom(func() error { return jsonl.NewWriter(e.stdout).WriteAll(out) })
			if err != nil {
				return err
			}
			return partial(stats.Failed)
		},
	}
	embedFlags(cmd, s)
	indexFlag(cmd, s)
	bind(cmd, s, "batch", "KB_EMBED_BATCH", "texts a request (default: what the provider allows)")
	cmd.Flags().IntVar(&concurrency, "concurrency", 2, "requests at a time")
	cmd.Flags().BoolVar(&reuse, "reuse", true, "take vectors of equal text from the existing index")
	return cmd
}

const offlineNote = "no embedding endpoint configured, using the offline embedder (lexical; see kb config)"

// embedOptions opens the embedder.
func (s *settings) embedOptions(c *console) (embed.Options, error) {
	e, err := s.embedder(c.warn)
	return embed.Options{Embedder: e, Warn: c.warn, Progress: embedProgress(c)}, err
}

// reuseOf takes vectors from the index as it is when the first is wanted.
func reuseOf(st store.Store, opt embed.Options) embed.Reuse {
	return &lazyReuse{store: st, info: opt.Embedder.Info(), warn: opt.Warn}
}

func embedProgress(c *console) func(done, requests int) {
	return func(done, requests int) {
		c.status(fmt.Sprintf("%s, %s", count(done, "chunk"), count(requests, "request")))
	}
}

func partial(failed int) error {
	if failed == 0 {
		return nil
	}
	return &codeError{code: exitPartial}
}

// lazyReuse opens the index when the first vector is wanted.
type lazyReuse struct {
	store  store.Store
	info   model.Info
	warn   func(string)
	opened bool
	reader store.Reader
	reuse  embed.Reuse
}

func (l *lazyReuse) Vector(ctx context.Context, text string) (record.Vector, bool, error) {
	if !l.opened {
		l.opened = true
		if err := l.open(ctx); err != nil {
			return nil, false, err
		}
	}
	if l.reuse == nil {
		return nil, false, nil
	}
	return l.reuse.Vector(ctx, text)
}

// Close closes the index: some systems do not replace a file that is open.
func (l *lazyReuse) Close() error {
	if l.reader == nil {
		return nil
	}
	r := l.reader
	l.opened, l.reader, l.reuse = false, nil, nil
	return r.Close()
}

func (l *lazyReuse) open(ctx context.Context) error {
	r, err := l.store.Open(ctx)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrNewer):
		// Embedding does not need the old index; it only saves requests.
		l.warn(fmt.Sprintf("no vectors are reused: %v", err))
		return nil
	case err != nil:
		return err
	}
	l.reader = r
	l.reuse, err = embed.FromReader(ctx, r, l.info)
	return err
}
