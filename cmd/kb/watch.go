package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kb/pkg/index"
	"kb/pkg/record"
	"kb/pkg/watch"
)

const watchLong = `watch is "kb build", and again whenever something changed, until Ctrl-C. What was
saved is in the index within seconds; who searches meanwhile is never blocked.

It goes by the rules of build: hidden files and folders, the temporary files of
editors and what .kbignore names cause no build. A folder that vanished as a
whole keeps its documents until it is back (or until "kb rm" takes them out). A
build that failed, because an endpoint is down for example, is made again until
it goes well.

What other machines change on a network file system is not announced: there it
also looks every few seconds, or with --poll 1m as often as that. Without PATH
it watches what the index knows, or else the folder notes.

Writes:  {"kind":"indexed","path":…,"status":…} for each document that changed`

func newWatch(e *env, s *settings) *cobra.Command {
	var (
		f    buildFlags
		out  outputFlags
		poll time.Duration
	)
	cmd := &cobra.Command{
		Use:         "watch [PATH…]",
		Short:       "build again at each change",
		Long:        watchLong,
		Example:     "  kb watch notes\n  kb watch --poll 1m /mnt/share/notes\n  kb watch notes | jq -r '[.status, .path] | @tsv'",
		Annotations: about(exitMismatch, exitDamaged),
		RunE: func(cmd *cobra.Command, paths []string) error {
			if cmd.Flags().Changed("poll") && poll < 100*time.Millisecond {
				return usagef("--poll %s: must be at least 100ms", poll)
			}
			c := e.console("kb watch")
			defer c.close()
			b, err := s.newBuilder(cmd.Context(), e, c, f, paths)
			if err != nil {
				return err
			}
			ctx, stop := context.WithCancelCause(cmd.Context())
			defer stop(nil)
			w := &watching{e: e, c: c, b: b, out: out, stop: stop}
			err = watch.Run(ctx, b.paths, watch.Options{Hooks: b.opt.Load.Hooks, Poll: poll, OnChange: w.build, Warn: c.warn})
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return err
		},
	}
	out.register(cmd)
	f.register(cmd, s)
	cmd.Flags().DurationVar(&poll, "poll", 0, "look for changes this often, in place of being told of them")
	return cmd
}

// watching is one run of the command.
type watching struct {
	e     *env
	c     *console
	b     *builder
	out   outputFlags
	stop  context.CancelCauseFunc
	begun bool // the first build went well
}

// build builds what is there of the paths, and tells what became of it. The
// first build ends the command where it fails for a reason that does not go
// away, and standard output always.
func (w *watching) build(ctx context.Context) error {
	began := w.e.now()
	w.c.nextTurn()
	paths := slices.DeleteFunc(slices.Clone(w.b.paths), func(p string) bool {
		_, err := os.Stat(p)
		return errors.Is(err, os.ErrNotExist)
	})
	reports, result, err := w.b.run(ctx, paths)
	w.c.close()
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case !w.begun && lasting(err):
		w.stop(err)
		return err
	default:
		return withStep(err)
	}
	if err := w.tell(reports, result, w.e.now().Sub(began)); err != nil {
		w.stop(err)
	}
	return nil
}

// lasting says whether an error is one of the settings or of the index.
func lasting(err error) bool {
	code := exitCode(err)
	return code == exitUsage || code == exitMismatch || code == exitDamaged
}

// unchanged says whether the index has a document as it had it before.
func unchanged(r record.Record) bool {
	i, ok := r.(*record.Indexed)
	return ok && (i.Status == record.StatusUnchanged || i.Status == record.StatusKept)
}

// tell writes what changed: a line for a person, records into a pipe.
func (w *watching) tell(reports []record.Record, r index.Result, took time.Duration) error {
	warnIncomplete(w.c, reports)
	changed := slices.DeleteFunc(reports, unchanged)
	first := !w.begun
	w.begun = true
	if !w.out.human(w.e) {
		return writeRecords(w.e, changed)
	}
	s := w.e.style()
	if len(changed) > 0 {
		fmt.Fprintln(w.e.stdout, s.beside(w.e.now().Format(time.TimeOnly)+"  "+summary(changed), func(t string) string { return t }, seconds(took)))
	}
	if first {
		fmt.Fprintln(w.e.stdout, s.dim(fmt.Sprintf("watching %s: %s, %s · Ctrl-C ends",
			strings.Join(w.b.paths, ", "), count(r.Info.Documents, "document"), count(r.Info.Chunks, "chunk"))))
	}
	return nil
}

// named is how many documents a line names.
const named = 3

// summary says what changed, in half a line.
func summary(changed []record.Record) string {
	var parts []string
	for _, status := range []string{record.StatusCreated, record.StatusUpdated, record.StatusRemoved, record.StatusIncomplete} {
		var paths []string
		for _, r := range changed {
			if i, ok := r.(*record.Indexed); ok && i.Status == status {
				paths = append(paths, plainLine(i.Path))
			}
		}
		switch {
		case len(paths) == 0:
		case len(changed) > named:
			parts = append(parts, fmt.Sprintf("%d %s", len(paths), status))
		default:
			parts = append(parts, status+" "+strings.Join(paths, ", "))
		}
	}
	return strings.Join(parts, ", ")
}
