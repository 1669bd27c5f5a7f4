package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"time"

	"kb/pkg/model"
	"kb/pkg/record"
)

// Generator is a chat model behind POST {base}/chat/completions. It may be
// used by many goroutines at once.
type Generator struct {
	*client
	endpoint URL

	mu     sync.Mutex
	habits habits // what the server was found to refuse
	hold   bool
}

// NewGenerator checks the configuration; it makes no call. A server of one
// model may need no name of a model.
func NewGenerator(cfg Config) (*Generator, error) {
	c, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	g := &Generator{client: c, endpoint: c.url.join("/chat/completions"), hold: prefilled(cfg.Model)}
	if cfg.HoldThinking != nil {
		g.hold = *cfg.HoldThinking
	}
	return g, nil
}

// Name is the model's, or the base URL where no model was named.
func (g *Generator) Name() string { return pick(g.cfg.Model, g.url.String()) }

// Offline is false.
func (g *Generator) Offline() bool { return false }

// afterFinish is how long a server may take for the usage and [DONE] once the
// answer is complete; some keep the connection open instead.
const afterFinish = 5 * time.Second

// Generate implements [model.Generator]. The last event carries the finish
// reason and the usage: stop, length, content_filter, or a word of the
// server's own, which is warned about. An answer that was cut off ends with an
// error after the text that came. A call is repeated only as long as nothing
// of the answer has come.
func (g *Generator) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		a := &answer{g: g, yield: yield}
		err := g.retry(ctx, g.cfg.Tries, func() error {
			err := a.run(ctx, req)
			if err != nil && (a.started || a.stopped) {
				err = &finalError{err}
			}
			return err
		})
		if err != nil && !a.stopped {
			var final *finalError
			if errors.As(err, &final) {
				err = final.err
			}
			yield(model.Event{}, err)
		}
	}
}

// finalError is not to be retried: part of the answer is out already.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }

// errEarly is a stream that ended without the end of the answer.
var errEarly = errors.New("stream ended early: the answer is cut off")

// answer is one call of Generate.
type answer struct {
	g       *Generator
	yield   func(model.Event, error) bool
	think   thinker
	started bool // something was yielded
	stopped bool // the caller wants no more
	finish  string
	usage   *record.Usage
	calls   []model.ToolCall
}

func (a *answer) run(ctx context.Context, req model.Request) error {
	g := a.g
	a.think, a.finish, a.usage, a.calls = thinker{hold: g.holds()}, "", nil, nil
	res, err := g.open(ctx, req)
	if err != nil {
		return err
	}
	defer res.body.Close()
	if err := a.read(ctx, res); err != nil || a.stopped {
		a.flush(true)
		return err
	}
	return a.end()
}

// read takes in the stream, or the one completion that gateways send which
// cannot stream: the reader of events accepts both.
func (a *answer) read(ctx context.Context, res *response) error {
	g, events := a.g, newEventReader(res.body)
	for !a.stopped {
		ev, err := events.next()
		switch {
		case err != nil && a.finish != "":
			return nil // the answer is whole, whatever became of the connection
		case errors.Is(err, io.EOF):
			return g.early(events.leftover())
		case err != nil:
			return g.readError(ctx, g.endpoint, res, err)
		case ev.done:
			a.finish = pick(a.finish, "stop")
			return nil
		}
		p, ok := parsePiece(ev.data)
		if ev.isError || p.failed {
			return g.apiError(g.endpoint, 200, nil, ev.data)
		}
		if !ok {
			return g.fail(g.endpoint, "the stream holds a damaged message: %s", ev.data)
		}
		if err := a.take(p); err != nil {
			return err
		}
		if a.finish != "" {
			res.deadline(min(afterFinish, g.cfg.Timeouts.Idle))
		}
	}
	return nil
}

func (g *Generator) early(said string) error {
	if said == "" {
		return &callError{g.endpoint.String(), errEarly.Error(), errEarly}
	}
	return &callError{g.endpoint.String(), errEarly.Error() + "; the server sent: " + g.redact.quote(said), errEarly}
}

// take passes on what a message says.
func (a *answer) take(p piece) error {
	if p.usage != nil {
		a.usage = p.usage
	}
	a.calls = mergeCalls(a.calls, p.calls)
	text, thinking := a.think.write(p.text)
	a.emit(model.Event{Text: text, Reasoning: p.reasoning + thinking})
	if p.finish == "" {
		if p.whole {
			a.finish = pick(a.finish, "stop")
		}
		return nil
	}
	finish, broken := finishOf(p.finish)
	if broken {
		return a.g.fail(a.g.endpoint, "the server broke the answer off (finish_reason %q)", p.finish)
	}
	a.finish = finish
	return nil
}

func (a *answer) emit(e model.Event) {
	if a.stopped || e.Text == "" && e.Reasoning == "" && e.Finish == "" {
		return
	}
	a.started = true
	a.stopped = !a.yield(e, nil)
}

// flush lets out what was held back.
func (a *answer) flush(cut bool) {
	text, thinking := a.think.end(cut)
	a.emit(model.Event{Text: text, Reasoning: thinking})
}

// end closes a complete answer.
func (a *answer) end() error {
	a.flush(false)
	if a.think.late {
		a.g.learnHold()
	}
	if !known(a.finish) {
		a.g.cfg.Warn(fmt.Sprintf("%s: the answer ended with finish_reason %q, which is not known; it may not be complete", a.g.endpoint, a.finish))
	}
	a.emit(model.Event{Finish: a.finish, Usage: a.usage, ToolCalls: a.calls})
	return nil
}

func known(finish string) bool {
	switch finish {
	case "stop", "length", "content_filter", "tool_calls", "function_call":
		return true
	}
	return false
}

// finishOf maps the words that servers use to those of OpenAI; broken if the
// server says that it failed.
func finishOf(reason string) (finish string, broken bool) {
	switch r := strings.ToLower(reason); r {
	case "stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed":
		return "stop", false
	case "length", "max_tokens", "model_context_window_exceeded", "model_length":
		return "length", false
	case "content_filter", "sensitive", "safety", "refusal":
		return "content_filter", false
	case "error", "network_error", "insufficient_system_resource", "abort", "cancelled":
		return "", true
	default:
		return r, false
	}
}

// learnHold remembers that the model reasons in its text without an opening
// tag. What came before the closing tag is out already; from now on it is held.
func (g *Generator) learnHold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.hold {
		g.cfg.Warn(fmt.Sprintf("%s: the answer begins with the model's reasoning, which ended in %s without an opening tag", g.endpoint, thinkClose))
	}
	g.hold = true
}

func (g *Generator) holds() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hold
}
