package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// program is a process that is measured.
type program struct {
	name   string
	args   func(run int) []string
	stdin  func(run int) string // a file; nil for none
	stdout string               // a file, so that this process stays small; "" to keep it
	dir    string
	env    []string
	ok     []int // exit codes besides 0
}

// fixed are arguments that are the same in each run.
func fixed(args ...string) func(int) []string { return func(int) []string { return args } }

// cost is what a program took: milliseconds of each run, and bytes.
type cost struct {
	name      string
	wall, cpu []float64
	peak      int64 // greatest resident memory of any run
	out       []byte
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

func (c *cost) String() string {
	return fmt.Sprintf("%s | %.1f (%.1f) | %.1f (%.1f) | %.1f", c.name,
		median(c.wall), slices.Min(c.wall), median(c.cpu), slices.Min(c.cpu), float64(c.peak)/1e6)
}

// turns runs the programs in turns.
func turns(runs int, programs ...program) ([]*cost, error) {
	costs := make([]*cost, len(programs))
	for i, p := range programs {
		costs[i] = &cost{name: p.name}
	}
	for run := range runs {
		for i, p := range programs {
			if err := costs[i].add(&p, run); err != nil {
				return nil, err
			}
		}
	}
	return costs, nil
}

// add runs a program once.
func (c *cost) add(p *program, run int) error {
	args := p.args(run)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = p.dir, environment(p.env)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if p.stdout != "" {
		f, err := os.Create(p.stdout)
		if err != nil {
			return err
		}
		defer f.Close()
		cmd.Stdout = f
	}
	if p.stdin != nil {
		f, err := os.Open(p.stdin(run))
		if err != nil {
			return err
		}
		defer f.Close()
		cmd.Stdin = f
	}
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if err != nil && !slices.Contains(p.ok, cmd.ProcessState.ExitCode()) {
		return fmt.Errorf("%s: %v: %w\n%s", p.name, args, err, errs.Bytes())
	}
	c.wall = append(c.wall, milliseconds(took))
	c.cpu = append(c.cpu, milliseconds(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()))
	c.out = out.Bytes()
	// Linux counts in KiB. What this process itself has is the least it reports.
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.peak = max(c.peak, u.Maxrss<<10)
	}
	return nil
}

// environment is that of this process without the settings of kb.
func environment(add []string) []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return len(e) > 3 && e[:3] == "KB_" })
	return append(env, add...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// once runs a command and decodes what it prints, if into is not nil.
func once(into any, args ...string) (*cost, error) {
	c := &cost{name: filepath.Base(args[0])}
	if err := c.add(&program{name: c.name, args: fixed(args...)}, 0); err != nil {
		return nil, err
	}
	if into == nil {
		return c, nil
	}
	return c, json.Unmarshal(c.out, into)
}
