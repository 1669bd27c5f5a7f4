package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/peterh/liner"
	"github.com/spf13/cobra"

	"kb/pkg/answer"
	"kb/pkg/ask"
	"kb/pkg/jsonl"
	"kb/pkg/record"
	"kb/pkg/session"
)

const chatLong = `chat answers one question after the other, and understands those that refer to
the ones before. Each answer draws on the notes as they are now; what was said
only serves to understand the question.

  /sources   the passages of the last answer     /open N   one of them, whole
  /reset     forget what was said                /help     these lines
  Ctrl-C     stop an answer                      Ctrl-D    leave

In a pipe it reads a question a line and writes an answer record for each.

Reads:   a question a line
Writes:  {"kind":"answer","query":…,"question":…,"rewritten":…,"text":…,"refused":false,"passages":[…],"citations":[…],"claims":[…]}`

const chatHelp = `/sources  the passages of the last answer
/open N   passage N of it, whole
/reset    forget what was said
/quit     leave (or Ctrl-D); Ctrl-C stops an answer`

func newChat(e *env, s *settings) *cobra.Command {
	var (
		f        searchFlags
		af       answerFlags
		out      outputFlags
		noRerank bool
		name     string
	)
	cmd := &cobra.Command{
		Use:         "chat",
		Short:       "questions and follow-ups",
		Long:        chatLong,
		Example:     "  kb chat\n  kb chat --session trip\n  printf '%s\\n' \"住宿标准是多少？\" \"那谁来审批？\" | kb chat | jq -r .text",
		Args:        args(cobra.NoArgs),
		Annotations: about(exitMismatch, exitDamaged),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			c := &chat{e: e, s: s, console: e.console("kb chat"), flags: f, human: out.human(e)}
			c.console.human = c.human
			if err := c.open(cmd.Context(), af, noRerank, name); err != nil {
				return err
			}
			defer c.close()
			return c.run(cmd.Context())
		},
	}
	f.register(cmd)
	af.registerWriting(cmd)
	out.register(cmd)
	indexFlag(cmd, s)
	embedFlags(cmd, s)
	rerankFlags(cmd, s)
	chatFlags(cmd, s)
	sessionFlag(cmd, &name)
	cmd.Flags().BoolVar(&noRerank, "no-rerank", false, "keep the order of the search")
	return cmd
}

func sessionFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "session", "", "remember what is said under this name, for a day after the last turn")
}

// chat is one run of the command.
type chat struct {
	e       *env
	s       *settings
	console *console
	flags   searchFlags
	human   bool
	style   style
	aside   io.Writer // what is no answer: stdout for a person, else stderr
	input   lineReader

	conversation *ask.Conversation
	last         *record.Answer
	failed       error // the first answer that failed, for the exit code of a pipe
}

// open checks that questions can be answered at all, and sets up the
// conversation. The index is opened anew for each question, so that answers
// draw on its newest version.
func (c *chat) open(ctx context.Context, af answerFlags, noRerank bool, name string) error {
	c.s.longLived = true
	opt, err := c.s.askOptions(ctx, c.e, c.console, c.flags, af, noRerank)
	if err != nil {
		return err
	}
	info := opt.Searcher.Info()
	opt.Searcher.Close()
	if c.conversation, err = c.s.conversation(opt, name, c.console.warn); err != nil {
		return err
	}
	c.style, c.aside = c.e.style(), c.e.stderr
	if c.human {
		c.aside = c.e.stdout
		c.conversation.Rewritten = c.e.showRewritten
	}
	c.input = c.e.lines()
	if c.e.stdinTTY {
		fmt.Fprintln(c.aside, c.style.dim(fmt.Sprintf("%s, %s · %s · /help for commands, Ctrl-D leaves",
			count(info.Documents, "document"), count(info.Chunks, "chunk"), opt.Answer.Generator.Name())))
		c.recall(ctx)
	}
	return nil
}

// recall shows where a session that goes on had got to.
func (c *chat) recall(ctx context.Context) {
	turns, err := c.conversation.Turns(ctx)
	if err != nil || len(turns) == 0 {
		return
	}
	t := turns[len(turns)-1]
	fmt.Fprintln(c.aside, c.style.dim(fmt.Sprintf("session %s, %s; the last question: %s",
		c.conversation.Name, count(len(turns), "turn"), answer.Plain(t.Question))))
}

func (c *chat) close() { c.input.Close() }

