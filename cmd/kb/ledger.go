package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kb/pkg/store"
)

// ledger is what became of the documents of an index on their way into it,
// where that was not plain reading. Its lists are sorted by path.
type ledger struct {
	Guessed   []guess      `json:"guessed"`
	Converted []conversion `json:"converted"`
	Lost      []loss       `json:"lost"`
}

// guess is a document whose encoding was not certain.
type guess struct {
	Path     string `json:"path"`
	Encoding string `json:"encoding"`
	From     int64  `json:"from_bytes,omitempty"` // length of the file
}

// conversion is a document whose text was made from the file.
type conversion struct {
	Path string `json:"path"`
	From string `json:"from"` // a format, or the program that did it
}

// loss is a document of which something was left out.
type loss struct {
	Path  string   `json:"path"`
	Notes []string `json:"notes"`
}

// add reads what the meta of a document, made by pkg/load, tells. What a front
// matter says in the same words, but in other types, is passed over.
func (l *ledger) add(d store.Document) {
	var meta map[string]json.RawMessage
	if len(d.Meta) == 0 || json.Unmarshal(d.Meta, &meta) != nil {
		return
	}
	var guessed bool
	if field(meta, "encoding_guessed", &guessed) && guessed {
		g := guess{Path: d.Path}
		field(meta, "encoding", &g.Encoding)
		field(meta, "encoding_guessed_from", &g.From)
		l.Guessed = append(l.Guessed, g)
	}
	c := conversion{Path: d.Path}
	if field(meta, "converted_from", &c.From) && c.From != "" {
		l.Converted = append(l.Converted, c)
	}
	n := loss{Path: d.Path}
	if field(meta, "load_notes", &n.Notes) && len(n.Notes) > 0 {
		l.Lost = append(l.Lost, n)
	}
}

// field reads a field into v; false where there is none of v's type.
func field(meta map[string]json.RawMessage, name string, v any) bool {
	raw, ok := meta[name]
	return ok && json.Unmarshal(raw, v) == nil
}

// shape writes empty lists as [] rather than null.
func (l ledger) shape() ledger {
	l.Guessed = append([]guess{}, l.Guessed...)
	l.Converted = append([]conversion{}, l.Converted...)
	l.Lost = append([]loss{}, l.Lost...)
	return l
}

func (l ledger) print(e *env) {
	if len(l.Guessed) > 0 {
		fmt.Fprintf(e.stdout, "\nencoding guessed (fix it with --encoding if it is wrong):\n")
		for _, g := range l.Guessed {
			fmt.Fprintf(e.stdout, "  %s: %s, from %d bytes\n", plainLine(g.Path), plainLine(g.Encoding), g.From)
		}
	}
	if len(l.Lost) > 0 {
		fmt.Fprintf(e.stdout, "\nread in part:\n")
		for _, n := range l.Lost {
			fmt.Fprintf(e.stdout, "  %s\n", e.style().indented(plainLine(n.Path)+": "+plainLine(strings.Join(n.Notes, "; ")), 4))
		}
	}
	if len(l.Converted) > 0 {
		fmt.Fprintln(e.stdout, "\n"+e.style().wrapped("converted, so without line numbers: "+plainLine(l.conversions())))
	}
}

// conversions counts the converted documents by what they were.
func (l ledger) conversions() string {
	counts := map[string]int{}
	for _, c := range l.Converted {
		counts[c.From]++
	}
	var parts []string
	for _, from := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s from %s", count(counts[from], "document"), from))
	}
	return strings.Join(parts, ", ")
}
