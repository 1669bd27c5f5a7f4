package browser

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestKeyboard does everything without a pointer.
func TestKeyboard(t *testing.T) {
	k := serve(t, someNotes())
	p := open(t, k.origin, desktop)
	p.want("document.activeElement.id", "question")
	p.write("What may a hotel")
	p.press(shiftEnter)
	p.write("in Shanghai cost?")
	p.want("document.querySelectorAll('.turn').length", "0")
	p.press(enter)
	p.settled()
	p.want("document.activeElement.id + document.activeElement.value", "question")

	p.press(shiftTab) // the way back up: the sources, then the citations
	for eval[string](p, "document.activeElement.className") != "cite" {
		if eval[string](p, "document.activeElement.tagName") == "BODY" {
			t.Fatal("no citation on the way of Shift + Tab")
		}
		p.press(shiftTab)
	}
	p.want("document.activeElement.matches(':focus-visible') && getComputedStyle(document.activeElement).outlineStyle", "solid")
	p.press(enter)
	p.wait("document.querySelector('#panel mark')")
	p.press(escape)
	p.want("document.activeElement.className", "cite")
	p.press(slash)
	p.want("document.activeElement.id + document.activeElement.value", "question")
	p.press(slash)
	p.want("document.activeElement.value", "/")

	eval[bool](p, "(document.querySelector('.row-delete').focus(), true)")
	p.press(enter)
	p.wait("document.querySelector('#confirm').open")
	p.want("document.activeElement.value", "no") // the harmless button comes first
	p.press(escape)
	p.want("document.querySelector('#confirm').open", "false")
	p.want("document.querySelectorAll('.row').length", "2")
}

// TestInputMethod sends nothing for an Enter that chooses a word.
func TestInputMethod(t *testing.T) {
	k := serve(t, someNotes())
	p := open(t, k.origin, desktop)
	p.write("建议每天")
	eval[bool](p, `document.querySelector('#question').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }))`)
	p.want("document.querySelectorAll('.turn').length", "0")
	p.want("document.querySelector('#question').value", "建议每天")
}

// TestLanguage follows the browser's language and keeps the reader's choice; what
// notes and answers say keeps its own.
func TestLanguage(t *testing.T) {
	k := serve(t, someNotes())
	chinese := desktop
	chinese.language = "zh-CN"
	p := open(t, k.origin, chinese)
	p.want("document.documentElement.lang", "zh-CN")
	p.want("document.querySelector('#send').textContent", "提问")
	p.ask("What may a hotel in Shanghai cost a night?")
	p.settled()
	p.want("document.querySelector('.answer').lang", "en")
	p.want("document.querySelector('.side h3').textContent", "来源")
	p.click("#language")
	p.want("document.documentElement.lang", "en")
	p.want("document.querySelector('.side h3').textContent", "Sources")
	p.ask("建议每天学习多久？")
	p.settled()
	p.want("document.querySelector('.turn:last-child .answer').lang", "zh-CN")
	p.reload()
	p.want("document.querySelector('#send').textContent", "Ask")
}

// TestTheme follows the system and keeps the reader's choice.
func TestTheme(t *testing.T) {
	k := serve(t, someNotes())
	dark := desktop
	dark.dark = true
	p := open(t, k.origin, dark)
	paper := "getComputedStyle(document.documentElement).backgroundColor"
	night := eval[string](p, paper)
	p.click("#theme")
	day := eval[string](p, paper)
	if night == day {
		t.Errorf("light and dark are both %s", day)
	}
	p.reload()
	p.want(paper, day)
	p.click("#theme")
	p.want(paper, night)
}

//go:embed testdata/axe.min.js.gz
var axe []byte

// TestAccessibility lets axe look at each state of the page, light and dark, wide
// and narrow; and nothing may need scrolling sideways at 320 pixels.
func TestAccessibility(t *testing.T) {
	script := unzip(t, axe)
	m := newModel(t)
	k := serve(t, someNotes(), m.settings()...)
	for _, l := range []look{desktop, {1440, 900, "zh-CN", true, true}, {320, 640, "en-US", false, true}, {320, 640, "zh-CN", true, true}} {
		t.Run(fmt.Sprintf("%d %s dark=%t", l.width, l.language, l.dark), func(t *testing.T) {
			p := open(t, k.origin, l)
			eval[any](p, script+"; null")
			p.accessible("welcome")
			m.says("A hotel in Shanghai may cost **500 yuan** a night [1]. It needs three approvals [1].\n\n1. Book `early`.\n\n```sh\nkb ask\n```\n\n| a | b |\n| - | - |\n| 1 | 2 [1] |\n")
			p.ask("What may a hotel in Shanghai cost?")
			p.settled()
			p.accessible("answer")
			p.click(".turn:last-child .cite")
			p.wait("document.querySelector('#panel mark')")
			p.accessible("panel")
			p.press(escape)
			p.click("#new-conversation")
			p.ask("Who won the chess championship in 1972?")
			p.settled()
			p.accessible("refusal")
			if l.width < 1280 {
				p.click("#documents-toggle")
			}
			p.accessible("documents")
			eval[bool](p, "(document.querySelector('.row-delete').click(), true)")
			p.accessible("question before deleting")
		})
	}
}

func unzip(t *testing.T, data []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// accessible wants no complaint of axe and no scrolling sideways.
func (p *tab) accessible(state string) {
	p.t.Helper()
	complaints := eval[[]string](p, `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
		.then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.html.slice(0, 160) + ' ' + n.failureSummary.replaceAll('\n', ' '))))`)
	if len(complaints) > 0 {
		p.t.Errorf("%s:\n%s", state, strings.Join(complaints, "\n"))
	}
	if wide := eval[int](p, "document.scrollingElement.scrollWidth - innerWidth"); wide > 0 {
		p.t.Errorf("%s: %d pixels too wide", state, wide)
	}
}
