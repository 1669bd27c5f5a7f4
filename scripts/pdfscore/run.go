package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// program is kb with a cache folder of its own, for the engine's code.
type program struct{ path, engine, cache string }

// result is a record of kb load for one file.
type result struct {
	Kind   string `json:"kind"`
	Path   string `json:"path"`
	Class  string `json:"class"`
	Reason string `json:"reason"`
	Text   string `json:"text"`
	Pages  []struct {
		Text   string `json:"text"`
		Status string `json:"status"`
	} `json:"pages"`
}

// run is what a call of kb took and gave. cpu is the time of kb and its
// children: on a busy machine the clock says little. memory is the largest of
// these processes, in bytes.
type run struct {
	results map[string]result // by path
	cpu     time.Duration
	took    time.Duration
	memory  int64
}

func (p *program) load(files ...string) (run, error) {
	cmd := exec.Command(p.path, append([]string{"load", "--no-cache", "--pdf-engine", p.engine, "--"}, files...)...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+p.cache)
	began := time.Now()
	out, err := cmd.Output()
	r := run{results: make(map[string]result), took: time.Since(began)}
	const partial = 6 // some files were skipped
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == partial) {
		return r, fmt.Errorf("kb load: %w", err)
	}
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss << 10 // Linux counts in KiB
	}
	for line := range bytes.Lines(out) {
		var got result
		if err := json.Unmarshal(line, &got); err != nil {
			return r, err
		}
		r.results[got.Path] = got
	}
	return r, nil
}

// excess says what a run took too much of, if anything.
func (r run) excess() string {
	switch {
	case len(r.results) != 1:
		return "neither read nor skipped"
	case r.cpu > mostTime || r.took > 4*mostTime:
		return fmt.Sprintf("took %.1f s of CPU, %.1f s by the clock", r.cpu.Seconds(), r.took.Seconds())
	case r.memory > mostMemory:
		return fmt.Sprintf("took %d MiB", r.memory>>20)
	}
	return ""
}
