package openai

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thinker parts reasoning that a model writes into its text from the text. It
// looks for <think> at the beginning only: further on the tag may be part of
// the answer. With hold set the opening tag was in the prompt, so text is
// reasoning until the closing one; if that never comes it was text after all.
type thinker struct {
	hold    bool
	state   thinkState
	paired  bool   // a closing tag was seen
	late    bool   // a closing tag came after its reasoning had left as text
	pending string // not yet decided
	held    strings.Builder
}

type thinkState int

const (
	thinkStart thinkState = iota // nothing but white space so far
	thinkHeld                    // reasoning, if </think> comes
	thinkInside
	thinkAfter // white space between reasoning and text
	thinkText
)

// write takes a piece of content and returns what is decided by now.
func (t *thinker) write(s string) (text, reasoning string) {
	t.pending += s
	for {
		more := t.step(&text, &reasoning)
		if !more {
			return text, reasoning
		}
	}
}

// step decides about pending as far as one state goes; false if it needs more.
func (t *thinker) step(text, reasoning *string) bool {
	switch t.state {
	case thinkStart:
		return t.begin()
	case thinkHeld, thinkInside:
		before, after, found := strings.Cut(t.pending, thinkClose)
		if found {
			*reasoning += t.held.String() + before
			t.held.Reset()
			t.pending, t.paired, t.state = after, true, thinkAfter
			return true
		}
		keep := overlap(t.pending, thinkClose)
		sure := t.pending[:len(t.pending)-keep]
		t.pending = t.pending[len(t.pending)-keep:]
		if t.state == thinkHeld {
			t.held.WriteString(sure)
		} else {
			*reasoning += sure
		}
		return false
	case thinkAfter:
		t.pending = strings.TrimLeft(t.pending, " \t\r\n")
		if t.pending == "" {
			return false
		}
		t.state = thinkText
		return true
	}
	return t.pass(text)
}

// pass lets text out and watches for a closing tag without an opening one.
func (t *thinker) pass(text *string) bool {
	if t.paired {
		*text += t.pending
		t.pending = ""
		return false
	}
	before, after, found := strings.Cut(t.pending, thinkClose)
	if found {
		*text += before
		t.pending, t.late, t.paired, t.state = after, true, true, thinkAfter
		return true
	}
	keep := overlap(t.pending, thinkClose)
	*text += t.pending[:len(t.pending)-keep]
	t.pending = t.pending[len(t.pending)-keep:]
	return false
}

func (t *thinker) begin() bool {
	trimmed := strings.TrimLeft(t.pending, " \t\r\n")
	switch {
	case strings.HasPrefix(trimmed, thinkOpen):
		t.pending, t.state = trimmed[len(thinkOpen):], thinkInside
	case strings.HasPrefix(thinkOpen, trimmed):
		return false // white space or a beginning of the tag
	case t.hold:
		t.state = thinkHeld
	default:
		t.state = thinkText
	}
	return true
}

// end returns what was held back at the end of the content, or where it was
// cut.
func (t *thinker) end(cut bool) (text, reasoning string) {
	rest := t.held.String() + t.pending
	t.held.Reset()
	t.pending = ""
	if t.state == thinkInside || t.state == thinkHeld && cut {
		return "", rest
	}
	return rest, ""
}

// overlap is the length of the longest end of s that begins tag.
func overlap(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

// prefilled guesses from the name of a model whether its template writes the
// opening <think> into the prompt.
func prefilled(model string) bool {
	name := strings.ToLower(model)
	for _, part := range []string{"deepseek-r1", "r1-distill", "qwq", "-thinking"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
