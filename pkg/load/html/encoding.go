package html

import (
	"bytes"
	"strings"
)

// declaration is where a page has to say its encoding, in bytes from its
// beginning.
const declaration = 1024

// Encoding returns the name of the encoding that a page says it is in, in the
// head of the page or in an XML declaration; "" where it says none.
func Encoding(data []byte) string {
	head := data[:min(len(data), declaration)]
	if rest, ok := bytes.CutPrefix(head, []byte("<?xml")); ok {
		if before, _, found := bytes.Cut(rest, []byte("?>")); found {
			if name := afterKey(string(before), "encoding"); name != "" {
				return name
			}
		}
	}
	z := &tokenizer{src: string(head)}
	for {
		t := z.next()
		switch {
		case t.kind == end:
			return ""
		case t.kind != startTag || t.name != "meta":
		case t.attr["charset"] != "":
			return t.attr["charset"]
		default:
			if name := afterKey(t.attr["content"], "charset"); name != "" {
				return name
			}
		}
	}
}

// afterKey returns the value behind key=, which may be quoted, in lower case.
func afterKey(s, key string) string {
	s = strings.ToLower(s)
	i := strings.Index(s, key)
	if i < 0 {
		return ""
	}
	s, ok := strings.CutPrefix(strings.TrimSpace(s[i+len(key):]), "=")
	if !ok {
		return ""
	}
	s = strings.TrimLeft(s, " \t\"'")
	if end := strings.IndexAny(s, " \t\"';"); end >= 0 {
		s = s[:end]
	}
	return s
}
