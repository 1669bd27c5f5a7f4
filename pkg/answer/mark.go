package answer

import (
	"strconv"
	"strings"

	"kb/pkg/record"
)

// Mark returns the text of an answer for people, with the claims that failed
// their check marked where they cite, and those without a citation at their
// end:
//
//	超标住宿需要三级审批 [1 ✗ 原文没有：三级]。
//	年度预算是 15000 元。 [✗ 没有引用]
//
// The text is made safe for a terminal, see [Plain].
func Mark(a *record.Answer) string {
	var b strings.Builder
	rest := a.Text
	for _, c := range a.Claims {
		i := strings.Index(rest, c.Text)
		if i < 0 {
			continue // the record was changed since
		}
		b.WriteString(rest[:i])
		rest = rest[i+len(c.Text):]
		if c.Supported {
			b.WriteString(c.Text)
			continue
		}
		b.WriteString(markClaim(c))
	}
	b.WriteString(rest)
	return Plain(b.String())
}

// markClaim writes the reason into the last marker of a claim, or behind it.
func markClaim(c record.Claim) string {
	why := oneLine(c.Why)
	at, end := lastMarker(c)
	if at < 0 {
		return c.Text + " [✗ " + why + "]"
	}
	head := c.Text[:at]
	if head != "" && !strings.HasSuffix(head, " ") && !strings.HasSuffix(head, "]") {
		head += " "
	}
	return head + c.Text[at:end-1] + " ✗ " + why + "]" + c.Text[end:]
}

// lastMarker finds the last [n] of a claim that it cites; -1 if it has none of
// its own.
func lastMarker(c record.Claim) (start, end int) {
	start, end = -1, -1
	for _, n := range c.Cites {
		marker := "[" + strconv.Itoa(n) + "]"
		if i := strings.LastIndex(c.Text, marker); i > start {
			start, end = i, i+len(marker)
		}
	}
	return start, end
}
