// Package model says what kb asks of a model, whoever serves it: an
// [Embedder] turns texts into vectors, a [Reranker] orders passages for a
// question, a [Generator] writes an answer from passages. Package offline
// implements the three without a network, package openai by any
// OpenAI-compatible endpoint; package modeltest holds the conformance suite.
package model

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sort"
	"strings"

	"kb/pkg/record"
)

// Purpose says what a text is embedded for: models that were trained with
// prefixes treat questions and passages differently.
type Purpose int

const (
	Document Purpose = iota
	Query
)

// Info identifies a model. Model, BaseURL and the prefixes are the
// fingerprint of an index: vectors compare only where all four are equal.
type Info struct {
	Model          string // as the endpoint calls it
	BaseURL        string // normalised, without secrets; "" offline
	QueryPrefix    string
	DocumentPrefix string
}

// Describe names a model for people.
func Describe(name, baseURL string) string {
	if baseURL == "" {
		return name + " (offline)"
	}
	return name + " at " + baseURL
}

// Embedder turns texts into vectors.
type Embedder interface {
	Info() Info
	// Embed returns one vector of unit length for each text, in order, all of
	// one dimension. It adds the purpose's prefix itself. Texts that the model
	// refuses one by one have a nil vector and their reasons in a
	// [*PartialError]; with any other error no vector is valid. A text of
	// white space only is such a refusal and is never sent.
	Embed(ctx context.Context, purpose Purpose, texts []string) ([]record.Vector, error)
	// Weight is the weight of this embedder's ranking in rank fusion with
	// BM25: 1 for a semantic model, less for a lexical one.
	Weight() float64
	// Semantic is true if equal meaning gives near vectors without shared
	// words. Lexical signals alone must not refuse a question then.
	Semantic() bool
	// Batch is how many texts one request may carry.
	Batch() int
}

// PartialError lists the texts of a batch that got no vector.
type PartialError struct {
	Reasons map[int]error // by index in the batch
}

func (e *PartialError) Error() string {
	at := make([]int, 0, len(e.Reasons))
	for i := range e.Reasons {
		at = append(at, i)
	}
	sort.Ints(at)
	parts := make([]string, len(at))
	for i, n := range at {
		parts[i] = fmt.Sprintf("text %d: %v", n, e.Reasons[n])
	}
	return strings.Join(parts, "; ")
}

// EndpointError is an error of a model's endpoint: it cannot be reached, it
// refuses, or it answers what is no answer.
type EndpointError interface {
	error
	Endpoint() string // URL of the call, without secrets
}

// Reranker orders passages for a question.
type Reranker interface {
	Name() string
	// Rerank returns scores for the hits; greater is better, the scale is the
	// reranker's own. A hit that the reranker left out has no score.
	Rerank(ctx context.Context, q *record.Query, hits []*record.Hit) ([]Score, error)
}

// Score is the score of hits[Index].
type Score struct {
	Index int
	Score float64
}

// Generator writes answers.
type Generator interface {
	Name() string
	// Offline is true for a generator that copies sentences instead of
	// calling a model.
	Offline() bool
	// Generate streams the answer. The sequence ends after an event with a
	// Finish, or with an error; text that came before an error is valid.
	Generate(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// Request is what an answer is made from. A chat model reads Messages, which
// hold the passages already; the offline generator reads Question and
// Passages.
type Request struct {
	Messages []Message
	Tools    []Tool // that the model may call instead of answering; the offline generator calls none
	Question string
	Passages []record.Passage
	Terms    map[string]float64 // idf of the question's terms
}

// Message is one turn for a chat model. Role is system, user, assistant or
// tool; an assistant's turn may hold calls of tools, and a tool's turn answers
// one of them.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// Tool is a function that a model may call. Parameters is a JSON Schema.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// ToolCall is a model's call of a tool, in the form of the chat completions
// API. Arguments are what the model wrote: JSON, if all went well.
type ToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"` // function
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Event is a piece of a streamed answer.
type Event struct {
	Text      string        // to append to the answer
	Reasoning string        // thinking aloud, never part of the answer
	Finish    string        // stop, length, content_filter, …; "" until the end
	Usage     *record.Usage // where the server told
	ToolCalls []ToolCall    // with the finish: what the model wants called
}
