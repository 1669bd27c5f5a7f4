package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/pkg/answer"
	"kb/pkg/ask"
	"kb/pkg/record"
	"kb/pkg/session"
)

const askDescription = `Answer one question from the user's notes, with citations, each claim checked against the passage that it cites; or refuse, where the notes do not have the answer.
Use it when the user wants an answer from the notes rather than passages. For your own research prefer search, which costs less and shows more. For a follow-up question, pass the session that the answer before came with.`

type askInput struct {
	Question string `json:"question" jsonschema:"one question, as the user asked it"`
	Session  string `json:"session,omitempty" jsonschema:"of an answer before, for a question that refers to it"`
	filters
}

type askOutput struct {
	Answer     string     `json:"answer" jsonschema:"with [n] behind each sentence for the citation that it rests on"`
	Refused    bool       `json:"refused" jsonschema:"the notes do not have the answer"`
	Reason     string     `json:"reason,omitempty" jsonschema:"why it was refused, or is not complete"`
	Complete   bool       `json:"complete"`
	Rewritten  string     `json:"rewritten,omitempty" jsonschema:"a follow-up question as it was searched"`
	Confidence *float64   `json:"confidence,omitempty"`
	Citations  []citation `json:"citations"`
	Claims     []claim    `json:"claims"`
	Session    string     `json:"session" jsonschema:"to pass with a follow-up question"`
	Model      string     `json:"model,omitempty"`
}

type citation struct {
	N        int      `json:"n"`
	Document string   `json:"document"`
	Path     string   `json:"path"`
	Title    string   `json:"title"`
	Headings []string `json:"headings"`
	Page     int      `json:"page,omitempty"`
	Line     int      `json:"line,omitempty"`
	Text     string   `json:"text"`
}

type claim struct {
	Text      string `json:"text"`
	Cites     []int  `json:"cites"`
	Supported bool   `json:"supported"`
	Why       string `json:"why,omitempty" jsonschema:"what the passage does not bear out"`
}

func (s *Server) askTool() (tool, error) {
	t := &sdk.Tool{Name: "ask", Title: "Ask the notes", Description: askDescription}
	return define(t, s.o.Searches || s.o.Answers, s.ask, func(in schema) { in.text("question", maxQuestion) })
}

func (s *Server) ask(ctx context.Context, _ *sdk.CallToolRequest, in askInput) (*sdk.CallToolResult, *askOutput, error) {
	if in.Session == "" {
		in.Session = rand.Text()
	} else if err := session.CheckName(in.Session); err != nil {
		return nil, nil, fmt.Errorf("session: %w; leave it out to begin a new one", err)
	}
	l, err := s.lease(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer l.Release()
	talk := &ask.Conversation{Options: s.o.Ask, Sessions: s.o.Sessions, Name: in.Session}
	talk.Searcher = l.Searcher()
	talk.Search.Filter = in.over(talk.Search.Filter)
	if err := talk.Search.Validate(); err != nil {
		return nil, nil, err
	}
	a, err := talk.Reply(ctx, &record.Query{ID: record.QueryID(in.Question), Text: in.Question}, nil)
	if a == nil {
		return nil, nil, s.o.Explain(err)
	}
	out := newAnswer(a, in.Session)
	if err != nil && out.Reason == "" {
		out.Reason = err.Error()
	}
	return result(out.text()), out, nil
}

func newAnswer(a *record.Answer, session string) *askOutput {
	out := &askOutput{Answer: answer.Plain(a.Text), Refused: a.Refused, Reason: a.Reason, Complete: a.Complete, Rewritten: a.Rewritten,
		Confidence: a.Confidence, Citations: []citation{}, Claims: []claim{}, Session: session, Model: a.Model}
	for _, p := range a.Citations {
		out.Citations = append(out.Citations, citation{N: p.N, Document: record.DocumentID(p.Path), Path: p.Path, Title: p.Title,
			Headings: list(p.Headings), Page: p.Page, Line: p.Line, Text: answer.Plain(p.Text)})
	}
	for _, c := range a.Claims {
		out.Claims = append(out.Claims, claim{Text: answer.Plain(c.Text), Cites: list(c.Cites), Supported: c.Supported, Why: c.Why})
	}
	return out
}

func (out *askOutput) text() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(out.Answer) + "\n")
	if out.Reason != "" {
		fmt.Fprintf(&b, "(%s)\n", out.Reason)
	}
	for _, c := range out.Claims {
		if !c.Supported {
			fmt.Fprintf(&b, "Not borne out by its source: %q (%s)\n", c.Text, c.Why)
		}
	}
	if len(out.Citations) > 0 {
		b.WriteString("\nSources:\n")
	}
	for _, c := range out.Citations {
		fmt.Fprintf(&b, "[%d] %s (document %s)\n", c.N, answer.Place(c.Path, c.Page, c.Line, c.Headings), c.Document)
	}
	fmt.Fprintf(&b, "\nsession %s (pass it with a follow-up question)\n", out.Session)
	return b.String()
}
