package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
)

// Chunks are the bulk of what is piped, and most of a chunk is its vector: 11 KB
// at 2,048 dimensions. So they are written by hand, and read by hand where a
// line has the form that is usual; encoding/json reads all others, and says
// what is wrong with a line that is no chunk. FuzzChunk holds one way against
// the other. For 15,763 of them (184 MB) a profile has 0.35 instead of 2.4 s in
// reading, and 0.16 instead of 2.4 in writing.

// appendChunk appends a chunk up to its unknown fields and the closing brace.
func appendChunk(dst []byte, c *Chunk) ([]byte, error) {
	str := func(name, s string) {
		dst = append(dst, name...)
		dst = AppendString(dst, s)
	}
	num := func(name string, n int) {
		dst = append(dst, name...)
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	str(`{"kind":"chunk","id":`, c.ID)
	str(`,"document":`, c.Document)
	str(`,"path":`, c.Path)
	str(`,"title":`, c.Title)
	str(`,"hash":`, c.Hash)
	num(`,"seq":`, c.Seq)
	num(`,"of":`, c.Of)
	dst = append(dst, `,"headings":[`...)
	for i, h := range c.Headings {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, h)
	}
	dst = append(dst, ']')
	if c.Page != 0 {
		num(`,"page":`, c.Page)
	}
	if c.Line != 0 {
		num(`,"line":`, c.Line)
	}
	num(`,"start":`, c.Start)
	num(`,"end":`, c.End)
	str(`,"text":`, c.Text)
	if len(c.Meta) > 0 {
		meta, err := encode(c.Meta)
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, `,"meta":`...), meta...)
	}
	if len(c.Vector) > 0 {
		dst = AppendFloats(append(dst, `,"vector":"`...), c.Vector)
		dst = append(dst, '"')
	}
	for _, f := range []struct{ name, s string }{{`,"model":`, c.Model}, {`,"base_url":`, c.BaseURL}} {
		if f.s != "" {
			str(f.name, f.s)
		}
	}
	if c.Dim != 0 {
		num(`,"dim":`, c.Dim)
	}
	for _, f := range []struct{ name, s string }{{`,"query_prefix":`, c.QueryPrefix}, {`,"document_prefix":`, c.DocumentPrefix}} {
		if f.s != "" {
			str(f.name, f.s)
		}
	}
	if c.Reused {
		dst = append(dst, `,"reused":true`...)
	}
	if c.Error != "" {
		str(`,"error":`, c.Error)
	}
	return dst, nil
}

// readChunk reads a line in the usual form; false for any other.
func readChunk(line []byte, c *Chunk) bool {
	ok := true
	whole := walk(line, func(key, value []byte) bool {
		ok = c.read(key, value)
		return ok
	})
	return ok && whole
}

// read reads one field.
func (c *Chunk) read(key, value []byte) bool {
	str := func(s *string) (ok bool) {
		*s, ok = readString(value)
		return ok
	}
	num := func(n *int) (ok bool) {
		*n, ok = readCount(value)
		return ok
	}
	switch string(key) {
	case "kind":
		return string(value) == `"chunk"`
	case "id":
		return str(&c.ID)
	case "document":
		return str(&c.Document)
	case "path":
		return str(&c.Path)
	case "title":
		return str(&c.Title)
	case "hash":
		return str(&c.Hash)
	case "seq":
		return num(&c.Seq)
	case "of":
		return num(&c.Of)
	case "headings":
		return value[0] == '[' && json.Unmarshal(value, &c.Headings) == nil
	case "page":
		return num(&c.Page)
	case "line":
		return num(&c.Line)
	case "start":
		return num(&c.Start)
	case "end":
		return num(&c.End)
	case "text":
		return str(&c.Text)
	case "meta":
		c.Meta = bytes.Clone(value)
		return value[0] == '{' && json.Valid(value)
	case "vector":
		return c.Vector.read(value)
	case "model":
		return str(&c.Model)
	case "base_url":
		return str(&c.BaseURL)
	case "dim":
		return num(&c.Dim)
	case "query_prefix":
		return str(&c.QueryPrefix)
	case "document_prefix":
		return str(&c.DocumentPrefix)
	case "reused":
		c.Reused = string(value) == "true"
		return c.Reused
	case "error":
		return str(&c.Error)
	}
	c.Extra = append(c.Extra, Field{string(key), bytes.Clone(value)})
	return json.Valid(value)
}

// readCount reads an integer of a few digits without a sign.
func readCount(value []byte) (int, bool) {
	if len(value) == 0 || len(value) > 9 || len(value) > 1 && value[0] == '0' {
		return 0, false
	}
	n := 0
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

// read reads a vector in base64.
func (v *Vector) read(value []byte) bool {
	if len(value) < 2 || value[0] != '"' {
		return false
	}
	text := value[1 : len(value)-1]
	n := base64.StdEncoding.DecodedLen(len(text)) - bytes.Count(text[max(0, len(text)-2):], []byte{'='})
	if n%4 != 0 {
		return false
	}
	*v = make(Vector, n/4)
	return DecodeFloats(*v, text) == nil
}
