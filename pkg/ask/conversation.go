package ask

import (
	"context"
	"fmt"

	"kb/pkg/answer"
	"kb/pkg/record"
	"kb/pkg/session"
)

// Conversation answers questions that may refer to those before. What was
// said serves to understand the question, and for display; the answer draws
// on the passages that are found now and on nothing else.
type Conversation struct {
	Options
	Sessions session.Store
	Name     string // of the session
	// Rewritten is told a follow-up question as it is searched, where that
	// differs; may be nil.
	Rewritten func(question string)
}

// Reply implements [Answerer], and remembers the turn. A session that cannot
// be read or written costs its history and a warning, never the answer.
func (c *Conversation) Reply(ctx context.Context, q *record.Query, emit func(delta string)) (*record.Answer, error) {
	question := q.Text
	standalone := c.standalone(ctx, question)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if standalone != question {
		if c.Rewritten != nil {
			c.Rewritten(standalone)
		}
		q = &record.Query{ID: q.ID, Text: standalone}
	}
	a, err := c.Options.Reply(ctx, q, emit)
	if a == nil {
		return nil, err
	}
	if standalone != question {
		a.Question, a.Rewritten = question, standalone
	}
	if a.Complete {
		c.remember(ctx, a)
	}
	return a, err
}

// Turns are those of the session, oldest first.
func (c *Conversation) Turns(ctx context.Context) ([]session.Turn, error) {
	return c.Sessions.Turns(ctx, c.Name)
}

func (c *Conversation) standalone(ctx context.Context, question string) string {
	turns, err := c.Turns(ctx)
	if err != nil {
		c.warn("answering without what was said before: %v", err)
		return question
	}
	turns = turns[max(0, len(turns)-session.Recent):]
	before := make([]answer.Exchange, len(turns))
	for i, t := range turns {
		before[i] = answer.Exchange{Question: t.Asked(), Answer: t.Answer}
	}
	rewritten, err := answer.Rewrite(ctx, c.Answer.Generator, before, question, c.Answer.Rand)
	if err != nil {
		if ctx.Err() == nil {
			c.warn("the question is searched as it is, for the model could not rewrite it: %v", err)
		}
		return question
	}
	return rewritten
}

func (c *Conversation) remember(ctx context.Context, a *record.Answer) {
	t := session.Turn{Question: a.Question, Standalone: a.Rewritten, Answer: a.Text, Refused: a.Refused, Claims: a.Claims}
	if c.Answer.Now != nil {
		t.Time = c.Answer.Now()
	}
	for _, p := range a.Citations {
		p.Text = ""
		t.Citations = append(t.Citations, p)
	}
	if err := c.Sessions.Append(ctx, c.Name, t); err != nil && ctx.Err() == nil {
		c.warn("this turn is not remembered: %v", err)
	}
}

func (c *Conversation) warn(format string, args ...any) {
	if c.Answer.Warn != nil {
		c.Answer.Warn(fmt.Sprintf(format, args...))
	}
}
