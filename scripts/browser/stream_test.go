package browser

import (
	"net/http"
	"strconv"
	"testing"
)

func quote(s string) string { return strconv.Quote(s) }

// shows says whether the newest answer holds a text.
func shows(text string) string {
	return "document.querySelector('.turn:last-child .answer').textContent.includes(" + quote(text) + ")"
}

// TestStream follows an answer piece by piece: each is on the page before the
// model writes the next one.
func TestStream(t *testing.T) {
	m := newModel(t)
	k := serve(t, someNotes(), m.settings()...)
	p := open(t, k.origin, desktop)
	eval[bool](p, `(() => {
		window.shifted = 0;
		new PerformanceObserver((list) => { for (const e of list.getEntries()) window.shifted += e.value; }).observe({ type: 'layout-shift' });
		return true;
	})()`)

	r := m.next()
	p.ask("上海的酒店标准是多少？ What may a hotel in Shanghai cost?")
	p.wait("document.querySelectorAll('.turn:last-child .source').length > 0")
	p.want("document.querySelector('#send').hidden", "true")
	for _, piece := range []string{"A hotel in Shanghai may cost ", "**500 yuan** a night [1]. ", "每晚不超过 500 元 [1]。\n\n", "- It needs three approvals above that [1].\n"} {
		r.pieces <- piece
		p.wait(shows(map[string]string{
			"**500 yuan** a night [1]. ":                   "500 yuan a night",
			"每晚不超过 500 元 [1]。\n\n":                         "每晚不超过 500 元",
			"- It needs three approvals above that [1].\n": "It needs three approvals",
		}[piece]))
		p.want("document.querySelector('.turn:last-child').classList.contains('settled')", "false")
	}
	first := "document.querySelector('.turn:last-child .answer p')"
	eval[bool](p, "(window.before = "+first+", true)")
	close(r.pieces)
	p.settled()
	p.want("window.before === "+first+"", "true") // what did not change was not drawn again
	p.want("document.querySelector('.turn:last-child .answer strong').textContent", "500 yuan")
	p.want("document.querySelector('.turn:last-child .unsupported').textContent.includes('three approvals')", "true")
	p.want("document.querySelector('.turn:last-child .why').textContent.startsWith('✗ ')", "true")
	p.want("document.querySelectorAll('.turn:last-child .failed-note').length", "1")
	p.want("document.querySelector('#announce').textContent.includes('Answer complete.')", "true")
	p.want("window.shifted < 0.02", "true")
}

// TestConversation asks a follow-up, reloads the page, and begins anew.
func TestConversation(t *testing.T) {
	m := newModel(t)
	k := serve(t, someNotes(), m.settings()...)
	p := open(t, k.origin, desktop)
	m.says("A hotel in Shanghai may cost 500 yuan a night [1].")
	p.ask("What may a hotel in Shanghai cost?")
	p.settled()
	m.says("What may a hotel outside Shanghai cost a night?")
	m.says("Elsewhere the limit is 400 yuan a night [1].")
	p.ask("And elsewhere?")
	p.settled()
	p.wait(shows("400 yuan"))
	p.want("document.querySelector('.turn:last-child .rewritten').textContent", "searched for: What may a hotel outside Shanghai cost a night?")

	p.reload()
	p.want("[...document.querySelectorAll('.question')].map((q) => q.lastChild.textContent).join('|')", "What may a hotel in Shanghai cost?|And elsewhere?")
	p.want(shows("400 yuan"), "true")
	p.want("document.querySelectorAll('.turn:last-child .cite').length", "1")

	// a claim that does not hold is marked after a reload, too
	m.says("What may a night in a hotel in Shanghai cost?")
	m.says("A hotel in Shanghai may cost 950 yuan a night [1].")
	p.ask("And there?")
	p.settled()
	p.wait("document.querySelector('.turn:last-child .unsupported')")
	p.reload()
	p.wait("document.querySelector('.turn:last-child .unsupported')")

	p.click("#new-conversation")
	p.want("document.querySelectorAll('.turn').length", "0")
	p.reload()
	p.want("document.querySelectorAll('.turn').length", "0")
}

// TestStop stops an answer; the model is told to stop, too.
func TestStop(t *testing.T) {
	m := newModel(t)
	k := serve(t, someNotes(), m.settings()...)
	p := open(t, k.origin, desktop)
	r := m.next()
	p.ask("What may a hotel in Shanghai cost?")
	r.pieces <- "A hotel in Shanghai may cost "
	p.wait(shows("A hotel in Shanghai may"))
	p.click("#stop")
	p.settled()
	<-r.aborted
	p.want(shows("A hotel in Shanghai may"), "true")
	p.want("document.querySelector('.turn:last-child .notes').textContent", "Stopped.")

	m.says("It may cost 500 yuan a night [1].")
	p.click(".turn:last-child .retry")
	p.wait(shows("500 yuan"))
	p.settled()
	p.want("document.querySelectorAll('.turn').length", "1")
}

// TestFailures shows what happened and offers to try again.
func TestFailures(t *testing.T) {
	m := newModel(t)
	k := serve(t, someNotes(), m.settings()...)
	p := open(t, k.origin, desktop)
	p.expect("Failed to load resource")
	m.fails(http.StatusUnauthorized)
	p.ask("What may a hotel in Shanghai cost?")
	p.settled()
	p.want("document.querySelector('.turn:last-child .error').textContent.startsWith('The model did not answer: ')", "true")

	k.stop()
	p.click(".turn:last-child .retry")
	p.settled()
	p.want("document.querySelector('.turn:last-child .error').textContent", "The server cannot be reached. Is kb serve still running?")
	p.want("document.querySelectorAll('.retry').length", "1")
}

// TestCut keeps what was written when the server dies.
func TestCut(t *testing.T) {
	m := newModel(t)
	k := serve(t, someNotes(), m.settings()...)
	p := open(t, k.origin, desktop)
	p.expect("Failed to load resource")
	r := m.next()
	p.ask("What may a hotel in Shanghai cost?")
	r.pieces <- "A hotel in Shanghai may cost "
	p.wait(shows("A hotel in Shanghai may"))
	k.cmd.Process.Kill()
	p.settled()
	p.want(shows("A hotel in Shanghai may"), "true")
	p.want("document.querySelector('.turn:last-child .error').textContent", "The connection broke before the answer was complete.")
	p.want("document.querySelectorAll('.turn:last-child .retry').length", "1")
}

// TestHostile lets note and model write HTML, scripts, pictures and links: all of
// it is text. That no request leaves and no script runs is watched in each test.
func TestHostile(t *testing.T) {
	m := newModel(t)
	k := serve(t, map[string]string{"widgets.md": hostile}, m.settings()...)
	p := open(t, k.origin, desktop)
	m.says("The blue widget costs 12 coins [1]. <img src=http://example.invalid/a.png onerror=\"document.title='taken'\"> " +
		"![picture](http://example.invalid/b.png) [home](javascript:alert(1)) [site](https://example.invalid/) <script>document.title='taken'</script>")
	p.ask("What does the blue widget cost?")
	p.settled()
	p.want("document.querySelectorAll('.turn img, .turn script').length", "0")
	p.want("[...document.querySelectorAll('.turn a')].every((a) => /^https?:/.test(a.href) && a.rel === 'noopener noreferrer')", "true")
	p.click(".turn:last-child .cite")
	p.wait("document.querySelector('#panel mark')")
	p.want("document.querySelectorAll('#panel img, #panel script, #panel a, #panel b').length", "0")
	p.want("document.querySelector('#panel .document').textContent.includes('<b>bold</b>')", "true")
	p.want("document.title", "kb")
}
