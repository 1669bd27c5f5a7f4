package flat

import (
	"bytes"
	"encoding/json"
)

// appendJSON appends a value as this format writes JSON: compact, without
// escapes for HTML.
func appendJSON(dst []byte, v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, err
	}
	return append(dst, bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})...), nil
}

// unquote reads a JSON string; "" if it is none.
func unquote(text []byte) string {
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' && bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : n-1])
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		return ""
	}
	return s
}
