package mcp

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/pkg/store"
)

// schema is the schema of an input, with limits that Go's types do not show.
type schema struct{ *jsonschema.Schema }

func schemaOf[T any]() (schema, error) {
	s, err := jsonschema.For[T](nil)
	if err == nil {
		neverNull(s)
	}
	return schema{s}, err
}

// neverNull takes the null out of "array or null": clients exist that do not
// read a list of types, and what could be null is left out instead.
func neverNull(s *jsonschema.Schema) {
	if i := slices.Index(s.Types, "null"); i >= 0 && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1-i], nil
	}
	for _, p := range s.Properties {
		neverNull(p)
	}
	if s.Items != nil {
		neverNull(s.Items)
	}
}

// count limits a number, and names what it is if it is not given.
func (s schema) count(name string, least, most, usual int) {
	p := s.Properties[name]
	low, high := float64(least), float64(most)
	p.Minimum, p.Maximum = &low, &high
	p.Default, _ = json.Marshal(usual) // a number always has a form
}

// text limits a text, in characters.
func (s schema) text(name string, most int) { s.Properties[name].MaxLength = &most }

// oneOf names the values of a text.
func (s schema) oneOf(name string, values ...string) {
	for _, v := range values {
		s.Properties[name].Enum = append(s.Properties[name].Enum, v)
	}
}

// define makes a tool that only reads. It asks for its input by a schema that
// limit may narrow.
func define[In, Out any](t *sdk.Tool, open bool, h sdk.ToolHandlerFor[In, *Out], limit func(schema)) (tool, error) {
	in, err := schemaOf[In]()
	if err != nil {
		return tool{}, err
	}
	out, err := schemaOf[Out]()
	if err != nil {
		return tool{}, err
	}
	limit(in)
	t.InputSchema, t.OutputSchema = in.Schema, out.Schema
	harm := false
	t.Annotations = &sdk.ToolAnnotations{Title: t.Title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &harm, OpenWorldHint: &open}
	return tool{t.Name, slices.Sorted(maps.Keys(in.Properties)), func(srv *sdk.Server) { sdk.AddTool(srv, t, h) }}, nil
}

// result is the text of a tool's result; the object goes beside it.
func result(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// filters choose documents.
type filters struct {
	Path  []string `json:"path,omitempty" jsonschema:"only documents in one of these folders, or whose path or name matches one of these globs: [\"notes/runbooks\"], [\"*.pdf\"], [\"notes/**/2024-*\"]"`
	Tag   []string `json:"tag,omitempty" jsonschema:"only documents that have all of these tags"`
	Since string   `json:"since,omitempty" jsonschema:"only documents of this date or later: 2026-09-15, 2026-09 or 2026"`
	Until string   `json:"until,omitempty" jsonschema:"only documents of this date or earlier"`
}

// over are the filters, and those of the command where there is none.
func (f filters) over(base store.Filter) store.Filter {
	if f.Path != nil {
		base.Paths = f.Path
	}
	if f.Tag != nil {
		base.Tags = f.Tag
	}
	if f.Since != "" {
		base.Since = f.Since
	}
	if f.Until != "" {
		base.Until = f.Until
	}
	return base
}

// list is never nil, so that JSON has an empty list.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return slices.Clip(s)
}