func (c *chat) run(ctx context.Context) error {
	for {
		line, err := c.input.line()
		switch {
		case errors.Is(err, io.EOF):
			if c.e.stdinTTY {
				fmt.Fprintln(c.aside)
			}
			return c.end()
		case errors.Is(err, liner.ErrPromptAborted):
			fmt.Fprintln(c.aside, c.style.dim("(Ctrl-D leaves)"))
			continue
		case err != nil:
			return err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		leave, err := c.handle(ctx, line)
		if err != nil {
			return err
		}
		if leave {
			return c.end()
		}
	}
}

// end is how a chat ends that was not broken off: in a pipe an answer that
// failed shows in the exit code.
func (c *chat) end() error {
	if c.e.stdinTTY {
		return nil
	}
	return c.failed
}

// handle does what a line asks for. An error ends the chat.
func (c *chat) handle(ctx context.Context, line string) (leave bool, err error) {
	command, argument, _ := strings.Cut(line, " ")
	switch command {
	case "/sources":
		c.sources()
	case "/open":
		c.openPassage(strings.TrimSpace(argument))
	case "/reset":
		if err := c.conversation.Sessions.Delete(ctx, c.conversation.Name); err != nil {
			c.console.warn(err.Error())
		}
		c.last = nil
		fmt.Fprintln(c.aside, c.style.dim("forgotten"))
	case "/help":
		fmt.Fprintln(c.aside, chatHelp)
	case "/quit", "/exit":
		return true, nil
	default:
		if isCommand(command) {
			c.console.warn(fmt.Sprintf("there is no command %s; /help lists them", command))
			return false, nil
		}
		return false, c.answer(ctx, line)
	}
	return false, nil
}

// isCommand tells a mistyped command from a question about a path.
func isCommand(word string) bool {
	rest, ok := strings.CutPrefix(word, "/")
	return ok && rest != "" && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz") == ""
}

// answer answers one question. Where a person types, Ctrl-C stops the answer
// only; what fails is told, and the chat goes on.
func (c *chat) answer(ctx context.Context, question string) error {
	answering, stop := context.WithCancel(ctx)
	defer stop()
	if c.e.stdinTTY { // in a pipe it ends the command like any other
		c.e.interrupts.give(stop)
		defer c.e.interrupts.give(nil)
	}
	searcher, err := c.s.searcher(answering, c.flags.Params, c.console.warn)
	if err == nil {
		defer searcher.Close()
		c.conversation.Searcher = searcher
		err = c.show(answering, question)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errOutput):
		return err
	case answering.Err() != nil:
		fmt.Fprintln(c.aside, c.style.dim("\n(stopped)"))
	case err != nil:
		c.console.warn(err.Error())
		if hint := hintFor(err); hint != "" {
			fmt.Fprintf(c.e.stderr, "hint: %s\n", hint)
		}
		if c.failed == nil {
			c.failed = &codeError{code: exitCode(err)}
		}
	}
	return nil
}

// errOutput is an answer that could not be written out.
var errOutput = errors.New("cannot write")

func (c *chat) show(ctx context.Context, question string) error {
	out := c.writer()
	one := func(yield func(record.Record, error) bool) { yield(&record.Query{Text: question}, nil) }
	for r, err := range ask.Run(ctx, one, c.conversation, c.human) {
		if err != nil {
			return err
		}
		if a := asAnswer(r); a != nil {
			c.last = a
		}
		if err := out(r); err != nil {
			return fmt.Errorf("%w: %w", errOutput, err)
		}
	}
	return nil
}

// writer writes what an answer is made of, for people or as records.
func (c *chat) writer() func(record.Record) error {
	if !c.human {
		w := jsonl.NewWriter(c.e.stdout)
		return func(r record.Record) error {
			if err := w.Write(r); err != nil {
				return err
			}
			return w.Flush()
		}
	}
	p := &answerPrinter{w: c.e.stdout, s: c.style}
	return func(r record.Record) error {
		p.print(r)
		return nil
	}
}

func (c *chat) sources() {
	if c.last == nil || len(c.last.Passages) == 0 {
		fmt.Fprintln(c.aside, c.style.dim("no sources yet: ask something first"))
		return
	}
	for _, p := range c.last.Passages {
		where := fmt.Sprintf("[%d] %s", p.N, answer.Place(p.Path, p.Page, p.Line, p.Headings))
		fmt.Fprintln(c.aside, c.style.beside(where, c.style.place, score(p.Score)))
	}
}

func (c *chat) openPassage(argument string) {
	n, err := strconv.Atoi(strings.Trim(argument, "[]"))
	if c.last == nil || err != nil || n < 1 || n > len(c.last.Passages) {
		fmt.Fprintln(c.aside, c.style.dim("/open N shows passage N of /sources"))
		return
	}
	p := c.last.Passages[n-1]
	fmt.Fprintln(c.aside, c.style.place(answer.Place(p.Path, p.Page, p.Line, p.Headings)))
	fmt.Fprintln(c.aside, c.style.wrapped(answer.Plain(strings.TrimSpace(p.Text))))
}

// conversation is one over a named session, or with no name one that ends
// with the command.
func (s *settings) conversation(opt ask.Options, name string, warn func(string)) (*ask.Conversation, error) {
	c := &ask.Conversation{Options: opt, Name: name}
	if name == "" {
		c.Sessions = session.NewMemory(session.DefaultTTL, s.env.now)
		return c, nil
	}
	if err := session.CheckName(name); err != nil {
		return nil, &usageError{err}
	}
	var err error
	c.Sessions, err = s.sessions(warn)
	return c, err
}

// lineReader reads what a person types, or the lines of a pipe.
type lineReader interface {
	line() (string, error) // io.EOF at the end, liner.ErrPromptAborted for Ctrl-C
	Close() error
}

func (e *env) lines() lineReader {
	if !e.stdinTTY {
		return &pipeLines{bufio.NewReader(e.stdin)}
	}
	l := liner.NewLiner()
	l.SetCtrlCAborts(true)
	return &typedLines{l}
}

type typedLines struct{ *liner.State }

func (t *typedLines) line() (string, error) {
	line, err := t.Prompt("> ")
	if err == nil && strings.TrimSpace(line) != "" {
		t.AppendHistory(line)
	}
	return line, err
}

type pipeLines struct{ r *bufio.Reader }

func (p *pipeLines) line() (string, error) {
	line, err := p.r.ReadString('\n')
	if err == io.EOF && line != "" {
		err = nil
	}
	return line, err
}

func (p *pipeLines) Close() error { return nil }
