package html

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// leftOut says whether an element holds nothing to read.
func leftOut(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Canvas, atom.Iframe, atom.Object, atom.Audio, atom.Video,
		atom.Input, atom.Button, atom.Select, atom.Textarea, atom.Datalist, atom.Noframes, atom.Noembed, atom.Rt, atom.Rp:
		return true
	}
	return false
}

// hidden says whether an element is not shown. Those whose end tag may be left
// out are taken anyway, or more than they might be lost.
func hidden(tag atom.Atom, attr attributes) bool {
	switch tag {
	case atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Html, atom.Body:
		return false
	}
	_, is := attr["hidden"]
	style := strings.ReplaceAll(attr["style"], " ", "")
	return is && attr["hidden"] != "until-found" || attr["aria-hidden"] == "true" || strings.Contains(style, "display:none")
}

// isNoise says whether an element names itself as a part of a page that
// surrounds its text.
func isNoise(tag atom.Atom, attr attributes) bool {
	switch tag {
	case atom.Nav:
		return true
	case atom.Html, atom.Body, atom.Main, atom.Article, atom.Table, atom.Tr, atom.Pre, atom.Code, atom.P, atom.Li, atom.Dt, atom.Dd:
		return false
	}
	switch attr["role"] {
	case "navigation", "banner", "contentinfo", "search", "menu", "menubar", "dialog", "alertdialog":
		return true
	}
	if noiseName(attr["id"]) {
		return true
	}
	for class := range strings.FieldsSeq(attr["class"]) {
		if noiseName(class) {
			return true
		}
	}
	return false
}

func noiseName(name string) bool {
	switch strings.ToLower(name) {
	case "nav", "navbar", "navigation", "menu", "sidebar", "breadcrumb", "breadcrumbs", "footer", "site-footer", "site-header", "site-nav",
		"toc", "table-of-contents", "cookie-banner", "cookie-notice", "cookie-consent", "ads", "advertisement", "share-buttons", "social-share",
		"pagination", "pager", "skip-link", "skip-to-content", "screen-reader-text", "gutter", "lineno", "linenos", "headerlink", "mw-editsection":
		return true
	}
	return false
}

// block says whether an element begins and ends a block of text.
func block(tag atom.Atom) bool {
	switch tag {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center, atom.Dd, atom.Details, atom.Dialog,
		atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Header, atom.Hgroup,
		atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Search, atom.Section,
		atom.Summary, atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Ul, atom.Option, atom.Optgroup:
		return true
	}
	return false
}
