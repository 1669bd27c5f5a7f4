package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// A stream of server-sent events as model servers really write it. The form is
// that of https://html.spec.whatwg.org/multipage/server-sent-events.html with
// what servers get wrong: there may be no blank line between two events, so an
// event counts as soon as its data is whole JSON; errors come as a line of
// bare JSON, as a field of their own ("error: {…}") or as an event named error;
// the last line may lack its end.

// event is one message of a stream.
type event struct {
	data    []byte // JSON; nil for [DONE]
	done    bool   // [DONE]
	isError bool   // it was sent as an error
}

// eventReader reads the events of a stream.
type eventReader struct {
	r       *bufio.Reader
	name    string // of the event that is being read
	data    []byte
	lines   int    // of data
	bare    bool   // data is JSON without a field name
	strange string // the first line that was neither event nor JSON
	start   bool
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 16<<10), start: true}
}

// next returns the next event, io.EOF at the end of the stream, or why reading
// failed.
func (r *eventReader) next() (event, error) {
	for {
		line, err := r.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return event{}, err
		}
		if ev, ok := r.take(line, err == nil); ok {
			return ev, nil
		}
		if err != nil {
			return r.last()
		}
	}
}

// line reads one line of any length; with io.EOF it may hold a last line.
func (r *eventReader) line() ([]byte, error) {
	line, err := r.r.ReadBytes('\n')
	if r.start {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
		r.start = false
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// take looks at one line and returns an event if that completed one.
func (r *eventReader) take(line []byte, whole bool) (event, bool) {
	switch {
	case r.bare && len(line) > 0:
		return r.append(line)
	case len(line) == 0:
		if !whole {
			return event{}, false
		}
		return r.blank()
	case line[0] == ':':
		return event{}, false
	case line[0] == '{':
		r.flushStrange()
		r.bare = true
		return r.append(line)
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		return r.append(value)
	case "event":
		r.name = string(value)
	case "error":
		r.name = "error"
		return r.append(value)
	case "id", "retry":
	default:
		r.note(line)
	}
	return event{}, false
}

// append adds a line of data. Empty data is a keep-alive of some gateways.
func (r *eventReader) append(value []byte) (event, bool) {
	if len(r.data) == 0 && len(bytes.TrimSpace(value)) == 0 {
		return event{}, false
	}
	if r.lines++; r.lines > 1 {
		r.data = append(r.data, '\n')
	}
	r.data = append(r.data, value...)
	return r.whole()
}

// whole returns the event if its data is complete. Only data that ends like an
// object is parsed, so that a message in many lines is not parsed for each.
func (r *eventReader) whole() (event, bool) {
	data := bytes.TrimSpace(r.data)
	switch {
	case bytes.Equal(data, []byte("[DONE]")):
		r.reset()
		return event{done: true}, true
	case r.name != "error" && !(len(data) > 1 && data[0] == '{' && data[len(data)-1] == '}'), !json.Valid(data):
		return event{}, false
	}
	ev := event{data: bytes.Clone(data), isError: r.name == "error"}
	r.reset()
	return ev, true
}

// blank ends an event. What is not JSON is an error if it was sent as one or
// looks like damaged JSON, and else noise.
func (r *eventReader) blank() (event, bool) {
	defer r.reset()
	data := bytes.TrimSpace(r.data)
	if len(data) == 0 {
		return event{}, false
	}
	if r.name == "error" || data[0] == '{' {
		return event{data: bytes.Clone(data), isError: r.name == "error"}, true
	}
	r.note(data)
	return event{}, false
}

func (r *eventReader) flushStrange() {
	if len(r.data) > 0 {
		r.note(r.data)
	}
	r.reset()
}

func (r *eventReader) reset() { r.name, r.data, r.lines, r.bare = "", r.data[:0], 0, false }

func (r *eventReader) note(line []byte) {
	if r.strange == "" {
		r.strange = string(line)
	}
}

// last ends the stream: a message that was not completed becomes noise, which
// the caller reports because there was no end of the answer either.
func (r *eventReader) last() (event, error) {
	if r.name == "error" && len(r.data) > 0 {
		ev, _ := r.blank()
		return ev, nil
	}
	r.flushStrange()
	return event{}, io.EOF
}

// leftover is what the stream held besides events.
func (r *eventReader) leftover() string { return strings.TrimSpace(r.strange) }
