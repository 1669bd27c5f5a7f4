package jsonl

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"kb/pkg/record"
)

// longText is the length of a text, in bytes, from which a document is written
// piece by piece: as one JSON string, a text of 50 MB would stand in memory
// another four times.
const longText = 1 << 20

// piece is how much of it is escaped at a time, in bytes.
const piece = 64 << 10

// writeLong writes what record.Append would append, and a line end.
func (w *Writer) writeLong(doc *record.Document) error {
	short := *doc
	short.Text = ""
	line, err := record.Append(w.buf[:0], &short)
	if err != nil {
		return err
	}
	w.buf = line
	// Only strings, in which quotes are escaped, stand before the text.
	head, tail, _ := bytes.Cut(line, []byte(`"text":""`))
	w.w.Write(head) // errors of a bufio.Writer stay until the last
	w.w.WriteString(`"text":"`)
	if err := w.writeEscaped(doc.Text); err != nil {
		return err
	}
	w.w.WriteByte('"')
	w.w.Write(tail)
	return w.w.WriteByte('\n')
}

// writeEscaped writes the inside of a JSON string.
func (w *Writer) writeEscaped(s string) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for s != "" {
		end := min(piece, len(s))
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		buf.Reset()
		if err := enc.Encode(s[:end]); err != nil {
			return err
		}
		if _, err := w.w.Write(buf.Bytes()[1 : buf.Len()-2]); err != nil { // without quotes and line end
			return err
		}
		s = s[end:]
	}
	return nil
}
