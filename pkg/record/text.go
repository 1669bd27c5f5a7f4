package record

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends a JSON string as encoding/json writes it without escapes
// for HTML: quotes, backslashes, control characters and the line separators
// U+2028 and U+2029 are escaped, and what is not UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			if (r != utf8.RuneError || size > 1) && r != '\u2028' && r != '\u2029' {
				i += size
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		dst = appendEscape(dst, s[i:i+size])
		i += size
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// appendEscape appends the escape of one character.
func appendEscape(dst []byte, s string) []byte {
	switch c := s[0]; {
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, `\n`...)
	case c == '\t':
		return append(dst, `\t`...)
	case c == '\r':
		return append(dst, `\r`...)
	case c == '\b':
		return append(dst, `\b`...)
	case c == '\f':
		return append(dst, `\f`...)
	case c < 0x20:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	case len(s) == 1:
		return append(dst, `\ufffd`...)
	}
	return append(dst, `\u202`+hexDigits[s[2]&15:][:1]...)
}

// readString reads a JSON string that encoding/json would read in the same way;
// false if it is none, and for some that only encoding/json reads.
func readString(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return "", false
	}
	text := value[1 : len(value)-1]
	escapes := false
	for _, c := range text {
		if c < 0x20 {
			return "", false
		}
		escapes = escapes || c == '\\'
	}
	switch {
	case !utf8.Valid(text):
		return "", false
	case !escapes:
		return string(text), true
	}
	return unescape(text)
}

// unescape replaces the escapes of one letter; for others it asks encoding/json.
func unescape(text []byte) (string, bool) {
	var b strings.Builder
	b.Grow(len(text))
	from := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		b.Write(text[from:i])
		i++
		if i == len(text) {
			return "", false
		}
		switch c := text[i]; c {
		case '"', '\\', '/':
			b.WriteByte(c)
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		default:
			var s string
			err := json.Unmarshal(append(append([]byte{'"'}, text...), '"'), &s)
			return s, err == nil
		}
		from = i + 1
	}
	b.Write(text[from:])
	return b.String(), true
}
