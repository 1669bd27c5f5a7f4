package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// analyzers are all of them; each passes the same suite.
func analyzers(t *testing.T) []Analyzer {
	var out []Analyzer
	for _, name := range []string{DefaultAnalyzer, GSE} {
		a, err := NewAnalyzer(name)
		if err != nil || a.Name() != name {
			t.Fatalf("NewAnalyzer(%q): %v, %v", name, a, err)
		}
		out = append(out, a)
	}
	return out
}

// Whoever writes the first should find the second, in a chunk that holds it;
// and what he found is marked.
func TestWhatIsFoundByWhat(t *testing.T) {
	for _, tc := range []struct{ question, note, marked string }{
		// identifiers, whole and by part
		{"ERR-5023", "the code ERR-5023 means", "ERR-5023"}, {"err5023", "ERR-5023", "ERR-5023"}, {"5023", "ERR-5023", "5023"},
		{"ＥＲＲ－5023", "ERR-5023", "ERR-5023"}, {"v2.10.1", "since v2.10.1 it works", "v2.10.1"}, {"2.10.1", "v2.10.1", "v2.10.1"},
		{"v2.10.1", "v2.10.1-rc1", "v2.10.1"}, {"rotate_keys", "call rotate_keys() first", "rotate_keys"},
		{"rotate keys", "rotate_keys", "rotate|keys"}, {"rotateKeys", "rotate_keys", "rotate_keys"},
		{"HTTPHeader", "parseHTTPHeader(line)", "HTTPHeader"}, {"http header", "HTTPHeader", "HTTPHeader"},
		{`"--fail-fast"`, "--fail-fast", "fail-fast"}, {"fail", "--fail-fast", "fail"}, {"C++", "written in C++, mostly", "C++"},
		{"1,000,000", "1000000", "1000000"}, {"1000000", "of 1,000,000 in all", "1,000,000"},
		{"192.168.20.12", "at 192.168.20.12.", "192.168.20.12"},
		{"中文混排", "中文mixed混排", "中文|混排"}, {"mixed", "中文mixed混排", "mixed"},
		// case, stems, spellings
		{"rotating", "keys are rotated", "rotated"}, {"Bob's", "bob", "bob"}, {"the US", "the U.S. office", "U.S"},
		{"e-mail", "send an email", "email"}, {"ПРИВЕТ", "привет!", "привет"}, {"안녕", "안녕하세요", "안녕"},
		// forms of Unicode
		{"cafe", "the Café", "Café"}, {"Café", "the cafe", "cafe"}, {"resume", "two résumés", "résumés"}, {"Strasse", "Hauptstraße, Straße", "Straße"},
		{"Lodz", "in Łódź", "Łódź"}, {"ha noi", "Hà Nội", "Hà|Nội"}, {"кофейня", "кофейня", "кофейня"}, {"tag: beyonce-tour", "Beyoncé-Tour", "Beyoncé-Tour"},
		{"cafe\u0301", "caf\u00e9", "caf\u00e9"}, {"caf\u00e9", "a cafe\u0301 is", "cafe\u0301"}, {"ＡＢＣ１２３", "abc123", "abc123"},
		{"abc123", "（ＡＢＣ１２３）", "ＡＢＣ１２３"}, {"ガス", "ｶﾞｽの", "ｶﾞｽ"}, {"zero", "ze\u200bro", "ze\u200bro"},
		// Chinese, in both scripts
		{"软件", "軟體與軟件", "軟件"}, {"軟件開發", "谈软件开发", "软件开发"}, {"臺灣", "在台湾", "台湾"}, {"繁体", "繁體字", "繁體"},
		{"超标审批", "超标住宿须经两级审批", "超标|审批"}, {"住宿标准", "住宿费的标准", "住宿|标准"}, {"住宿费", "住宿的规定", "住宿"},
		{"テスト", "テストする", "テスト"},
	} {
		for _, a := range analyzers(t) {
			terms := map[string]float64{}
			for _, term := range a.QueryTerms(tc.question) {
				terms[term] = 1
			}
			tokens := a.Tokens(tc.note)
			if !slices.ContainsFunc(tokens, func(token string) bool { return terms[token] > 0 }) {
				t.Errorf("%s: %q %v does not find %q %q", a.Name(), tc.question, terms, tc.note, tokens)
			}
			if got := marked(a, tc.note, tc.question, terms); got != tc.marked {
				t.Errorf("%s: %q marks %q in %q, want %q", a.Name(), tc.question, got, tc.note, tc.marked)
			}
		}
	}
}

func marked(a Analyzer, s, question string, terms map[string]float64) string {
	var parts []string
	for _, m := range a.Marks(s, question, terms) {
		parts = append(parts, s[m[0]:m[1]])
	}
	return strings.Join(parts, "|")
}

// What reads alike has the same tokens.
func TestSameTokens(t *testing.T) {
	for _, group := range [][]string{
		{"cafe\u0301 résume\u0301", "caf\u00e9 résumé"},
		{"ＥＲＲ－５０２３　ｆａｉｌ", "err-5023 FAIL"},
		{"軟體開發與測試，臺灣", "软体开发与测试，台湾"},
		{"ﬁle ①", "file 1"},
		{"don’t e‑mail", "don't e-mail"},
		{"so\u00adft\ufeffware", "software"},
	} {
		for _, a := range analyzers(t) {
			first := a.Tokens(group[0])
			for _, s := range group[1:] {
				if got := a.Tokens(s); !slices.Equal(first, got) {
					t.Errorf("%s: %q gives %q, but %q gives %q", a.Name(), group[0], first, s, got)
				}
			}
		}
	}
}

