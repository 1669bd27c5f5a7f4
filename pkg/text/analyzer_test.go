package text

import (
	"slices"
	"strings"
	"testing"
)

// Whoever writes the first should find the second, in a chunk that holds it.
func TestWhatIsFoundByWhat(t *testing.T) {
	a := NewNGram()
	for _, tc := range []struct{ question, note string }{
		{"ERR-5023", "the code ERR-5023 means"}, {"err5023", "ERR-5023"}, {"5023", "ERR-5023"}, {"ＥＲＲ－5023", "ERR-5023"},
		{"v2.10.1", "since v2.10.1 it works"}, {"2.10.1", "v2.10.1"}, {"v2.10.1", "v2.10.1-rc1"},
		{"rotate_keys", "call rotate_keys() first"}, {"rotate keys", "rotate_keys"}, {"rotateKeys", "rotate_keys"},
		{"HTTPHeader", "parseHTTPHeader(line)"}, {"http header", "HTTPHeader"}, {`"--fail-fast"`, "--fail-fast"},
		{"C++", "written in C++, mostly"}, {"e-mail", "send an email"}, {"1,000,000", "1000000"}, {"192.168.20.12", "at 192.168.20.12."},
		{"rotating", "keys are rotated"}, {"Bob's", "bob"}, {"the US", "the U.S. office"},
		{"软件", "軟體與軟件"}, {"軟件開發", "软件开发"}, {"超标审批", "超标住宿须经两级审批"},
		{"ＡＢＣ１２３", "abc123"}, {"cafe\u0301", "caf\u00e9"}, {"テスト", "テストする"}, {"привет", "Привет!"}, {"안녕", "안녕하세요"},
	} {
		tokens := a.Tokens(tc.note)
		if !slices.ContainsFunc(a.QueryTerms(tc.question), func(term string) bool { return slices.Contains(tokens, term) }) {
			t.Errorf("%q %q does not find %q %q", tc.question, a.QueryTerms(tc.question), tc.note, tokens)
		}
	}
}

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
		{"Привет cafe\u0301", "привет café"},
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
		return slices.Contains([]string{"err-5023", "fail-fast", "state-of-the-art", "parsehttpheader"}, term)
	}
	for _, c := range []struct {
		in, want string
		exact    int
	}{
		{"ERR-5023", "err-5023", 1},
		{"ERR-5032", "err-5032 err5032 err 5032", 0},
		{"--fail-fast option", "fail-fast option", 1},
		{"fail-fast", "fail-fast failfast fail fast", 0},
		{"parseHTTPHeader", "parsehttpheader", 1},
	} {
		terms, exact := NewNGram().(Refiner).Refine(c.in, known)
		if got := strings.Join(terms, " "); got != c.want || exact != c.exact {
			t.Errorf("Refine(%q) = %s, %d; want %s, %d", c.in, got, exact, c.want, c.exact)
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

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"ERR-5023", "v2.10.1-rc1", "1,000,000-2,000", "a.b.c_d-e", "--x--", "fooBarBAZqux_", "中'文-a", "ab\u0301c-d",
		"ÀÉ-ÎÕx", "C++#", "12.", "x's", "_'_", "HTTP_", "é.É", "H\u0331aBc"} {
		f.Add(s)
	}
	a := NewNGram()
	f.Fuzz(func(t *testing.T, s string) {
		tokens := a.Tokens(s)
		if slices.Contains(tokens, "") {
			t.Fatalf("empty token of %q", s)
		}
		if again := NewNGram().Tokens(s); !slices.Equal(tokens, again) {
			t.Fatalf("%q gives %q and then %q", s, tokens, again)
		}
		terms := a.QueryTerms(s)
		for i, term := range terms {
			if !slices.Contains(tokens, term) {
				t.Fatalf("the term %q of %q is no token", term, s)
			}
			if slices.Contains(terms[:i], term) {
				t.Fatalf("the term %q of %q is there twice", term, s)
			}
		}
	})
}
