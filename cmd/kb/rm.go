package main

import (
	"path"

	"github.com/spf13/cobra"

	"kb/pkg/index"
)

const rmLong = `rm removes documents from the index: a document by its path, or all documents
below a folder, which is then forgotten as a root. The files stay where they
are; a document whose folder is still a root comes back with the next build
unless .kbignore names it.

Writes:  {"kind":"indexed","path":…,"status":"removed","chunks":9}`

func newRm(e *env, s *settings) *cobra.Command {
	var (
		out    outputFlags
		noWait bool
	)
	cmd := &cobra.Command{
		Use:         "rm PATH…",
		Short:       "take documents out",
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
				paths[i] = path.Clean(p)
			}
			began := e.now()
			reports, result, err := index.Remove(cmd.Context(), st, paths, !noWait)
			if err != nil {
				return err
			}
			return reportIndexed(e, e.console("kb rm"), out, st.Name(), reports, result, e.now().Sub(began))
		},
	}
	out.register(cmd)
	indexFlag(cmd, s)
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "fail when another process is writing, instead of waiting")
	return cmd
}
