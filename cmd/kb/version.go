package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"kb/pkg/jsonl"
)

const versionLong = `version prints the version of kb; with --json also what it was built from.

Writes:  {"kind":"version","version":…,"revision":…,"modified":false,"go":…,"os":…,"arch":…}`

func newVersion(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "version",
		Short:       "of kb and its build",
		Long:        versionLong,
		Example:     "  kb version --json | jq -r .version",
		Args:        args(cobra.NoArgs),
		Annotations: about(),
		RunE: func(*cobra.Command, []string) error {
			if !asJSON {
				fmt.Fprintf(e.stdout, "kb %s\n", version)
				return nil
			}
			w := jsonl.NewWriter(e.stdout)
			if err := w.Write(built()); err != nil {
				return err
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON record")
	return cmd
}

// versionRecord says which kb this is.
type versionRecord struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source; "" where it was built outside of its repository
	Modified bool   `json:"modified"`           // the source had changes beyond the revision
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func (*versionRecord) Kind() string { return "version" }

func built() *versionRecord {
	r := &versionRecord{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return r
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			r.Revision = s.Value
		case "vcs.modified":
			r.Modified = s.Value == "true"
		}
	}
	return r
}
