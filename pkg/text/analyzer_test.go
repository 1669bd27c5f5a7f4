package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whoever writes the first should find the second, in a chunk that holds it.
func TestWhatIsFoundByWhat(t *testing.T) {
	a := NewNGram()
	for _, tc := range []struct{ question, note string }{
		{"ERR-5023", "the code ERR-5023 means"}, {"err5023", "ERR-5023"}, {"5023", "ERR-5023"},
		{"v2.10.1", "since v2.10.1 it works"}, {"2.10.1", "v2.10.1"}, {"v2.10.1", "v2.10.1-rc1"},
		{"rotate_keys", "call rotate_keys() first"}, {"rotate keys", "rotate_keys"},
		{"HTTPHeader", "type HTTPHeader struct"}, {"http header", "HTTPHeader"}, {"--fail-fast", "with --fail-fast set"}, {`"--fail-fast"`, "--fail-fast"},
		{"C++", "written in C++, mostly"}, {"e-mail", "send an email"}, {"1,000,000", "1000000"}, {"192.168.20.12", "at 192.168.20.12."},
		{"rotating", "keys are rotated"}, {"Bob's", "bob"},
		{"软件", "軟體與軟件"}, {"軟件開發", "软件开发"}, {"发展", "發展"}, {"超标审批", "超标住宿须经两级审批"},
		{"ＡＢＣ１２３", "abc123"}, {"cafe\u0301", "caf\u00e9"}, {"ＥＲＲ－5023", "ERR-5023"}, {"テスト", "テストする"}, {"привет", "Привет!"}, {"안녕", "안녕하세요"},
	} {
		tokens := a.Tokens(tc.note)
		found := slices.ContainsFunc(a.QueryTerms(tc.question), func(term string) bool { return slices.Contains(tokens, term) })
		if !found {
			t.Errorf("%q %q does not find %q %q", tc.question, a.QueryTerms(tc.question), tc.note, tokens)
		}
	}
}

func TestNearIdentifiersDiffer(t *testing.T) {
	a := NewNGram()
	for _, tc := range [][2]string{{"ERR-5023", "ERR-5032"}, {"v2.10.1", "v2.1.10"}, {"rotate_keys", "rotate_tokens"}, {"--fail-fast", "--fail-safe"}} {
		right, wrong := shared(a, tc[0], tc[0]), shared(a, tc[0], tc[1])
		if wrong >= right {
			t.Errorf("%s shares %d terms with %s, and %d with itself", tc[0], wrong, tc[1], right)
		}
	}
}

func shared(a Analyzer, question, note string) (n int) {
	tokens := a.Tokens(note)
	for _, term := range a.QueryTerms(question) {
		if slices.Contains(tokens, term) {
			n++
		}
	}
	return n
}

func TestStopWordsLeaveTheQuestionOnly(t *testing.T) {
	a := NewNGram()
	if got := a.QueryTerms("what is the limit of the hotel"); !slices.Equal(got, []string{"limit", "hotel"}) {
		t.Errorf("got %q", got)
	}
	if got := a.QueryTerms("什么是谁"); len(got) == 0 {
		t.Error("a question of stop words alone lost all of them")
	}
	if got := a.Tokens("the limit"); !slices.Contains(got, "the") {
		t.Errorf("the index lost a word: %q", got)
	}
	for _, q := range []string{"*", "'", `\`, `"`, "", " ", "→", "…"} {
		if got := a.QueryTerms(q); len(got) != 0 {
			t.Errorf("%q has terms %q", q, got)
		}
	}
}

func TestSentencesEndWhereReadersStop(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"你好。“我是。”他说！！？最后；每天45分钟。[1][2] Next.", "你好。|“我是。”|他说！！？|最后；|每天45分钟。[1][2] |Next."},
		{"Mr. Smith paid 3.14, e.g. for v2.10.1. Next one! \"Quoted.\" After?", "Mr. Smith paid 3.14, e.g. for v2.10.1. |Next one! |\"Quoted.\" |After?"},
		{"# Title\nOne.\n- item\n- other. More\n\nNew", "# Title\n|One.\n|- item\n|- other. |More\n\n|New"},
		{"| a | b |\n|---|---|\n| 1. x | 2 |\nend", "| a | b |\n||---|---|\n|| 1. x | 2 |\n|end"},
		{"7.2 How to pick a hotel\nTo pick one, look.", "7.2 How to pick a hotel\n|To pick one, look."},
		{"costs 1.5 Euro\nmore", "costs 1.5 Euro\nmore"},
	} {
		var got []string
		for from, to := range Sentences(tc.in) {
			got = append(got, tc.in[from:to])
		}
		if strings.Join(got, "|") != tc.want {
			t.Errorf("%q\ngot  %q\nwant %q", tc.in, strings.Join(got, "|"), tc.want)
		}
	}
}

func TestGraphemes(t *testing.T) {
	for _, tc := range []struct {
		s    string
		i    int
		want bool
	}{
		{"e\u0301x", 1, false}, {"e\u0301x", 3, true}, {"👨‍👩‍👧", 4, false}, {"🇨🇳🇨🇳", 4, false}, {"🇨🇳🇨🇳", 8, true}, {"\r\n", 1, false}, {"中文", 1, false}, {"中文", 3, true}, {"ab", 1, true},
	} {
		if got := GraphemeBoundary(tc.s, tc.i); got != tc.want {
			t.Errorf("%q at %d: %t", tc.s, tc.i, got)
		}
	}
}

// FuzzText: whatever the text, sentences tile it, normalising is stable, and a
// text finds itself.
func FuzzText(f *testing.F) {
	for _, s := range []string{"# A\n你好。b", "e\u0301 ＡＢ v2.1-_.x", "```\na\n", "1.2.3 Ü\n\f|x|", "\xff\u0000", "ﬁ Ⅷ 軟體"} {
		f.Add(s)
	}
	a := NewNGram()
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for from, to := range Sentences(s) {
			if from != at || to <= from {
				t.Fatalf("%q: a sentence from %d to %d behind %d", s, from, to, at)
			}
			at = to
		}
		if at != len(s) {
			t.Fatalf("%q: the sentences end at %d of %d", s, at, len(s))
		}
		if once := Normalize(s); utf8.ValidString(s) && Normalize(once) != once {
			t.Fatalf("%q is normalised to %q and then to %q", s, once, Normalize(once))
		}
		tokens := a.Tokens(s)
		for _, term := range a.QueryTerms(s) {
			if !slices.Contains(tokens, term) {
				t.Fatalf("%q: the question's term %q is none of %q", s, term, tokens)
			}
		}
	})
}