// Stop words leave questions, unless nothing else is in them, and no text.
func TestStopWords(t *testing.T) {
	for _, a := range analyzers(t) {
		for _, s := range []string{"为什么公司的全称是这个？", "what is the name of the company?"} {
			terms, tokens := a.QueryTerms(s), a.Tokens(s)
			for _, stop := range []string{"的", "是", "什么", "为什么", "what", "is", "the", "of"} {
				if slices.Contains(terms, stop) {
					t.Errorf("%s: the question %q keeps %q", a.Name(), s, stop)
				}
			}
			if !slices.Contains(tokens, "的") && !slices.Contains(tokens, "the") {
				t.Errorf("%s: the text %q loses its stop words: %q", a.Name(), s, tokens)
			}
		}
		for _, s := range []string{"的", "为什么", "who", "什么是什么"} {
			if len(a.QueryTerms(s)) == 0 {
				t.Errorf("%s: nothing is left of the question %q", a.Name(), s)
			}
		}
	}
}

// Texts without a word, and huge ones, are texts too.
func TestExtremes(t *testing.T) {
	for _, a := range analyzers(t) {
		for _, s := range []string{"", " \t\n", "，。！", "\x00\xff\xfe", "* \" ' \\ -", "\u200d", "👩‍👩‍👧"} {
			if got := a.QueryTerms(s); len(got) > 0 {
				t.Errorf("%s: %q has the terms %q", a.Name(), s, got)
			}
		}
		for _, s := range []string{"公司的全称", "parseHTTPHeader-", "e\u0301", "1,000,", "ท้", "x"} {
			huge := strings.Repeat(s, 20_000)
			a.Tokens(huge)
			a.Marks(huge, "公司", map[string]float64{"公司": 1})
		}
	}
}

// A character by itself is marked where nobody asked for a pair with it; with
// dictionary words no pair across two words of the question is, but one across
// two of the text may be a word of the question.
func TestMarks(t *testing.T) {
	for _, c := range []struct{ analyzer, question, note, want string }{
		{"ngram", "公司", "公元，公司", "公司"},
		{"ngram", "道", "道路与知道", "道|道"},
		{"ngram", "公司的全称", "公司的人", "公司的"},
		{"gse", "公司的全称", "公司的人，全称", "公司|全称"},
		{"gse", "超标", "写明超标的原因", "超标"},
		{"gse", "道", "知道，道", "道"},
	} {
		a, _ := NewAnalyzer(c.analyzer)
		terms := map[string]float64{}
		for _, term := range a.QueryTerms(c.question) {
			terms[term] = 1
		}
		if got := marked(a, c.note, c.question, terms); got != c.want {
			t.Errorf("%s: %q marks %q in %q, want %q", c.analyzer, c.question, got, c.note, c.want)
		}
	}
}

func FuzzAnalyzers(f *testing.F) {
	for _, s := range []string{"ERR-5023", "v2.10.1-rc1", "1,000,000-2,000", "a.b.c_d-e", "--x--", "fooBarBAZqux_", "中'文-a", "ab\u0301c-d",
		"ÀÉ-ÎÕx", "C++#", "12.", "x's", "_'_", "HTTP_", "é.É", "H\u0331aBc", "公司的全称", "中\u0301文字", "食べる漢字", "蔊公司", "𫘨𠮷野", "ｶﾞa\u00ad\u0301"} {
		f.Add(s)
	}
	all := []Analyzer{NewNGram(), NewGSE()}
	f.Fuzz(func(t *testing.T, s string) {
		for _, a := range all {
			tokens := a.Tokens(s)
			if slices.Contains(tokens, "") {
				t.Fatalf("%s: empty token of %q", a.Name(), s)
			}
			fresh, _ := NewAnalyzer(a.Name())
			if again := fresh.Tokens(s); !slices.Equal(tokens, again) {
				t.Fatalf("%s: %q gives %q and then %q", a.Name(), s, tokens, again)
			}
			terms := map[string]float64{}
			for _, term := range a.QueryTerms(s) {
				if !slices.Contains(tokens, term) {
					t.Fatalf("%s: the term %q of %q is no token", a.Name(), term, s)
				}
				if terms[term] > 0 {
					t.Fatalf("%s: the term %q of %q is there twice", a.Name(), term, s)
				}
				terms[term] = 1
			}
			checkMarks(t, a, s, terms)
		}
	})
}

func checkMarks(t *testing.T, a Analyzer, s string, terms map[string]float64) {
	end := -1
	for _, m := range a.Marks(s, s, terms) {
		if m[0] <= end || m[0] >= m[1] || m[1] > len(s) {
			t.Fatalf("%s: marks %v of %q", a.Name(), a.Marks(s, s, terms), s)
		}
		if utf8.ValidString(s) && !utf8.ValidString(s[m[0]:m[1]]) {
			t.Fatalf("%s: %q is marked inside a character: %v", a.Name(), s, m)
		}
		end = m[1]
	}
}
