package answer

import (
	"context"
	"strings"

	"kb/pkg/model"
	"kb/pkg/record"
)

// reply is what a model said to a question of kb's own, not of the user.
type reply struct {
	text  string
	usage *record.Usage // where the server told
	calls []model.ToolCall
}

// listen collects a model's reply, and stops listening once its text is longer
// than limit bytes; 0 is no limit.
func listen(ctx context.Context, g model.Generator, req model.Request, limit int) (r reply, err error) {
	var b strings.Builder
	for ev, err := range g.Generate(ctx, req) {
		if err != nil {
			return reply{}, err
		}
		b.WriteString(ev.Text)
		r.calls = append(r.calls, ev.ToolCalls...)
		if ev.Usage != nil {
			r.usage = ev.Usage
		}
		if limit > 0 && b.Len() > limit {
			break
		}
	}
	r.text = b.String()
	return r, nil
}
