package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kb/pkg/build"
	"kb/pkg/index"
	"kb/pkg/store"
)

const rmLong = `rm removes documents from the index: a document by its path, those that a
quoted glob matches ('notes/**/*.pdf', '*.pdf' in any folder), or all documents
below a folder, which is then forgotten as a root. A name that is in the index
is never a glob: 'a[1].md' is the document a[1].md where there is one. Where one
of the paths has no document, nothing is removed. The files stay where they are;
a document whose folder is still a root comes back with the next build unless
.kbignore names it.

Writes:  {"kind":"indexed","path":…,"status":"removed","chunks":9}`

func newRm(e *env, s *settings) *cobra.Command {
	var (
		out    outputFlags
		noWait bool
	)
	cmd := &cobra.Command{
		Use:         "rm PATH…",
		Short:       "take documents out",
		Example:     "  kb rm notes/old.md 'notes/2019/*.md'",
		Long:        rmLong,
		Args:        args(cobra.MinimumNArgs(1)),
		Annotations: about(exitMismatch, exitDamaged),
		RunE: func(cmd *cobra.Command, paths []string) error {
			st, err := s.openStore()
			if err != nil {
				return err
			}
			for i, p := range paths {
				if p == "" {
					return usagef("a path is empty")
				}
				paths[i] = path.Clean(filepath.ToSlash(p))
			}
			began := e.now()
			reports, result, err := index.Remove(cmd.Context(), st, paths, index.RemoveOptions{Globs: true, NoWait: noWait})
			if err != nil {
				return err
			}
			if err := reportIndexed(e, e.console("kb rm"), out, st.Name(), reports, result, e.now().Sub(began)); err != nil {
				return err
			}
			return sayComesBack(cmd.Context(), e, out, st, paths)
		},
	}
	out.register(cmd)
	indexFlag(cmd, s)
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "fail when another process is writing, instead of waiting")
	return cmd
}

// sayComesBack warns a person that a file which lies in a folder of the index
// is read again by the next build.
func sayComesBack(ctx context.Context, e *env, out outputFlags, st store.Store, paths []string) error {
	if !out.human(e) {
		return nil
	}
	known, err := knownIndex(ctx, st)
	if err != nil {
		return err
	}
	home, err := build.OpenHome(homeFile(st), false)
	if err != nil {
		return err
	}
	for _, p := range paths {
		below := func(root string) bool { return root == "." || strings.HasPrefix(p, root+"/") }
		if _, err := os.Stat(home.Absolute(p)); err == nil && slices.ContainsFunc(known.roots, below) {
			fmt.Fprintln(e.stdout, e.style().dim("the next build reads "+plainLine(p)+" again, unless a .kbignore names it"))
		}
	}
	return nil
}
