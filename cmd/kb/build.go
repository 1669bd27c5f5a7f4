package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"kb/pkg/build"
	"kb/pkg/index"
	"kb/pkg/record"
	"kb/pkg/store"
	"kb/pkg/store/flat"
)

const buildLong = `build is "load | chunk | embed | index" in one process. It looks at sizes and
times first, so that nothing changed costs nothing. Without PATH it builds the
roots that the index knows, or else the folder notes. Relative paths of an
index count from the folder that it was built in: from another one, build goes
there, unless it has folders of the same names.

After a change of the embedding model or of its base URL, build embeds
everything again; it does not replace the vectors of an endpoint by offline
ones. A file without text is listed and makes the run a partial one (6) when
it is met for the first time, or changed, or was named by itself; after that
the summary counts it and "kb status" lists it, until .kbignore names it.

What an endpoint embedded is kept where it fails or Ctrl-C stops the build: the
documents that are whole are in the index, and the next build does the rest.

Writes:  {"kind":"indexed","path":…,"status":…,"chunks":…,"embedded":…,"reused":…}`

func newBuild(e *env, s *settings) *cobra.Command {
	var (
		f      buildFlags
		out    outputFlags
		noWait bool
	)
	cmd := &cobra.Command{
		Use:         "build [PATH…]",
		Short:       "load | chunk | embed | index",
		Long:        buildLong,
		Example:     "  kb build notes\n  kb build",
		Annotations: about(exitMismatch, exitDamaged, exitPartial),
		RunE: func(cmd *cobra.Command, paths []string) error {
			c := e.console("kb build")
			defer c.close()
			began := e.now()
			b, err := s.newBuilder(cmd.Context(), e, c, f, paths)
			if err != nil {
				return err
			}
			b.opt.Index.NoWait = noWait
			b.opt.Keeping = func() { e.interrupts.more(keepGrace) }
			reports, result, err := b.run(cmd.Context(), b.paths)
			c.close()
			if errors.Is(err, context.Canceled) && !result.Written {
				c.warn("stopped; the index is as it was")
			}
			if err != nil {
				return err
			}
			if err := reportIndexed(e, c, out, b.opt.Store.Name(), reports, result, e.now().Sub(began)); err != nil {
				return err
			}
			if out.human(e) {
				printOther(e, c.other)
			}
			return partial(result.Incomplete + result.Failed + result.NewSkipped)
		},
	}
	out.register(cmd)
	f.register(cmd, s)
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "fail when another process is writing, instead of waiting")
	cmd.Flags().BoolVar(&f.full, "full", false, "read all files, also those whose size and time did not change")
	return cmd
}

// keepGrace is how long a build that is interrupted may take to write the
// vectors that were paid for; a second Ctrl-C ends it at once.
const keepGrace = 30 * time.Second

// buildFlags are the flags of the commands that build.
type buildFlags struct {
	load                   loadFlags
	chunk                  chunkFlags
	allowEmpty, full, here bool
}

func (f *buildFlags) register(cmd *cobra.Command, s *settings) {
	indexFlag(cmd, s)
	f.load.register(cmd)
	f.chunk.register(cmd)
	analyzerFlag(cmd, s)
	embedFlags(cmd, s)
	cmd.Flags().BoolVar(&f.allowEmpty, "allow-empty", false, "let an empty folder remove all of its documents")
	cmd.Flags().BoolVar(&f.here, "here", false, "take the folders of the index from the working directory, although it was built in another")
}

// builder is a build that has been prepared, and can be made more than once.
type builder struct {
	c     *console
	paths []string // as the index spells them
	home  *build.Home
	opt   build.Options
	told  *told // nil where each file is read once
}

// newBuilder prepares to build the paths, or what the index knows. It makes
// the folder that the index was built in the working directory.
func (s *settings) newBuilder(ctx context.Context, e *env, c *console, f buildFlags, paths []string) (*builder, error) {
	st, err := s.openStore()
	if err != nil {
		return nil, err
	}
	named := len(paths) > 0
	if paths, err = expandStdin(e, paths); err != nil {
		return nil, err
	}
	known, err := knownIndex(ctx, st)
	if err != nil {
		return nil, err
	}
	b := &builder{c: c}
	if b.home, err = build.OpenHome(homeFile(st), f.here || !known.exists); err != nil {
		return nil, err
	}
	if b.paths, err = known.paths(b.home, s, paths, named); err != nil {
		return nil, err
	}
	if b.opt, err = s.buildOptions(e, c, f); err != nil {
		return nil, err
	}
	if err := known.keepsVectors(b.opt.Store.Name(), b.opt.Embedder.Info()); err != nil {
		return nil, err
	}
	if b.opt.Embedder.Info().BaseURL == "" && !known.exists {
		c.warn(offlineNote) // with the first build alone
	}
	return b, nil
}

// run builds some of the paths.
func (b *builder) run(ctx context.Context, paths []string) ([]record.Record, index.Result, error) {
	opt := b.opt
	b.c.showProgress(&opt)
	b.told.follow(&opt)
	opt.Embed.Reuse = reuseOf(opt.Store, opt.Embed)
	reports, result, err := build.Run(ctx, paths, opt)
	if err != nil && !result.Written {
		return nil, result, err
	}
	b.told.forgetRemoved(reports)
	if err := b.home.Remember(paths); err != nil {
		b.c.warn(fmt.Sprintf("the next build will not know where this one was made: %v", err))
	}
	return reports, result, err
}

func (s *settings) buildOptions(e *env, c *console, f buildFlags) (build.Options, error) {
	opt := build.Options{Program: version, Now: e.now, Warn: c.warn}
	var err error
	if opt.Store, err = s.openStore(); err != nil {
		return opt, err
	}
	if opt.Load, err = f.load.options(e, c); err != nil {
		return opt, err
	}
	if err := s.setHooks(&opt.Load); err != nil {
		return opt, err
	}
	if opt.Chunk, err = f.chunk.options(); err != nil {
		return opt, err
	}
	if opt.Embed, err = s.embedOptions(c); err != nil {
		return opt, err
	}
	opt.Embedder = opt.Embed.Embedder
	if opt.Index.Analyzer, err = s.analyzer(); err != nil {
		return opt, err
	}
	opt.Index.AllowEmpty = f.allowEmpty
	if file, ok := opt.Store.(*flat.Store); ok {
		opt.Check = func(ctx context.Context) error { return firstFault(ctx, file) }
	}
	if !f.full {
		opt.CacheFile = seenFile(opt.Store)
	}
	return opt, nil
}

// showProgress has a build tell what it does.
func (c *console) showProgress(opt *build.Options) {
	documents := 0
	opt.Note = func(r record.Record) {
		switch r := r.(type) {
		case *record.Root:
			c.noteOther(r)
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
}

// seenFile is where the sizes and times of the files of one index, as seen
// from one working directory, are kept.
func seenFile(st store.Store) string {
	wd, err := os.Getwd()
	if err != nil {
		return ""
	}
	return stateFile("seen", wd+"\x00"+st.Name())
}

// homeFile is where the folder is kept that the paths of an index count from.
func homeFile(st store.Store) string {
	if isURL(st.Name()) {
		return stateFile("home", st.Name())
	}
	name, err := filepath.Abs(st.Name())
	if err != nil {
		return ""
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		name = filepath.Join(folder, filepath.Base(name))
	}
	return stateFile("home", name)
}

// stateFile is the cache file of a kind for a key; "" where there is no cache
// folder.
func stateFile(kind, key string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(dir, "kb", kind, hex.EncodeToString(sum[:8]))
}
