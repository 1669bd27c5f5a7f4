package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"kb/pkg/cache/redistest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kb": func() { os.Exit(run(os.Args[1:], system())) },
	})
}

// TestScripts runs what users do: one file of testdata/script a behaviour.
// Beside testscript's own commands there are
//
//	exits N 'shell line'   runs the line by sh and wants this exit code
//	lines FILE N           wants N lines in a file or in stdout
//	models VAR [REPLY]     starts a counting model server, its URL in VAR
//	requests PATH N        wants N requests since the last look
//	[!] sent KEY           wants that the server saw a key, or did not
func TestScripts(t *testing.T) {
	testscript.Run(t, scripts(t, "testdata/script", nil))
}

// scripts are the scripts of a folder; setup prepares each further.
func scripts(t *testing.T, dir string, setup func(*testscript.Env) error) testscript.Params {
	cache := t.TempDir()
	redis := ""
	if redistest.Available() {
		redis = redistest.Start(t)
	}
	return testscript.Params{
		Dir: dir,
		Setup: func(e *testscript.Env) error {
			repo, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			e.Setenv("REPO", repo)
			e.Setenv("XDG_CACHE_HOME", cache)
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".state"))
			e.Setenv("REDIS", redis)
			e.Setenv("LC_ALL", "C.UTF-8")
			if setup == nil {
				return nil
			}
			return setup(e)
		},
		Condition: func(cond string) (bool, error) {
			if cond != "redis" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			return redis != "", nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    cmdExits,
			"lines":    cmdLines,
			"models":   cmdModels,
			"requests": cmdRequests,
			"sent":     cmdSent,
		},
	}
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: exits CODE 'shell line'")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec("bash", "-o", "pipefail", "-c", args[1])
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	n := 0
	for _, c := range ts.ReadFile(args[0]) {
		if c == '\n' {
			n++
		}
	}
	if fmt.Sprint(n) != args[1] {
		ts.Fatalf("%s has %d lines, want %s:\n%s", args[0], n, args[1], ts.ReadFile(args[0]))
	}
}
