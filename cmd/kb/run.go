package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
)

// env is what a command gets from the outside: its streams, its environment
// and the clock. Nothing else in kb reads them.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	stdinTTY       bool // a person types
	stdoutTTY      bool // a person reads the results
	stderrTTY      bool // a person watches the progress
	lookup         func(string) (string, bool)
	environ        func() []string
	now            func() time.Time
	interrupts     *interrupts
	closing        []func()
}

// atExit has something done when the command has ended.
func (e *env) atExit(f func()) { e.closing = append(e.closing, f) }

func (e *env) close() {
	for _, f := range e.closing {
		f()
	}
}

func system() *env {
	return &env{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		stdinTTY:  isatty.IsTerminal(os.Stdin.Fd()),
		stdoutTTY: isatty.IsTerminal(os.Stdout.Fd()),
		stderrTTY: isatty.IsTerminal(os.Stderr.Fd()) && escapes(os.Stderr.Fd()),
		lookup:    os.LookupEnv,
		environ:   os.Environ,
		now:       time.Now,

		interrupts: &interrupts{},
	}
}

// grace is how long an interrupted command has to put things in order. It is
// short because one may hang in a read of its input; see [interrupts.end] for
// commands that take longer.
const grace = time.Second

// run runs one command and returns the exit code of the process.
func run(args []string, e *env) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	done := make(chan int, 1)
	go func() { done <- execute(ctx, args, e) }()
	for {
		select {
		case code := <-done:
			return code
		case sig := <-signals:
			if sig == os.Interrupt && e.interrupts.taken() {
				continue
			}
		}
		signal.Stop(signals) // a second Ctrl-C ends the process at once
		cancel()
		return e.interrupts.wait(done)
	}
}

func execute(ctx context.Context, args []string, e *env) int {
	defer e.close()
	out := &outcome{w: e.stdout}
	e.stdout = out
	root := newRoot(e, args)
	root.SetArgs(args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	cmd, err := root, error(nil)
	if name := misspelled(root, args); name != "" {
		err = unknownCommand(root, name)
	} else {
		cmd, err = root.ExecuteContextC(ctx)
	}
	if nobodyReads(out.err) {
		return exitOK // the reader of our output had enough
	}
	if err == nil {
		err = out.err
	}
	err = exclusive(err)
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	if ctx.Err() != nil {
		return exitInterrupted
	}
	name := cmd.CommandPath()
	if message := err.Error(); message != "" {
		fmt.Fprintf(e.stderr, "%s: %s\n", name, strings.TrimSpace(message))
	}
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(e.stderr, "hint: %s\n", hint)
	}
	if code == exitUsage && !hinted(err) {
		fmt.Fprintf(e.stderr, "hint: see \"%s --help\"\n", name)
	}
	return code
}

// outcome remembers that standard output could not be written, for commands
// that print as they go.
type outcome struct {
	w   io.Writer
	err error
}

func (o *outcome) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// Fd is for asking the terminal how wide it is.
func (o *outcome) Fd() uintptr {
	if f, ok := o.w.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

func hinted(err error) bool {
	var h *hintError
	return errors.As(err, &h)
}
