package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	"kb/pkg/model"
)

func wireTools(tools []model.Tool) []any {
	out := make([]any, len(tools))
	for i, t := range tools {
		out[i] = map[string]any{"type": "function", "function": t}
	}
	return out
}

// callPart is what one message of a stream says of a tool call. Servers send
// the name first and the arguments in pieces, by the index of the call; some
// send calls whole and without an index.
type callPart struct {
	index     *int
	id, name  string
	arguments string
}

// parseCalls reads the calls of a message; what is none is left out.
func parseCalls(raw json.RawMessage) []callPart {
	var wire []struct {
		Index    *int            `json:"index"`
		ID       json.RawMessage `json:"id"`
		Function struct {
			Name      json.RawMessage `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &wire) != nil {
		return nil
	}
	var out []callPart
	for _, w := range wire {
		p := callPart{index: w.Index, id: scalar(w.ID), name: scalar(w.Function.Name)}
		if a := bytes.TrimSpace(w.Function.Arguments); len(a) > 0 && a[0] == '{' {
			p.arguments = string(a) // an object instead of its text
		} else {
			p.arguments = scalar(a)
		}
		out = append(out, p)
	}
	return out
}

// mergeCalls adds parts to the calls that came so far. A part with an index
// belongs to the call there, one without begins a call if it has a name, and
// else goes on with the last.
func mergeCalls(calls []model.ToolCall, parts []callPart) []model.ToolCall {
	for _, p := range parts {
		at := len(calls) - 1
		switch {
		case p.index != nil && *p.index >= 0 && *p.index <= len(calls):
			at = *p.index
		case p.name != "" || at < 0:
			at = len(calls)
		}
		if at == len(calls) {
			calls = append(calls, model.ToolCall{ID: fmt.Sprintf("call_%d", at), Type: "function"})
		}
		c := &calls[at]
		c.ID = pick(p.id, c.ID)
		c.Function.Name += p.name
		c.Function.Arguments += p.arguments
	}
	return calls
}
