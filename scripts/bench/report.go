package main

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// report writes tables and remembers how the budgets fared.
type report struct {
	out    io.Writer
	checks []check
}

// check is one budget and what was measured.
type check struct {
	what, budget string
	got, limit   float64
	unit         string
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(r.out, format, args...) }

// heading begins a part of the report.
func (r *report) heading(format string, args ...any) {
	r.printf("\n## "+format+"\n\n", args...)
}

const processHead = "| program | wall ms, median (min) | CPU ms, median (min) | peak MB | wall, × the first |\n| --- | --- | --- | --- | --- |\n"

// table writes the costs of processes, as ratios to the first.
func (r *report) table(costs []*cost) {
	r.printf(processHead)
	for _, c := range costs {
		r.printf("| %s | %.2f |\n", c, median(c.wall)/median(costs[0].wall))
	}
}

// check holds a measurement against its budget.
func (r *report) check(what, budget string, got, limit float64, unit string) {
	r.checks = append(r.checks, check{what, budget, got, limit, unit})
}

// budgets writes how they fared.
func (r *report) budgets() error {
	r.heading("Budgets")
	r.printf("| what | budget | measured | |\n| --- | --- | --- | --- |\n")
	for _, c := range r.checks {
		verdict := "holds"
		if c.got > c.limit {
			verdict = fmt.Sprintf("**misses**, %.2f times the budget", c.got/c.limit)
		}
		r.printf("| %s | %s | %s%s | %s |\n", c.what, c.budget, short(c.got), c.unit, verdict)
	}
	return nil
}

// short is a number with three digits, or all of those before the point.
func short(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// machine says where and when this was measured.
func (b *bencher) machine() error {
	kb, _ := exec.Command(b.kb, "--version").Output()
	b.printf("%s, %s run; %s/%s, %d cores, %s; Go %s; %s; load %s\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"), b.name,
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(), strings.TrimPrefix(runtime.Version(), "go"),
		strings.TrimSpace(string(kb)), firstLine("/proc/loadavg"))
	return nil
}
