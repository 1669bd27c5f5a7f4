package chunk

import (
	"path"
	"slices"
	"strings"

	"kb/pkg/markdown"
	"kb/pkg/record"
)

// region is a part of the text that no chunk crosses.
type region struct {
	start, end int
	headings   []string         // path of headings, outermost first
	page       int              // from 1; 0 without pages
	blocks     []markdown.Block // that tile it; nil for plain text
}

// textOf is the document's text, or its pages where another program left the
// text out.
func textOf(doc *record.Document) string {
	if doc.Text != "" || len(doc.Pages) == 0 {
		return doc.Text
	}
	texts := make([]string, len(doc.Pages))
	for i, p := range doc.Pages {
		texts[i] = p.Text
	}
	return strings.Join(texts, record.PageBreak)
}

func regions(doc *record.Document, text string, opt Options) []region {
	switch structure(doc) {
	case "application/pdf":
		return pages(doc, text, opt)
	case "text/markdown":
		matter := markdown.ParseFrontMatter(text)
		body := matter.Body()
		if strings.TrimSpace(text[body:]) == "" {
			return []region{{end: len(text)}}
		}
		if opt.Strategy == Recursive || opt.Strategy == Fixed {
			return []region{{start: body, end: len(text)}}
		}
		return sections(text, body, matter.End)
	}
	return []region{{end: len(text)}}
}

// structure is the media type whose structure the text has.
func structure(doc *record.Document) string {
	switch {
	case len(doc.Pages) > 0:
		return "application/pdf"
	case doc.Converted && doc.MediaType != "text/plain":
		return "text/markdown"
	case doc.MediaType != "":
		return doc.MediaType
	}
	switch strings.ToLower(path.Ext(doc.Path)) {
	case ".md", ".markdown":
		return "text/markdown"
	case ".pdf":
		return "application/pdf"
	}
	return "text/plain"
}

// sections cuts Markdown at its headings. What stands between start and from,
// a broken front matter, is a section of plain text. A heading without text
// of its own joins the section below it, whose path names it anyway.
func sections(text string, start, from int) []region {
	var out []region
	if start < from {
		out = append(out, region{start: start, end: from})
	}
	current := region{start: from, end: from}
	var path []markdown.Block
	bare := false // current holds nothing but headings
	for _, b := range markdown.Blocks(text, from) {
		if b.Kind == markdown.Heading {
			nested := bare && len(path) > 0 && b.Level > path[len(path)-1].Level
			for len(path) > 0 && path[len(path)-1].Level >= b.Level {
				path = path[:len(path)-1]
			}
			path = append(path, b)
			if !nested {
				out = append(out, current)
				current = region{start: b.Start}
			}
			current.headings = titles(path)
			bare = true
		} else {
			bare = false
		}
		current.blocks = append(current.blocks, b)
		current.end = b.End
	}
	out = append(out, current)
	return slices.DeleteFunc(out, func(r region) bool { return r.start == r.end })
}

func titles(path []markdown.Block) []string {
	var out []string
	for _, b := range path {
		if b.Title != "" {
			out = append(out, name(b.Title))
		}
	}
	return out
}
