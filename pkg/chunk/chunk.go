// Package chunk is the second stage: it cuts documents into passages that are
// small enough to embed and large enough to be understood.
//
// A document falls into regions that no chunk crosses: the sections below its
// headings in Markdown, the pages of a PDF and the sections on each, or the
// whole text. A region falls
// into units, which are cut only where they are larger than a chunk: sentences,
// blocks of code, rows of a table. Units are packed, in order, up to the size;
// the next chunk begins with the end of the one before. All of it takes linear
// time and looks at a few chunks' worth of text at once.
//
//	size 21, overlap 12:  "One two. Three four. Five six."
//	→ "One two. Three four."    two sentences fit, the third does not
//	→ "Three four. Five six."   the end comes again, from a sentence's beginning
//
// Where no whole sentence fits into the overlap, it begins with a word, or with
// any character.
package chunk

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"
	"unicode/utf8"

	"kb/pkg/record"
)

// Strategies.
const (
	Markdown  = "markdown"  // by headings or pages, then blocks and sentences
	Recursive = "recursive" // by blank line, line, 。, ，, space, character
	Fixed     = "fixed"     // every so many characters
)

// Defaults of the options, in characters.
const (
	DefaultSize    = 500
	DefaultOverlap = 80
)

// Options are settings of the stage. Sizes count characters (Unicode code
// points), white space at the edges of a chunk left out.
type Options struct {
	Strategy string // "": [Markdown]
	Size     int    // most characters of a chunk, at least 1
	Overlap  int    // most characters that it repeats of the chunk before, less than Size
}

// Validate says which option cannot be used.
func (o Options) Validate() error {
	switch o.Strategy {
	case "", Markdown, Recursive, Fixed:
	default:
		return fmt.Errorf("unknown chunking strategy %q, it is one of markdown, recursive, fixed", o.Strategy)
	}
	switch {
	case o.Size < 1:
		return fmt.Errorf("chunk size %d is less than 1", o.Size)
	case o.Overlap < 0:
		return fmt.Errorf("overlap %d is negative", o.Overlap)
	case o.Overlap >= o.Size:
		return fmt.Errorf("overlap %d is not less than the chunk size %d", o.Overlap, o.Size)
	}
	return nil
}

// Run puts the chunks of each document in its place and copies other records.
// A document without text becomes a [record.Skipped], so that it is not lost.
func Run(in iter.Seq2[record.Record, error], opt Options) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		if err := opt.Validate(); err != nil {
			yield(nil, err)
			return
		}
		for r, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			doc, ok := r.(*record.Document)
			if !ok {
				if !yield(r, nil) {
					return
				}
				continue
			}
			if doc.Path == "" {
				yield(nil, errors.New("document without a path"))
				return
			}
			empty := true
			for c := range Split(doc, opt) {
				if empty = false; !yield(c, nil) {
					return
				}
			}
			if empty && !yield(noText(doc), nil) {
				return
			}
		}
	}
}

func noText(doc *record.Document) *record.Skipped {
	return &record.Skipped{Path: doc.Path, Root: doc.Root, Reason: "no text", Class: record.ClassEmpty, Hash: doc.Hash}
}

// Split cuts one document. The options must be valid. Every character of the
// text that is not white space is in a chunk, front matter excepted, which is
// only cut into chunks where the document has nothing else.
//
// A chunk's Text is the document's text from Start to End, with two exceptions:
// NUL characters are left out, and a chunk that begins inside a table has the
// table's header rows in front, which count towards the size. Only a single
// character of many code points can be longer than Size.
//
// A chunk is made when its turn comes: those of 66 MB of text take as much memory
// as the text.
func Split(doc *record.Document, opt Options) iter.Seq[*record.Chunk] {
	text := textOf(doc)
	s := &splitter{text: text, opt: opt}
	for _, r := range regions(doc, text, opt) {
		s.region(r)
	}
	return finish(doc, text, s.cuts)
}

// cut is a chunk before it has a number.
type cut struct {
	start, end int
	header     string // rows to repeat in front
	region     *region
}

// finish makes a chunk of each cut.
func finish(doc *record.Document, text string, cuts []cut) iter.Seq[*record.Chunk] {
	base := *doc
	if base.ID == "" {
		base.ID = record.DocumentID(doc.Path)
	}
	if base.Title == "" {
		file := path.Base(doc.Path)
		base.Title = strings.TrimSuffix(file, path.Ext(file))
	}
	base.Title = name(base.Title)
	if base.Hash == "" {
		sum := sha256.Sum256([]byte(text))
		base.Hash = hex.EncodeToString(sum[:])
	}
	extra := extraOf(doc)
	return func(yield func(*record.Chunk) bool) {
		lines := lineCounter{text: text, line: 1}
		for i, c := range cuts {
			body := strings.ReplaceAll(c.header+text[c.start:c.end], "\x00", "")
			chunk := &record.Chunk{
				ID:       record.ChunkID(base.ID, i+1, c.start, body),
				Document: base.ID,
				Path:     base.Path,
				Title:    base.Title,
				Hash:     base.Hash,
				Seq:      i + 1,
				Of:       len(cuts),
				Headings: c.region.headings,
				Page:     c.region.page,
				Start:    c.start,
				End:      c.end,
				Text:     body,
				Meta:     doc.Meta,
				Extra:    extra,
			}
			if chunk.Page == 0 && !doc.Converted {
				chunk.Line = lines.at(c.start)
			}
			if !yield(chunk) {
				return
			}
		}
	}
}

// longestName is how many bytes of a title or of a heading each chunk repeats.
// A line of megabytes that begins with # would make gigabytes of chunks; the
// whole of it is in the text of the first.
const longestName = 1000

// name is a title or a heading that is not too long.
func name(s string) string {
	if len(s) <= longestName {
		return s
	}
	end := longestName - len("…")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimSpace(s[:end]) + "…"
}

// extraOf returns the unknown fields of the document that are unknown to a
// chunk as well.
func extraOf(doc *record.Document) record.Extra {
	var extra record.Extra
	for _, f := range doc.Extra {
		switch strings.ToLower(f.Key) {
		case "id", "document", "path", "title", "hash", "seq", "of", "headings", "page", "line", "start", "end",
			"text", "meta", "vector", "model", "base_url", "dim", "error", "kind":
		default:
			extra = append(extra, f)
		}
	}
	return extra
}

// lineCounter numbers lines from 1; the offsets it is asked for must not
// descend.
type lineCounter struct {
	text      string
	at0, line int
}

func (l *lineCounter) at(offset int) int {
	l.line += strings.Count(l.text[l.at0:offset], "\n")
	l.at0 = offset
	return l.line
}
