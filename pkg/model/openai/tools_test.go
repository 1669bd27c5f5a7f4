package openai

import (
	"encoding/json"
	"testing"

	"kb/pkg/model"
)

// Servers send tool calls in pieces by index, whole without one, and with
// arguments as an object; a gateway that cannot stream sends one message.
func TestToolCalls(t *testing.T) {
	for name, messages := range map[string][]string{
		"in pieces": {
			`{"choices":[{"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"search","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"query\":"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"search","arguments":"{\"query\":\"two\"}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"one\"}"}}]}}]}`,
		},
		"whole, no index": {
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"search","arguments":"{\"query\":\"one\"}"}},{"id":"b","function":{"name":"search","arguments":"{\"query\":\"two\"}"}}]}}]}`,
		},
		"objects": {
			`{"choices":[{"message":{"content":"","tool_calls":[{"id":"a","function":{"name":"search","arguments":{"query":"one"}}},{"id":"b","function":{"name":"search","arguments":{"query":"two"}}}]},"finish_reason":"tool_calls"}]}`,
		},
	} {
		var calls []model.ToolCall
		for _, m := range messages {
			p, ok := parsePiece([]byte(m))
			if !ok {
				t.Fatal(m)
			}
			calls = mergeCalls(calls, p.calls)
		}
		if len(calls) != 2 {
			t.Fatalf("%s: %+v", name, calls)
		}
		for i, want := range []string{"one", "two"} {
			var args struct{ Query string }
			err := json.Unmarshal([]byte(calls[i].Function.Arguments), &args)
			if err != nil || args.Query != want || calls[i].Function.Name != "search" || calls[i].ID != string(rune('a'+i)) {
				t.Errorf("%s: %+v, %v", name, calls[i], err)
			}
		}
	}
	for _, bad := range []string{`null`, `"x"`, `[null]`, `[{"index":-5}]`, `[{"index":99999999,"function":{"name":"f"}}]`, `[{"function":"f"}]`} {
		if calls := mergeCalls(nil, parseCalls([]byte(bad))); len(calls) > 1 {
			t.Errorf("%s: %+v", bad, calls)
		}
	}
}
