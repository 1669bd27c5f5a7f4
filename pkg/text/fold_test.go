package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Hello", "hello"},
		{"軟體開發", "软体开发"},
		{"ＡＢＣ－１２３　ｘ", "abc-123 x"},
		{"cafe\u0301 CAFÉ", "café café"},
		{"ｶﾞ", "ガ"},
		{"ﬁne ①", "fine 1"},
		{"so\u00adft ze\u200bro \ufeffbom", "soft zero bom"},
		{"don’t e‑mail", "don't e-mail"},
		{"ПРИВЕТ", "привет"},
		{"H\u0331", "\u1e96"},
		{"a\xffb", "a\ufffdb"},
		{"", ""},
	} {
		if got := Normalize(c.in); got != c.want {
			t.Errorf("Normalize(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// reference folds by the definition, rune by rune.
func reference(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKC.String(s) {
		if r = visible(r); r >= 0 {
			b.WriteRune(simplified().get(unicode.ToLower(r)))
		}
	}
	return norm.NFC.String(b.String())
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"HTTPHeader", "軟體開發，ＡＢＣ！", "e\u0301x\u0301\u0323", "中\u0301文", "가각ᄀ", "ｶﾞ", "İIß", "H\u0331",
		"\x00a\x00é", "\xff\xfe", "a\u200d\u0301b", "𠮷嘅"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Normalize(s)
		if want := reference(s); got != want && utf8.ValidString(s) {
			t.Fatalf("Normalize(%q) = %q, by the definition %q", s, got, want)
		}
		if again := Normalize(got); again != got {
			t.Fatalf("Normalize(%q) = %q, and again %q", s, got, again)
		}
		for _, h := range fold(s).humps {
			if h <= 0 || h >= len(got) || !utf8.RuneStart(got[h]) {
				t.Fatalf("hump at %d of %q", h, got)
			}
		}
	})
}

func TestLanguage(t *testing.T) {
	for s, want := range map[string]bool{
		"rotate_keys 怎么用":  true,
		"what does 道 mean": false,
		"ERR-5023 是什么错误":   true,
		"how long":         false,
		"食べるとは":            false,
		"":                 false,
	} {
		if got := IsChinese(s); got != want {
			t.Errorf("IsChinese(%q) = %v", s, got)
		}
	}
}
