// Package browser tests the page of kb serve in a real browser, Chromium without
// a window, against the real kb binary. It is a module of its own, so that what
// drives the browser (chromedp and the 40 packages of the DevTools protocol)
// stands in no go.mod, build or vet of kb itself.
//
//	make browser       the tests
//	make screenshots   pictures of the page, into scripts/browser/shots
//
// axe-core (testdata/axe.min.js.gz: version 4.14.1 from npm, MPL-2.0, unchanged
// but for gzip) checks what a program can check of WCAG 2.2 AA.
package browser
