package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"kb/pkg/record"
)

// piece is what one message of a stream says, or a whole completion. Only what
// is needed is decoded: servers disagree about the types of the rest.
type piece struct {
	text      string
	reasoning string
	finish    string
	usage     *record.Usage
	calls     []callPart
	whole     bool // it is a completion, not a part of one
	failed    bool // it is an error, whatever else it holds
}

type wireChunk struct {
	Choices []wireChoice    `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type wireChoice struct {
	Delta        *wireMessage    `json:"delta"`
	Message      *wireMessage    `json:"message"`
	Text         json.RawMessage `json:"text"`
	FinishReason json.RawMessage `json:"finish_reason"`
}

type wireMessage struct {
	Content          json.RawMessage `json:"content"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
}

// parsePiece reads a message; false if it is not an object of JSON.
func parsePiece(data []byte) (piece, bool) {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return piece{}, false
	}
	var w wireChunk
	if json.Unmarshal(data, &w) != nil {
		return piece{}, false
	}
	p := piece{failed: isFault(object), usage: parseUsage(w.Usage)}
	if len(w.Choices) == 0 {
		return p, true
	}
	choice := w.Choices[0]
	p.finish = scalar(choice.FinishReason)
	p.text = scalar(choice.Text)
	p.whole = choice.Message != nil
	for _, m := range []*wireMessage{choice.Message, choice.Delta} {
		if m == nil {
			continue
		}
		text, thinking := content(m.Content)
		p.text += text
		p.calls = append(p.calls, parseCalls(m.ToolCalls)...)
		p.reasoning += thinking + pick(scalar(m.ReasoningContent), scalar(m.Reasoning))
	}
	return p, true
}

// isFault tells an error object from a message: it has an error that is more
// than null, or no choices but a message.
func isFault(object map[string]json.RawMessage) bool {
	switch e := strings.TrimSpace(string(object["error"])); e {
	case "", "null", "false", `""`, "{}":
	default:
		return true
	}
	if _, ok := object["choices"]; ok {
		return false
	}
	for _, key := range []string{"message", "detail", "msg", "error_message", "error_msg"} {
		if f, ok := parseFault(object[key]); ok && f.message != "" {
			return true
		}
	}
	return scalar(object["object"]) == "error"
}

// content is a string, or a list of parts of which some are reasoning.
func content(raw json.RawMessage) (text, thinking string) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		return scalar(raw), ""
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", ""
	}
	for _, p := range parts {
		text += scalar(p.Text)
		inner, _ := content(p.Thinking)
		thinking += inner
	}
	return text, thinking
}

func parseUsage(raw json.RawMessage) *record.Usage {
	var u *struct {
		Prompt     json.Number `json:"prompt_tokens"`
		Completion json.Number `json:"completion_tokens"`
	}
	if json.Unmarshal(raw, &u) != nil || u == nil {
		return nil
	}
	prompt, _ := u.Prompt.Int64()
	completion, _ := u.Completion.Int64()
	if prompt == 0 && completion == 0 {
		return nil
	}
	return &record.Usage{PromptTokens: int(prompt), CompletionTokens: int(completion)}
}
