package text

import (
	"slices"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ERR-5023 means", "err-5023 err5023 err 5023 mean"},
		{"v2.10.1", "v2.10.1 2.10.1 v2 v2.10 10 10.1 1"},
		{"call rotate_keys()", "call rotate_keys rotatekey rotat key"},
		{"parseHTTPHeader", "parsehttpheader parsehttphead pars parsehttp http httpheader header"},
		{"rotateKeys", "rotatekeys rotatekey rotat key"},
		{"--fail-fast", "fail-fast failfast fail fast"},
		{"1,000,000.5 of 3.14, 1,5", "1000000.5 of 3.14 1 5"},
		{"C++ and C#", "c++ c and c# c"},
		{"e-mail the U.S.", "e-mail email mail the u.s us"},
		{"Bob's don’t", "bob don't"},
		{"running the runs", "run the run"},
		{"軟件开发", "软 件 软件 开 件开 发 开发"},
		{"第3页", "第 3 页"},
		{"食べる", "食 べ 食べ る べる"},
		{"한국 말", "한 국 한국 말"},
		{"Привет cafe\u0301", "привет cafe"},
		{"ท้อง", "ท้ อ ท้อ ง อง"},
		{"* \" ' \\ -", ""},
		{strings.Repeat("x", 200), ""},
	} {
		if got := strings.Join(NewNGram().Tokens(c.in), " "); got != c.want {
			t.Errorf("Tokens(%q) =\n  %s\nwant\n  %s", c.in, got, c.want)
		}
	}
}

func TestQueryTerms(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"请问公司的全称是什么？", "请 问 公 问公 司 公司 司的 全 的全 称 全称 称是"},
		{"How long does the warranty last?", "long warranti last"},
		{"who is he", "who is he"},
		{"what what", "what"},
		{"keys and keys", "key"},
		{"v2.10.1", "v2.10.1 2.10.1 v2 v2.10 10.1"},
		{"的", "的"},
		{"*", ""},
		{"-x", "x"},
	} {
		got := strings.Join(NewNGram().QueryTerms(c.in), " ")
		if got != c.want {
			t.Errorf("QueryTerms(%q) =\n  %s\nwant\n  %s", c.in, got, c.want)
		}
	}
}

func TestRefine(t *testing.T) {
	known := func(term string) bool {
		return slices.Contains([]string{"err-5023", "fail-fast", "state-of-the-art", "parsehttpheader", "u.s", "41r", "pay1102", "2.10"}, term)
	}
	for _, c := range []struct {
		in, want string
		exact    int
		names    string
		unknown  string
	}{
		{"ERR-5023", "err-5023", 1, "err-5023", ""},
		{"ERR-5023 or err-5023?", "err-5023", 1, "err-5023", ""},
		{"ERR-5032", "err-5032 err5032 err 5032", 0, "", "ERR-5032"},
		{"PAY-1102和max_size", "pay-1102 pay1102 pay 1102 max_size maxsiz max size", 0, "", "max_size"},
		{"v2.10 or v3.1 in the 1990s, 5th, U.K.", "v2.10 2.10 v2 v3.1 3.1 v3 1990s 5th u.k uk", 0, "", "v3.1"},
		{"--fail-fast option", "fail-fast option", 1, "fail-fast", ""},
		{"fail-fast", "fail-fast failfast fail fast", 0, "", ""},
		{"U.S. law", "u.s law", 1, "", ""},
		{"bus 41R", "bus 41r", 1, "41r", ""},
		{"parseHTTPHeader", "parsehttpheader", 1, "", ""},
	} {
		q := NewNGram().(Refiner).Refine(c.in, known)
		got, names, unknown := strings.Join(q.Terms, " "), strings.Join(q.Identifiers, " "), strings.Join(q.Unknown, " ")
		if got != c.want || q.Exact != c.exact || names != c.names || unknown != c.unknown {
			t.Errorf("Refine(%q) = %s, %d, %s, %s; want %s, %d, %s, %s", c.in, got, q.Exact, names, unknown, c.want, c.exact, c.names, c.unknown)
		}
	}
}

func TestAnalyzerNames(t *testing.T) {
	for _, name := range []string{"", "ngram", DefaultAnalyzer} {
		if a, err := NewAnalyzer(name); err != nil || a.Name() != DefaultAnalyzer {
			t.Errorf("NewAnalyzer(%q): %v, %v", name, a, err)
		}
	}
	if _, err := NewAnalyzer("ngram-0"); err == nil {
		t.Error("no error for an unknown version")
	}
}
