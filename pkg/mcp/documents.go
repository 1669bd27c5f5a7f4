package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/pkg/answer"
	"kb/pkg/live"
	"kb/pkg/store"
)

const getDescription = `Read a document of the user's notes, or a part of it, as text.
Use it to read on around a passage that search found (its document and passage number), around a place that was cited (line or page), or to read a whole document, part by part: next_passage in the result says where to go on.`

const listDescription = `List the documents of the user's notes by path, with title, tags and date.
Use it to see what there is, or to find a document by its name, folder, tag or date; to find what a document says, use search.`

// What one call of get_document returns, in characters, and of list_documents.
const (
	usualChars, maxChars = 8000, 100_000
	usualList, maxList   = 50, 500
)

type getInput struct {
	Document    string `json:"document" jsonschema:"id or path of the document"`
	FromPassage int    `json:"from_passage,omitempty" jsonschema:"begin with this passage; the first is 1"`
	Line        int    `json:"line,omitempty" jsonschema:"or begin with the passage that this line of the file is in"`
	Page        int    `json:"page,omitempty" jsonschema:"or begin with this page, of a document that has pages"`
	MaxChars    int    `json:"max_chars,omitempty" jsonschema:"how much text at most, in characters"`
}

type getOutput struct {
	entry
	FromPassage int    `json:"from_passage"`
	ToPassage   int    `json:"to_passage"`
	NextPassage int    `json:"next_passage,omitempty" jsonschema:"where to go on; not there at the end of the document"`
	Line        int    `json:"line,omitempty" jsonschema:"line of the file that the text begins in"`
	Page        int    `json:"page,omitempty" jsonschema:"page that the text begins on"`
	Text        string `json:"text"`
}

// entry describes a document.
type entry struct {
	ID        string   `json:"id"`
	Path      string   `json:"path"`
	Title     string   `json:"title"`
	MediaType string   `json:"media_type"`
	Passages  int      `json:"passages" jsonschema:"how many it has"`
	Tags      []string `json:"tags"`
	Date      string   `json:"date,omitempty"`
}

func newEntry(d store.Document) entry {
	return entry{ID: d.ID, Path: d.Path, Title: d.Title, MediaType: d.MediaType, Passages: d.Chunks, Tags: list(store.Tags(d.Meta)), Date: store.Date(d.Meta)}
}

func (s *Server) getTool() (tool, error) {
	t := &sdk.Tool{Name: "get_document", Title: "Read a document", Description: getDescription}
	return define(t, false, s.get, func(in schema) {
		in.count("max_chars", 1, maxChars, usualChars)
	})
}

func (s *Server) get(ctx context.Context, _ *sdk.CallToolRequest, in getInput) (*sdk.CallToolResult, *getOutput, error) {
	l, err := s.lease(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer l.Release()
	d, err := l.Document(ctx, in.Document)
	if errors.Is(err, live.ErrNotFound) {
		return nil, nil, fmt.Errorf("there is no document %q; list_documents shows which there are", in.Document)
	}
	if err != nil {
		return nil, nil, s.o.Explain(err)
	}
	out := &getOutput{entry: newEntry(d.Document)}
	if len(d.Chunks) == 0 {
		return result(out.text()), out, nil
	}
	if out.FromPassage, err = in.first(d); err != nil {
		return nil, nil, err
	}
	out.ToPassage = upTo(d, out.FromPassage, cmp.Or(in.MaxChars, usualChars))
	if out.ToPassage < len(d.Chunks) {
		out.NextPassage = out.ToPassage + 1
	}
	begin := d.Chunks[out.FromPassage-1]
	out.Line, out.Page = begin.Line, begin.Page
	out.Text = strings.Trim(answer.Plain(d.Part(out.FromPassage, out.ToPassage)), "\n")
	return result(out.text()), out, nil
}

// first is the passage to begin with.
func (in getInput) first(d *live.Document) (int, error) {
	n := len(d.Chunks)
	switch {
	case in.FromPassage < 0 || in.FromPassage > n:
		return 0, fmt.Errorf("from_passage is %d, but the document has the passages 1 to %d", in.FromPassage, n)
	case in.FromPassage > 0:
		return in.FromPassage, nil
	case in.Page > 0:
		for i, c := range d.Chunks {
			if c.Page >= in.Page {
				return i + 1, nil
			}
		}
		return 0, fmt.Errorf("no text on page %d or behind it; the last page with text is %d", in.Page, d.Chunks[n-1].Page)
	}
	first := 1
	for i, c := range d.Chunks {
		if in.Line > 0 && c.Line > 0 && c.Line <= in.Line {
			first = i + 1
		}
	}
	return first, nil
}

// upTo is the last passage that the text has room for; at least the first.
func upTo(d *live.Document, first, chars int) int {
	last := first
	for last < len(d.Chunks) && utf8.RuneCountInString(d.Part(first, last+1)) <= chars {
		last++
	}
	return last
}

func (out *getOutput) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %q, passages %d to %d of %d\n\n%s\n",
		answer.Place(out.Path, out.Page, out.Line, nil), out.Title, out.FromPassage, out.ToPassage, out.Passages, out.Text)
	if out.NextPassage > 0 {
		fmt.Fprintf(&b, "\n(goes on: get_document with from_passage %d)\n", out.NextPassage)
	}
	return b.String()
}

