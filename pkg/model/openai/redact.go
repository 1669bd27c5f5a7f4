package openai

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minSecret is the shortest secret that is masked: below it lie the
	// placeholders that local servers are given ("x", "-").
	minSecret = 4
	mask      = "***"
	maxQuote  = 300 // bytes of a server's answer that an error quotes
)

// redactor masks secrets in texts that came from elsewhere.
type redactor struct{ secrets []string }

func newRedactor(key string, u URL) redactor {
	var all []string
	for _, s := range append(u.secrets(), key) {
		if len(s) < minSecret {
			continue
		}
		quoted, _ := json.Marshal(s)
		all = append(all, s, url.QueryEscape(s), url.PathEscape(s), strings.Trim(string(quoted), `"`))
	}
	if u.user != nil {
		password, _ := u.user.Password()
		all = append(all, base64.StdEncoding.EncodeToString([]byte(u.user.Username()+":"+password)))
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // longest first: one may hold another
	return redactor{slices.Compact(all)}
}

func (r redactor) text(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, mask)
	}
	return s
}

// quote makes a server's text fit to print: secrets masked, one line, no
// control characters, at most maxQuote bytes.
func (r redactor) quote(s string) string {
	s = strings.ToValidUTF8(r.text(s), "\ufffd")
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case unicode.Is(unicode.C, c): // control, format (bidi overrides), private
			return -1
		}
		return c
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxQuote {
		return s
	}
	cut := maxQuote
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
