package openai

import (
	"context"
	"errors"

	"kb/pkg/model"
)

// habits are what a server was found to refuse. A refused field is dropped or
// renamed and the call made again, once for each field; it is remembered if
// that helped.
type habits struct {
	renameMaxTokens bool // max_completion_tokens instead of max_tokens
	noTemperature   bool
	noUsage         bool // stream_options
}

// open makes the call, with as little in its body as the server takes.
func (g *Generator) open(ctx context.Context, req model.Request) (*response, error) {
	g.mu.Lock()
	h := g.habits
	g.mu.Unlock()
	for {
		body := g.request(req, h)
		res, err := g.post(ctx, g.endpoint, body)
		if err == nil {
			g.mu.Lock()
			g.habits = h
			g.mu.Unlock()
			return res, nil
		}
		if !h.adapt(err, body) {
			return nil, err
		}
	}
}

func (g *Generator) request(req model.Request, h habits) map[string]any {
	body := map[string]any{"messages": req.Messages, "stream": true}
	if len(req.Tools) > 0 {
		body["tools"] = wireTools(req.Tools)
	}
	if g.cfg.Model != "" {
		body["model"] = g.cfg.Model
	}
	if !h.noUsage {
		body["stream_options"] = map[string]bool{"include_usage": true}
	}
	if g.cfg.Temperature != nil && !h.noTemperature {
		body["temperature"] = *g.cfg.Temperature
	}
	if g.cfg.MaxTokens > 0 {
		name := "max_tokens"
		if h.renameMaxTokens {
			name = "max_completion_tokens"
		}
		body[name] = g.cfg.MaxTokens
	}
	return body
}

// adapt changes the habits after a refusal; false if there is nothing left to
// change. The field that the error names comes before one that its text
// mentions.
func (h *habits) adapt(err error, body map[string]any) bool {
	var api *APIError
	if !errors.As(err, &api) {
		return false
	}
	fields := []string{"stream_options", "temperature", "max_tokens"}
	if _, ok := body[api.Param]; ok {
		fields = []string{api.Param}
	}
	for _, f := range fields {
		if _, sent := body[f]; !sent || !api.refuses(f) {
			continue
		}
		switch f {
		case "stream_options":
			h.noUsage = true
		case "temperature":
			h.noTemperature = true
		case "max_tokens":
			h.renameMaxTokens = true
		default:
			continue
		}
		return true
	}
	return false
}
