package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestToken asks for the token, again for a wrong one, and keeps it over a reload.
func TestToken(t *testing.T) {
	k := serve(t, someNotes(), "KB_TOKEN=correct-horse-battery")
	p := newTab(t, k.origin, desktop)
	p.expect("status of 401")
	p.do(chromedp.Navigate(k.origin))
	for _, token := range []string{"wrong", "correct-horse-battery"} {
		p.wait("document.querySelector('#token').open")
		p.want("document.activeElement.id", "token-input")
		p.write(token)
		p.press(enter)
	}
	p.ready()
	p.want("document.querySelectorAll('.row').length", "2")
	p.reload()
	p.want("document.querySelectorAll('.row').length", "2")
}

// TestTokenInFragment takes the token out of the address.
func TestTokenInFragment(t *testing.T) {
	k := serve(t, someNotes(), "KB_TOKEN=correct-horse-battery")
	p := newTab(t, k.origin, desktop)
	p.do(chromedp.Navigate(k.origin + "/#token=correct-horse-battery"))
	p.ready()
	p.want("document.querySelectorAll('.row').length", "2")
	p.want("location.href", k.origin+"/")
}
