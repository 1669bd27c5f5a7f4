// Package jsonl reads and writes streams of records as JSON Lines. Errors
// carry their address: the name of the input and the line.
package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime/debug"
	"slices"

	"kb/pkg/record"
)

// MaxLine is the longest line that is read, in bytes. A whole PDF is one line,
// so lines of many megabytes are normal.
const MaxLine = 1 << 30

// Error is a line that could not be read.
type Error struct {
	Name string // of the input: a file's path, or "stdin"
	Line int    // from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Hint says what to do next; "" where nothing is likely.
func (e *Error) Hint() string {
	switch {
	case errors.Is(e.Err, errText):
		return `each line must be a JSON object; jq -Rc '{q: .}' makes questions of lines, "kb load" makes documents of files`
	case errors.Is(e.Err, errCut):
		return "each line must be a whole JSON object; jq -c . writes them so"
	}
	return ""
}

var (
	errText = errors.New("not a JSON object: it does not begin with {")
	errCut  = errors.New("not a JSON object: unexpected end of input")
)

// Input is a named stream of lines.
type Input struct {
	Name string
	R    io.Reader
}

// Records reads records from the inputs, one after the other. Lines of the
// kinds named are decoded; all others come as [record.Raw]. Blank lines are
// passed over, and so is a byte order mark at the beginning of a line. Several
// objects on one line count as several records, as they do when files without
// a last line end are concatenated. The first error, an [Error], ends the
// sequence.
func Records(inputs []Input, kinds ...string) iter.Seq2[record.Record, error] {
	return RecordsAt(inputs, new(Place), kinds...)
}

// Place is the line that a sequence read last: where a stage that handles
// records one by one was when it failed.
type Place struct {
	Name string
	Line int // from 1; 0 before the first
}

// Wrap puts the place in front of an error that has none yet.
func (p *Place) Wrap(err error) error {
	var placed *Error
	if err == nil || p.Line == 0 || errors.As(err, &placed) {
		return err
	}
	return &Error{p.Name, p.Line, err}
}

// RecordsAt is [Records], and keeps the place of the last record in at.
func RecordsAt(inputs []Input, at *Place, kinds ...string) iter.Seq2[record.Record, error] {
	decode := make(map[string]bool, len(kinds))
	for _, k := range kinds {
		decode[k] = true
	}
	return func(yield func(record.Record, error) bool) {
		for _, in := range inputs {
			for line, err := range lines(in) {
				if err != nil {
					yield(nil, err)
					return
				}
				*at = Place{in.Name, line.n}
				for r, err := range parse(line.text, decode) {
					if err != nil {
						yield(nil, &Error{in.Name, line.n, err})
						return
					}
					if len(line.text) > hugeLine {
						debug.FreeOSMemory() // the line, which the record is a copy of
					}
					if !yield(r, nil) {
						return
					}
				}
			}
		}
	}
}

// hugeLine is the length, in bytes, from which a line is read in blocks, which are
// joined at its end, and its memory is given back at once. A slice that grows, and a
// collector that waits until the heap has doubled, would take four times the line.
const hugeLine = 8 << 20

type line struct {
	n    int
	text []byte // valid until the next line is read
}

func lines(in Input) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		r := bufio.NewReaderSize(in.R, 64<<10)
		var long []byte
		for n := 1; ; n++ {
			long = long[:0]
			var blocks [][]byte // of a huge line, before long
			text, err := r.ReadSlice('\n')
			for errors.Is(err, bufio.ErrBufferFull) {
				if len(blocks)*hugeLine+len(long)+len(text) > MaxLine {
					yield(line{}, &Error{in.Name, n, fmt.Errorf("line is longer than %d MiB", MaxLine>>20)})
					return
				}
				if len(long)+len(text) > hugeLine {
					blocks, long = append(blocks, long), make([]byte, 0, hugeLine)
				}
				long = append(long, text...)
				text, err = r.ReadSlice('\n')
			}
			if len(long) > 0 {
				long = append(long, text...)
				text = long
			}
			if len(blocks) > 0 {
				long = slices.Concat(append(blocks, long)...)
				text, blocks = long, nil
				debug.FreeOSMemory()
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line{}, &Error{in.Name, n, err})
				return
			}
			if cap(long) > longText {
				long = nil // the line of a large document is not kept while its record is in use
			}
			text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
			if len(text) > 0 && !yield(line{n, text}, nil) {
				return
			}
			if err != nil {
				return
			}
		}
	}
}

// parse reads the records of one line, which is nearly always one.
func parse(text []byte, decode map[string]bool) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		if r, err := parseOne(text, decode); err == nil || text[0] != '{' {
			yield(r, err)
			return
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		for {
			var one json.RawMessage
			err := dec.Decode(&one)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, explain(err))
				return
			}
			if r, err := parseOne(one, decode); !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func parseOne(text []byte, decode map[string]bool) (record.Record, error) {
	kind := record.KindOf(text)
	r := record.Record(&record.Raw{})
	if decode[kind] {
		r = record.New(kind)
	} else if err := valid(text); err != nil {
		return nil, explain(err)
	}
	if err := record.Decode(text, r); err != nil {
		return nil, explain(err)
	}
	return r, nil
}

func valid(text []byte) error {
	if text[0] != '{' {
		return errText
	}
	if json.Valid(text) {
		return nil
	}
	var object map[string]json.RawMessage
	return json.Unmarshal(text, &object)
}

func explain(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	case errors.As(err, &syntax):
		if syntax.Error() == "unexpected end of JSON input" {
			return errCut
		}
		return fmt.Errorf("not a JSON object: %w at byte %d", err, syntax.Offset)
	}
	return err
}

// Writer writes records, one a line.
type Writer struct {
	w   *bufio.Writer
	buf []byte
}

// NewWriter returns a writer that buffers 64 KiB; call Flush at the end, and
// before waiting for a person or another program.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, 64<<10)} }

// Write appends one record as a line.
func (w *Writer) Write(r record.Record) error {
	if doc, ok := r.(*record.Document); ok && len(doc.Text) >= longText {
		return w.writeLong(doc)
	}
	buf, err := record.Append(w.buf[:0], r)
	if err != nil {
		return err
	}
	w.buf = append(buf, '\n')
	_, err = w.w.Write(w.buf)
	return err
}

// Flush writes out what is buffered.
func (w *Writer) Flush() error { return w.w.Flush() }

// WriteAll writes a whole sequence and flushes; it stops at the first error of
// either side, with everything before it written out.
func (w *Writer) WriteAll(seq iter.Seq2[record.Record, error]) error {
	for r, err := range seq {
		if err != nil {
			return errors.Join(err, w.Flush())
		}
		if err := w.Write(r); err != nil {
			return err
		}
	}
	return w.Flush()
}
