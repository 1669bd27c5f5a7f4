package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"kb/pkg/jsonl"
)

// eachObject calls f with each JSON object of a file and its line, from 1.
// Blank lines and byte order marks are passed over, and files that were
// concatenated without a last line end are read as well. An error of f gets
// the address of its line.
func eachObject(in jsonl.Input, f func(n int, object []byte) error) error {
	r := bufio.NewReader(in.R)
	for n := 1; ; n++ {
		text, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s:%d: %w", in.Name, n, err)
		}
		if bad := objects(text, func(o []byte) error { return f(n, o) }); bad != nil {
			return &jsonl.Error{Name: in.Name, Line: n, Err: bad}
		}
		if err != nil {
			return nil
		}
	}
}

// objects calls f with the objects of one line, of which there is nearly
// always one.
func objects(text []byte, f func([]byte) error) error {
	text = bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\ufeff{"), []byte("{")))
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var object json.RawMessage
		err := dec.Decode(&object)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("not a JSON object: unexpected end of input")
		case err != nil:
			return fmt.Errorf("not a JSON object: %w", err)
		case object[0] != '{':
			return errors.New("not a JSON object: it does not begin with {")
		}
		if err := f(object); err != nil {
			return err
		}
	}
}