type listInput struct {
	filters
	Offset int `json:"offset,omitempty" jsonschema:"how many documents to pass over"`
	Limit  int `json:"limit,omitempty" jsonschema:"how many documents at most"`
}

type listOutput struct {
	Total      int     `json:"total" jsonschema:"documents that pass the filters"`
	Documents  []entry `json:"documents"`
	NextOffset int     `json:"next_offset,omitempty" jsonschema:"where to go on; not there at the end of the list"`
}

func (s *Server) listTool() (tool, error) {
	t := &sdk.Tool{Name: "list_documents", Title: "List the notes", Description: listDescription}
	return define(t, false, s.list, func(in schema) {
		in.count("limit", 1, maxList, usualList)
	})
}

func (s *Server) list(ctx context.Context, _ *sdk.CallToolRequest, in listInput) (*sdk.CallToolResult, *listOutput, error) {
	m, err := store.NewMatcher(in.over(s.o.Ask.Search.Filter))
	if err != nil {
		return nil, nil, err
	}
	l, err := s.lease(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer l.Release()
	docs, err := l.Documents(ctx)
	if err != nil {
		return nil, nil, s.o.Explain(err)
	}
	out := &listOutput{Documents: []entry{}}
	limit := cmp.Or(in.Limit, usualList)
	for _, d := range docs {
		if !m.Match(d.Path, d.Meta) {
			continue
		}
		if out.Total >= in.Offset && len(out.Documents) < limit {
			out.Documents = append(out.Documents, newEntry(d))
		}
		out.Total++
	}
	if next := in.Offset + len(out.Documents); next < out.Total {
		out.NextOffset = next
	}
	return result(out.text(in.Offset)), out, nil
}

func (out *listOutput) text(offset int) string {
	var b strings.Builder
	switch {
	case out.Total == 0:
		return "No document passes these filters.\n"
	case len(out.Documents) == 0:
		return fmt.Sprintf("There are only %d documents.\n", out.Total)
	}
	fmt.Fprintf(&b, "documents %d to %d of %d\n", offset+1, offset+len(out.Documents), out.Total)
	for _, d := range out.Documents {
		fmt.Fprintf(&b, "- %s: %s", answer.Plain(d.Path), answer.Plain(d.Title))
		if len(d.Tags) > 0 {
			b.WriteString(" #" + strings.Join(d.Tags, " #"))
		}
		if d.Date != "" {
			b.WriteString(" " + d.Date)
		}
		fmt.Fprintf(&b, " (%d passages, id %s)\n", d.Passages, d.ID)
	}
	if out.NextOffset > 0 {
		fmt.Fprintf(&b, "(goes on: list_documents with offset %d)\n", out.NextOffset)
	}
	return b.String()
}
