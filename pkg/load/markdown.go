package load

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kb/pkg/markdown"
	"kb/pkg/record"
	"kb/pkg/store"
)

// markdown takes the title, the fields of the front matter and the tags. The text stays
// whole, so that offsets and lines are those of the file: what reads it finds
// the front matter in the same way.
func (f *file) markdown(doc *record.Document, meta map[string]any) (body int) {
	matter := markdown.ParseFrontMatter(doc.Text)
	if matter.Err != nil {
		f.lost("front matter cannot be read and is taken as text: %v", matter.Err)
	}
	for name, value := range matter.Fields {
		meta[fieldName(name, matter.Fields)] = value
	}
	if !understood(meta["date"]) {
		f.lost("date %q in the front matter is not understood, the file's time counts", oneLine(meta["date"]))
	}
	if tags := tagList(meta["tags"], meta["tag"], markdown.Tags(doc.Text, matter.End)); tags != nil {
		meta["tags"] = tags
	}
	if title := oneLine(meta["title"]); title != "" {
		doc.Title = title
	} else if title := markdown.FirstHeading(doc.Text[matter.End:]); title != "" {
		doc.Title = title
	}
	return matter.Body()
}

// fieldName is the name of a field that kb knows as kb writes it, however the
// file does: Title, TAGS. Several spellings of one field stay as they are.
func fieldName(name string, fields map[string]any) string {
	switch lower := strings.ToLower(name); lower {
	case "title", "tags", "tag", "date":
		for other := range fields {
			if other != name && strings.EqualFold(other, name) {
				return name
			}
		}
		return lower
	}
	return name
}

// understood says whether a date of the front matter can be read, or there is
// none.
func understood(date any) bool {
	if date == nil || date == "" {
		return true
	}
	raw, err := json.Marshal(map[string]any{"date": date})
	return err == nil && store.Date(raw) != ""
}

func oneLine(v any) string {
	switch v.(type) {
	case nil, []any, map[string]any:
		return ""
	}
	return strings.Join(strings.Fields(fmt.Sprint(v)), " ")
}

// tagList makes a list of strings of what people write as tags: a list, or
// one string with commas, or with # in front of each. nil where there are none.
func tagList(values ...any) []string {
	var tags []string
	for _, v := range values {
		switch v := v.(type) {
		case nil, map[string]any:
		case []any:
			for _, e := range v {
				tags = append(tags, oneLine(e))
			}
		case []string:
			tags = append(tags, v...)
		case string:
			tags = append(tags, splitTags(v)...)
		default:
			tags = append(tags, oneLine(v))
		}
	}
	var out []string
	for _, tag := range tags {
		tag = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(tag), "#"))
		if len(out) < markdown.MaxTags && tag != "" && !slices.Contains(out, tag) {
			out = append(out, tag)
		}
	}
	return out
}

func splitTags(s string) []string {
	if strings.ContainsAny(s, ",，、") {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",，、", r) })
	}
	if strings.HasPrefix(strings.TrimSpace(s), "#") {
		return strings.Fields(s)
	}
	return []string{s}
}

// Fields of a document's meta that load makes, besides the encoding. They
// travel with its chunks into the index, so that kb status can list them.
const (
	metaConverted = "converted_from" // the format, or the program, that the text was made from, or by
	metaNotes     = "load_notes"     // what the document lost: pages, bytes, its front matter
)

// setMeta writes the fields with their keys sorted.
func (f *file) setMeta(doc *record.Document, meta map[string]any) {
	if len(f.notes) > 0 {
		meta[metaNotes] = f.notes
	}
	if len(meta) == 0 {
		return
	}
	raw, err := json.Marshal(meta)
	if err != nil {
		f.warn("front matter cannot be written as JSON: %v", err)
		return
	}
	doc.Meta = raw
}
