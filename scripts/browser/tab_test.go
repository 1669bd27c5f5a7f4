package browser

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a condition may take. Nothing waits for it that goes well.
const patience = 30 * time.Second

var chrome context.Context // the browser that all tabs share

func startChrome() (stop func(), err error) {
	opts := chromedp.DefaultExecAllocatorOptions[:]
	if os.Getuid() == 0 {
		opts = append(slices.Clone(opts), chromedp.NoSandbox) // Chromium refuses to run as root with it
	}
	ctx, cancelAllocator := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	chrome = ctx
	return func() { cancelBrowser(); cancelAllocator() }, chromedp.Do(ctx)
}

// look is how a page is looked at.
type look struct {
	width, height int64
	language      string // of navigator.language
	dark, calm    bool   // preferences of the reader
}

var desktop = look{width: 1440, height: 900, language: "en-US", calm: true}

// tab is a browser tab with storage of its own, which notes what must not
// happen: requests of other hosts, errors in the console, broken rules of the
// content security policy.
type tab struct {
	t      *testing.T
	ctx    context.Context
	origin string

	mu       sync.Mutex
	requests []string // of other hosts
	problems []string // console, log and exceptions
	expected []string // parts of problems that a test provokes
}

// open opens the page of a server.
func open(t *testing.T, origin string, l look) *tab {
	t.Helper()
	p := newTab(t, origin, l)
	p.do(chromedp.Navigate(origin))
	p.ready()
	return p
}

// newTab is an empty tab for the page of a server.
func newTab(t *testing.T, origin string, l look) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chrome, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, origin: origin}
	p.check(chromedp.Listen(ctx, p.note))
	t.Cleanup(p.wantClean)
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	p.check(err)
	p.check(watchPolicy(ctx))
	p.look(l)
	return p
}

// watchPolicy makes each broken rule an error of the console, from the first line
// of the page on.
func watchPolicy(ctx context.Context) error {
	_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI));`,
	})
	return err
}

func (p *tab) look(l look) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(l.width, l.height))
	media := []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: choose(l.dark, "dark", "light")},
		{Name: "prefers-reduced-motion", Value: choose(l.calm, "reduce", "no-preference")},
	}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: media})
	p.check(err)
	agent := eval[string](p, "navigator.userAgent")
	_, err = chromedp.Call(p.ctx, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent, AcceptLanguage: l.language})
	p.check(err)
}

func choose(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// note is called for each event of the tab.
func (p *tab) note(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, p.origin+"/") && !strings.HasPrefix(url, "data:") {
			p.requests = append(p.requests, url)
		}
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, e.ExceptionDetails.Text+" "+describe(e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.problems = append(p.problems, "console: "+describeAll(e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			p.problems = append(p.problems, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

func describe(o *runtime.RemoteObject) string {
	if o == nil {
		return ""
	}
	return o.Description + string(o.Value)
}

func describeAll(objects []*runtime.RemoteObject) string {
	var b strings.Builder
	for _, o := range objects {
		b.WriteString(describe(o) + " ")
	}
	return b.String()
}

// expect allows problems that hold a text: a test provokes them.
func (p *tab) expect(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, part)
}

func (p *tab) wantClean() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) > 0 {
		p.t.Errorf("requests left for other hosts: %q", p.requests)
	}
	for _, problem := range p.problems {
		if !slices.ContainsFunc(p.expected, func(part string) bool { return strings.Contains(problem, part) }) {
			p.t.Errorf("the page complains: %s", problem)
		}
	}
}

func (p *tab) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	p.check(chromedp.Do(ctx, steps...))
}

// eval runs an expression in the page; a promise is waited for.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression is true.
func (p *tab) wait(expression string) {
	p.t.Helper()
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingTimeout(patience)))
	if err != nil {
		p.t.Fatalf("waiting for %s: %v\nthe page: %s", expression, err, eval[string](p, "document.body.innerText"))
	}
}

func (p *tab) ready() {
	p.t.Helper()
	p.wait("document.body.classList.contains('ready')")
}

func (p *tab) reload() {
	p.t.Helper()
	p.do(chromedp.Reload())
	p.ready()
}

// want compares what an expression gives.
func (p *tab) want(expression, want string) {
	p.t.Helper()
	if got := eval[string](p, "String("+expression+")"); got != want {
		p.t.Errorf("%s = %q, want %q", expression, got, want)
	}
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

func focus(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Focus(chromedp.CSS(selector))
}

// ask types a question and sends it with Enter.
func (p *tab) ask(question string) {
	p.t.Helper()
	p.do(focus("#question"))
	p.write(question)
	p.press(enter)
}

// settled waits for the end of the newest answer.
func (p *tab) settled() {
	p.t.Helper()
	p.wait("document.querySelector('.turn:last-child')?.classList.contains('settled')")
}

// shot takes a picture of the window.
func (p *tab) shot(file string) {
	p.t.Helper()
	eval[bool](p, "document.fonts.ready.then(() => true)")
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	p.check(err)
	p.check(os.WriteFile(file, png, 0o644))
}
