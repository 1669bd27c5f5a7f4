package html

import (
	"html"
	"strings"
)

// kind is what a token is.
type kind int

const (
	end kind = iota // of the page
	characters
	startTag
	endTag
)

// token is a tag or a text between tags, with its entities resolved.
type token struct {
	kind kind
	text string
	name string // of a tag, in lower case
	attr attributes
	shut bool // the tag ends with />
}

// attributes are those of a start tag that matter here, the first of each
// name.
type attributes map[string]string

// tokenizer reads a page as browsers do (HTML Living Standard, section 13.2.5),
// but for the rare states that end in the same text. Each byte is looked at
// once or twice.
type tokenizer struct {
	src string
	at  int
	raw string // the element whose content is text up to its end tag
}

func (z *tokenizer) next() token {
	for z.at < len(z.src) {
		rest := z.src[z.at:]
		switch {
		case z.raw != "":
			if t, ok := z.rawText(); ok {
				return t
			}
		case strings.HasPrefix(rest, "<!--"):
			z.passBehind("-->", len("<!--")-2) // <!--> is a whole comment
		case strings.HasPrefix(rest, "<!"), strings.HasPrefix(rest, "<?"):
			z.passBehind(">", 2)
		case strings.HasPrefix(rest, "</") && len(rest) > 2:
			if !letter(rest[2]) {
				z.passBehind(">", 2)
				continue
			}
			z.at += 2
			name := z.name()
			z.passBehind(">", 0)
			return token{kind: endTag, name: name}
		case rest[0] == '<' && len(rest) > 1 && letter(rest[1]):
			z.at++
			t := token{kind: startTag, name: z.name()}
			if !z.attributes(&t) {
				return token{}
			}
			z.raw = rawElement(t.name)
			return t
		default:
			n := strings.IndexByte(rest[1:], '<') + 1
			if n == 0 {
				n = len(rest)
			}
			z.at += n
			return token{kind: characters, text: html.UnescapeString(rest[:n])}
		}
	}
	return token{}
}

// passBehind goes behind the next mark, or to the end.
func (z *tokenizer) passBehind(mark string, from int) {
	z.at += from
	if i := strings.Index(z.src[z.at:], mark); i >= 0 {
		z.at += i + len(mark)
	} else {
		z.at = len(z.src)
	}
}

// rawText takes the content of an element in which there are no tags; ok is
// false where it has none.
func (z *tokenizer) rawText() (t token, ok bool) {
	name := z.raw
	z.raw = ""
	start, stop := z.at, len(z.src)
	for i := start; ; i += 2 {
		n := strings.Index(z.src[i:], "</")
		if n < 0 {
			break
		}
		i += n
		if after := i + 2 + len(name); after <= len(z.src) && strings.EqualFold(z.src[i+2:after], name) && (after == len(z.src) || !letter(z.src[after])) {
			stop = i
			break
		}
	}
	z.at = stop
	text := z.src[start:stop]
	if name == "title" || name == "textarea" {
		text = html.UnescapeString(text)
	}
	return token{kind: characters, text: text}, text != ""
}

func rawElement(name string) string {
	switch name {
	case "script", "style", "title", "textarea", "iframe", "noembed", "noframes", "noscript", "xmp":
		return name
	}
	return ""
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

const blanks = " \t\n\f\r"

// name reads the name of a tag.
func (z *tokenizer) name() string { return strings.ToLower(z.until(blanks + "/>")) }

// until reads up to one of the characters, or to the end.
func (z *tokenizer) until(any string) string {
	rest := z.src[z.at:]
	n := strings.IndexAny(rest, any)
	if n < 0 {
		n = len(rest)
	}
	z.at += n
	return rest[:n]
}

func (z *tokenizer) skip(any string) {
	z.at = len(z.src) - len(strings.TrimLeft(z.src[z.at:], any))
}

// attributes reads a start tag to its end; it is false where it has none.
func (z *tokenizer) attributes(t *token) bool {
	for {
		z.skip(blanks + "/")
		if z.at >= len(z.src) {
			return false
		}
		if z.src[z.at] == '>' {
			t.shut = z.src[z.at-1] == '/'
			z.at++
			return true
		}
		start := z.at
		z.at++ // even a = begins a name
		z.until(blanks + "/>=")
		name := strings.ToLower(z.src[start:z.at])
		z.skip(blanks)
		value := ""
		if z.at < len(z.src) && z.src[z.at] == '=' {
			z.at++
			z.skip(blanks)
			value = z.value()
		}
		if matters(name) {
			if t.attr == nil {
				t.attr = attributes{}
			}
			if _, twice := t.attr[name]; !twice {
				t.attr[name] = strings.TrimSpace(html.UnescapeString(value))
			}
		}
	}
}

// value reads the value of an attribute.
func (z *tokenizer) value() string {
	if z.at >= len(z.src) {
		return ""
	}
	quote := z.src[z.at]
	if quote != '"' && quote != '\'' {
		return z.until(blanks + ">")
	}
	z.at++
	value := z.until(string(quote))
	z.at = min(z.at+1, len(z.src))
	return value
}

func matters(name string) bool {
	switch name {
	case "alt", "aria-hidden", "charset", "class", "colspan", "content", "hidden", "id", "name", "property", "role", "rowspan", "start", "style":
		return true
	}
	return false
}
