package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/pkg/answer"
	"kb/pkg/ask"
	"kb/pkg/record"
	"kb/pkg/search"
)

const searchDescription = `Find the passages of the user's notes that bear on a question or on keywords, best first, each with its place to cite.
Use it first, for any question that the notes may answer. Chinese and English; identifiers such as ERR-5023, v2.10.1 or rotate_keys are found exactly. When nothing fits, try other words, or the words that the notes would use. To read on around a passage, call get_document with its document and passage number.`

// The most that one search returns: what an agent reads at once.
const maxHits = 50

// maxQuestion is how many characters a question or a query may have: those that
// are longer are no questions, and each of their words costs a look.
const maxQuestion = 4000

type searchInput struct {
	Query string `json:"query" jsonschema:"a question or keywords"`
	Mode  string `json:"mode,omitempty" jsonschema:"how to search: auto fits nearly always; bm25 for words and identifiers alone, vector for meaning alone, hybrid for both"`
	TopK  int    `json:"top_k,omitempty" jsonschema:"how many passages at most"`
	filters
}

type searchOutput struct {
	Query      string   `json:"query"`
	Mode       string   `json:"mode" jsonschema:"the mode that ran"`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"0 to 1 that the notes hold an answer"`
	Floor      float64  `json:"floor,omitempty" jsonschema:"a confidence below this means that they probably do not"`
	Hits       []hit    `json:"hits"`
}

type hit struct {
	Rank      int      `json:"rank"`
	Relevance float64  `json:"relevance" jsonschema:"about 0 to 1"`
	Document  string   `json:"document" jsonschema:"id of the document, for get_document"`
	Path      string   `json:"path"`
	Title     string   `json:"title"`
	Headings  []string `json:"headings"`
	Page      int      `json:"page,omitempty"`
	Line      int      `json:"line,omitempty" jsonschema:"first line of the passage in the file"`
	Passage   int      `json:"passage,omitempty" jsonschema:"its number in the document, for get_document"`
	Text      string   `json:"text"`
}

func (s *Server) searchTool() (tool, error) {
	t := &sdk.Tool{Name: "search", Title: "Search the notes", Description: searchDescription}
	return define(t, s.o.Searches, s.search, func(in schema) {
		in.text("query", maxQuestion)
		in.count("top_k", 1, maxHits, cmp.Or(s.o.Ask.Search.TopK, search.DefaultTopK))
		in.oneOf("mode", search.ModeAuto, search.ModeBM25, search.ModeVector, search.ModeHybrid)
	})
}

func (s *Server) search(ctx context.Context, _ *sdk.CallToolRequest, in searchInput) (*sdk.CallToolResult, *searchOutput, error) {
	l, err := s.lease(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer l.Release()
	o := s.o.Ask
	o.Searcher = l.Searcher()
	o.Search = in.params(o.Search)
	q, hits, err := ask.Find(ctx, in.Query, o)
	if err != nil {
		return nil, nil, s.o.Explain(err)
	}
	out := &searchOutput{Query: q.Text, Mode: q.Mode, Confidence: q.Confidence, Floor: q.Floor, Hits: []hit{}}
	for i, h := range hits {
		if i == 0 || !search.Unrelated(h) {
			out.Hits = append(out.Hits, newHit(q, h))
		}
	}
	return result(out.text(q)), out, nil
}

func (in searchInput) params(p search.Params) search.Params {
	p.Mode, p.TopK = cmp.Or(in.Mode, p.Mode), cmp.Or(in.TopK, p.TopK)
	p.Filter = in.over(p.Filter)
	return p
}

func newHit(q *record.Query, h *record.Hit) hit {
	return hit{Rank: h.Rank, Relevance: search.Relevance(q, h), Document: h.Document, Path: h.Path, Title: h.Title,
		Headings: list(h.Headings), Page: h.Page, Line: h.Line, Passage: h.Seq, Text: answer.Plain(h.Text)}
}

func (out *searchOutput) text(q *record.Query) string {
	var b strings.Builder
	if len(out.Hits) == 0 {
		fmt.Fprintf(&b, "Nothing found in %d documents", q.Documents)
		if why := q.WhyNothing(); why != "" {
			b.WriteString(": " + why)
		}
		b.WriteString(". Try other words, fewer filters, or list_documents.")
		return b.String()
	}
	for _, h := range out.Hits {
		fmt.Fprintf(&b, "[%d] %s (relevance %.2f; document %s, passage %d)\n%s\n\n",
			h.Rank, answer.Place(h.Path, h.Page, h.Line, h.Headings), h.Relevance, h.Document, h.Passage, strings.TrimSpace(h.Text))
	}
	if c := out.Confidence; c != nil && *c < out.Floor {
		fmt.Fprintf(&b, "Confidence %.2f is below the floor of %.2f: the notes probably do not answer this.\n", *c, out.Floor)
	}
	return b.String()
}
