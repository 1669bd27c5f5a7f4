package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"kb/pkg/build"
	"kb/pkg/index"
	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/text"
)

const buildLong = `build is "load | chunk | embed | index" in one process. It looks at sizes and
times first, so that nothing changed costs nothing. Without PATH it builds the
roots that the index knows, or else the folder notes.

After a change of the embedding model or of its base URL, build embeds
everything again.

Writes:  {"kind":"indexed","path":…,"status":…,"chunks":…,"embedded":…,"reused":…}`

func newBuild(e *env, s *settings) *cobra.Command {
	var (
		lf                 loadFlags
		cf                 chunkFlags
		out                outputFlags
		allowEmpty, noWait bool
		full               bool
	)
	cmd := &cobra.Command{
		Use:         "build [PATH…]",
		Short:       "files and folders → the index: load | chunk | embed | index",
		Long:        buildLong,
		Example:     "  kb build notes\n  kb build",
		Annotations: about(exitMismatch, exitDamaged, exitPartial),
		RunE: func(cmd *cobra.Command, paths []string) error {
			ctx := cmd.Context()
			c := e.console("kb build")
			defer c.close()
			began := e.now()
			opt, err := s.buildOptions(e, c, lf, cf, full)
			if err != nil {
				return err
			}
			defer closeReuse(opt.Embed)
			opt.Index.AllowEmpty, opt.Index.NoWait = allowEmpty, noWait
			named := len(paths) > 0
			if paths, err = expandStdin(e, paths); err != nil {
				return err
			}
			roots, exists, err := knownRoots(ctx, opt.Store)
			if err != nil {
				return err
			}
			if !named {
				if paths, err = defaultPaths(roots); err != nil {
					return err
				}
			}
			if opt.Embedder.Info().BaseURL == "" && !exists {
				c.warn(offlineNote) // with the first build alone
			}
			reports, result, err := build.Run(ctx, paths, opt)
			c.close()
			if err != nil {
				return err
			}
			if err := reportIndexed(e, c, out, opt.Store.Name(), reports, result, e.now().Sub(began)); err != nil {
				return err
			}
			return partial(result.Incomplete + result.Failed + result.Skipped)
		},
	}
	out.register(cmd)
	indexFlag(cmd, s)
	lf.register(cmd)
	cf.register(cmd)
	embedFlags(cmd, s)
	cmd.Flags().BoolVar(&allowEmpty, "allow-empty", false, "let an empty folder remove all of its documents")
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "fail when another process is writing, instead of waiting")
	cmd.Flags().BoolVar(&full, "full", false, "read all files, also those whose size and time did not change")
	return cmd
}

func (s *settings) buildOptions(e *env, c *console, lf loadFlags, cf chunkFlags, full bool) (build.Options, error) {
	opt := build.Options{Program: version, Now: e.now, Warn: c.warn}
	var err error
	if opt.Store, err = s.openStore(); err != nil {
		return opt, err
	}
	if opt.Load, err = lf.options(e, c.warn); err != nil {
		return opt, err
	}
	if opt.Chunk, err = cf.options(); err != nil {
		return opt, err
	}
	if opt.Embed, err = s.embedOptions(c, true); err != nil {
		return opt, err
	}
	opt.Embedder = opt.Embed.Embedder
	opt.Index = index.Options{Analyzer: text.DefaultAnalyzer}
	if !full {
		opt.CacheFile = seenFile(opt.Store)
	}
	documents := 0
	opt.Note = func(r record.Record) {
		switch r := r.(type) {
		case *record.Skipped:
			c.warn(fmt.Sprintf("%s: %s, skipped", r.Path, r.Reason))
		case *record.Document:
			documents++
			c.status(count(documents, "document"))
		}
	}
	opt.Embed.Progress = func(done, requests int) {
		line := fmt.Sprintf("%s, %s", count(documents, "document"), count(done, "chunk"))
		if opt.Embedder.Info().BaseURL != "" {
			line += ", " + count(requests, "request")
		}
		c.status(line)
	}
	return opt, nil
}

// seenFile is where the sizes and times of the files of one index, as seen
// from one working directory, are kept.
func seenFile(st store.Store) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	wd, err := os.Getwd()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(wd + "\x00" + st.Name()))
	return filepath.Join(dir, "kb", "seen", hex.EncodeToString(sum[:8]))
}

// knownRoots are the folders that the index was built from, if there is one.
func knownRoots(ctx context.Context, st store.Store) (roots []string, exists bool, err error) {
	r, err := st.Open(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	for root, err := range r.Roots(ctx) {
		if err != nil {
			return nil, true, err
		}
		roots = append(roots, root.Path)
	}
	return roots, true, nil
}

// defaultPaths is what is built when no path is named.
func defaultPaths(roots []string) ([]string, error) {
	if len(roots) > 0 {
		return roots, nil
	}
	if info, err := os.Stat("notes"); err != nil || !info.IsDir() {
		return nil, withHint(usagef("no folder to build: the index knows none, and there is no folder notes here"), `name it: kb build FOLDER`)
	}
	return []string{"notes"}, nil
}
