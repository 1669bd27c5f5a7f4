package browser

import (
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// key is a key of the keyboard as the browser is told of it: one event, so that
// a page that keeps the default from happening also keeps the text out.
type key struct {
	name, code, text string
	number           int64
	modifiers        int64
}

// shift is its bit in the protocol's modifiers.
const shift = 8

var (
	enter      = key{name: "Enter", code: "Enter", text: "\r", number: 13}
	shiftEnter = key{name: "Enter", code: "Enter", text: "\r", number: 13, modifiers: shift}
	escape     = key{name: "Escape", code: "Escape", number: 27}
	tabulator  = key{name: "Tab", code: "Tab", number: 9}
	shiftTab   = key{name: "Tab", code: "Tab", number: 9, modifiers: shift}
	slash      = key{name: "/", code: "Slash", text: "/", number: 191}
)

func (p *tab) press(keys ...key) {
	p.t.Helper()
	for _, k := range keys {
		down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: k.name, Code: k.code, Text: k.text,
			WindowsVirtualKeyCode: k.number, Modifiers: k.modifiers}
		_, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, down)
		p.check(err)
		down.Type, down.Text = input.DispatchKeyEventTypeKeyUp, ""
		_, err = chromedp.Call(p.ctx, input.DispatchKeyEvent, down)
		p.check(err)
	}
}

// write enters text into what has the focus.
func (p *tab) write(text string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, input.InsertText, input.InsertTextParams{Text: text})
	p.check(err)
}
