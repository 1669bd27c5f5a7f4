package main

import (
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"kb/pkg/answer"
	"kb/pkg/jsonl"
	"kb/pkg/record"
	"kb/pkg/search"
)

// inputs opens the files that a stage was given, or standard input. The
// caller calls close when it is done.
func (e *env) inputs(args []string) (in []jsonl.Input, close func(), err error) {
	var files []*os.File
	close = func() {
		for _, f := range files {
			f.Close()
		}
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	for _, name := range args {
		if name == "-" {
			if e.stdinTTY {
				return nil, close, usagef("no input: pipe records into it, or name a file of records")
			}
			in = append(in, jsonl.Input{Name: "stdin", R: e.stdin})
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			close()
			return nil, close, readable(err)
		}
		if info, err := f.Stat(); err == nil && info.IsDir() {
			f.Close()
			close()
			return nil, close, withHint(fmt.Errorf("%s: a folder, not a file of records", name), "kb load reads folders, and writes records")
		}
		files = append(files, f)
		in = append(in, jsonl.Input{Name: name, R: f})
	}
	return in, close, nil
}

// filter runs a stage from its inputs to standard output.
func (e *env) filter(args []string, stage func(iter.Seq2[record.Record, error]) iter.Seq2[record.Record, error], kinds ...string) error {
	in, done, err := e.inputs(args)
	defer done()
	if err != nil {
		return err
	}
	at := new(jsonl.Place)
	return jsonl.NewWriter(e.stdout).WriteAll(placed(stage(jsonl.RecordsAt(in, at, kinds...)), at))
}

// placed gives an error of a stage the place of the record that it failed on.
func placed(in iter.Seq2[record.Record, error], at *jsonl.Place) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for r, err := range in {
			if !yield(r, at.Wrap(err)) {
				return
			}
		}
	}
}

// readable drops the name of the system call from a file error.
func readable(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Path, path.Err)
	}
	return err
}

// console writes messages for people; a progress line that is being drawn is
// taken out of their way.
type console struct {
	mu       sync.Mutex
	e        *env
	name     string // of the command
	progress string
	drawn    time.Time // when the progress line was last drawn

	other map[string]int // files of types that are not read, by extension

	told, before map[string]bool // messages of this turn and the one before; nil: a command has no turns

	human bool // a person reads the results, which say by themselves that a filter lets nothing pass

	log *slog.Logger // takes the messages, where there is one
}

// Progress is shown when a command takes long enough to make one wonder, and
// no more often than an eye follows.
const (
	progressDelay = 300 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

func (e *env) console(name string) *console {
	return &console{e: e, name: name, drawn: e.now().Add(progressDelay - progressEvery)}
}

// nextTurn begins a turn of a command that does the same again and again: what
// was said in the turn before is not repeated.
func (c *console) nextTurn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told, c.before = map[string]bool{}, c.told
}

// Write lets a log stand between the messages.
func (c *console) Write(line []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	n, err := c.e.stderr.Write(line)
	c.draw()
	return n, err
}

// warn writes one message line on stderr.
func (c *console) warn(message string) {
	if c.human && strings.HasPrefix(message, search.NoneFiltered) {
		return
	}
	if c.log != nil {
		c.log.Warn(answer.Plain(message))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told != nil {
		c.told[message] = true
		if c.before[message] {
			return
		}
	}
	c.clear()
	fmt.Fprintf(c.e.stderr, "%s: %s\n", c.name, answer.Plain(message))
	c.draw()
}

// status replaces the progress line; it is drawn only where a person watches.
func (c *console) status(line string) {
	if !c.e.stderrTTY {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.e.now()
	if line != "" && now.Sub(c.drawn) < progressEvery {
		return
	}
	c.clear()
	c.progress, c.drawn = line, now
	c.draw()
}

func (c *console) clear() {
	if c.progress != "" {
		fmt.Fprint(c.e.stderr, "\r\x1b[K")
	}
}

func (c *console) draw() {
	if c.progress != "" {
		fmt.Fprint(c.e.stderr, c.progress)
	}
}

// close takes the progress line away.
func (c *console) close() { c.status("") }

// waiting says what a command waits for, once it has waited long enough to make
// one wonder; stop takes the line away.
func (c *console) waiting(what string) (stop func()) {
	if !c.e.stderrTTY || what == "" {
		return func() {}
	}
	over := false // guarded by c.mu
	timer := time.AfterFunc(progressDelay, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !over {
			c.clear()
			c.progress = "waiting for " + what
			c.draw()
		}
	})
	return func() {
		timer.Stop()
		c.mu.Lock()
		defer c.mu.Unlock()
		over = true
		c.clear()
		c.progress = ""
	}
}

// awaited passes records on, and says what it waits for until the next one
// comes; not in the middle of an answer that is being written.
func (c *console) awaited(in iter.Seq2[record.Record, error], what string) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		stop := c.waiting(what)
		defer func() { stop() }()
		for r, err := range in {
			stop()
			if !yield(r, err) {
				return
			}
			if _, writing := r.(*record.Delta); !writing {
				stop = c.waiting(what)
			}
		}
	}
}

// counted passes records on and calls note for each.
func counted(in iter.Seq2[record.Record, error], note func(record.Record)) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for r, err := range in {
			if err == nil {
				note(r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func joinQuestion(args []string) string { return strings.TrimSpace(strings.Join(args, " ")) }
