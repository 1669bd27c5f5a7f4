package load

import (
	"errors"
	"strings"
	"unicode/utf8"

	"kb/pkg/load/charset"
	"kb/pkg/load/docx"
	"kb/pkg/load/html"
	"kb/pkg/record"
)

// readHTML reads a web page. The encoding that it says it is in outranks a
// guess, but not what the bytes show to be UTF-8: many pages are wrong.
func (r *Reader) readHTML(f *file) record.Record {
	encoding := r.opt.Encoding
	if said := html.Encoding(f.data); encoding == "" && charset.Known(said) && !utf8.Valid(f.data) && !strings.HasPrefix(strings.ToLower(said), "utf") {
		encoding = said
	}
	t, skipped := f.decode(encoding)
	if skipped != nil {
		return skipped
	}
	page := html.Convert(t.Text)
	if strings.TrimSpace(page.Markdown) == "" {
		return f.skip(record.ClassEmpty, "no text in the page")
	}
	meta := make(map[string]any)
	for _, name := range []string{"author", "date"} {
		if page.Meta[name] != "" {
			meta[name] = page.Meta[name]
		}
	}
	f.setEncoding(meta, t)
	return f.converted("HTML", page.Markdown, page.Title, page.Meta["keywords"], meta)
}

// readDOCX reads a Word document.
func (f *file) readDOCX() record.Record {
	found, err := docx.Convert(f.data)
	switch {
	case errors.Is(err, docx.ErrPassword):
		return f.skip(record.ClassPassword, "needs a password")
	case errors.Is(err, docx.ErrTooLarge):
		return f.skip(record.ClassTooLarge, err.Error())
	case err != nil:
		return f.skip(record.ClassDamaged, err.Error())
	case strings.TrimSpace(found.Markdown) == "":
		return f.skip(record.ClassEmpty, "no text in the document")
	}
	meta := make(map[string]any)
	if found.Author != "" {
		meta["author"] = found.Author
	}
	return f.converted("Word", found.Markdown, found.Title, found.Keywords, meta)
}

// converted is a document whose text is Markdown that was made of the file,
// which was in the format named.
func (f *file) converted(from, text, title, keywords string, meta map[string]any) record.Record {
	doc := f.document(text)
	doc.Converted = true
	if title != "" {
		doc.Title = title
	}
	if tags := tagList(keywords); tags != nil {
		meta["tags"] = tags
	}
	meta[metaConverted] = from
	f.setMeta(doc, meta)
	return doc
}
