package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/pkg/record"
)

// forgiving takes the question of a tool by any of its names, and answers
// arguments that do not exist with those that do: a model reads that and tries
// again.
func (s *Server) forgiving(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		call, ok := req.(*sdk.CallToolRequest)
		if !ok {
			return next(ctx, method, req)
		}
		known := s.arguments(call.Params.Name)
		var given map[string]json.RawMessage
		if known == nil || json.Unmarshal(call.Params.Arguments, &given) != nil {
			return next(ctx, method, req)
		}
		if rename(given, known) {
			call.Params.Arguments, _ = json.Marshal(given) // what was JSON is JSON
		}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if !slices.Contains(known, name) {
				out := result(fmt.Sprintf("%s has no argument %q; it takes %s", call.Params.Name, name, strings.Join(known, ", ")))
				out.IsError = true
				return out, nil
			}
		}
		return next(ctx, method, req)
	}
}

// arguments are the names that a tool knows; nil where there is no such tool.
func (s *Server) arguments(name string) []string {
	for _, t := range s.tools {
		if t.name == name {
			return t.arguments
		}
	}
	return nil
}

// rename gives the question its name in this tool.
func rename(given map[string]json.RawMessage, known []string) bool {
	names := record.QuestionFields()
	i := slices.IndexFunc(names, func(n string) bool { return slices.Contains(known, n) })
	if i < 0 || given[names[i]] != nil {
		return false
	}
	for _, other := range names {
		if value, ok := given[other]; ok {
			delete(given, other)
			given[names[i]] = value
			return true
		}
	}
	return false
}
