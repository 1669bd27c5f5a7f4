package text

import (
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

func sentences(s string) (out []string) {
	for start, end := range Sentences(s) {
		out = append(out, s[start:end])
	}
	return out
}

func TestSentences(t *testing.T) {
	for _, c := range []struct{ name, want string }{ // | stands at the borders
		{"Chinese", "你好。|“我是。”|他说！！？|最后；|每天 45 分钟"},
		{"English", "Mr. Smith, e.g. this, is 3.14 of v2.10.1. |Next one! |\"Quoted.\" |After? |J. Smith (Jr.) came."},
		{"followed by Chinese", "It works.|然后继续"},
		{"lower case goes on", "See approx. five of them vs. six."},
		{"citations", "每天 45 分钟。[1][2] |Yes. [3] |See. |[link](x)"},
		{"URLs and code", "Use a?b=c and x;y at http://a.b/c?d! |Then"},
		{"paragraphs", "one\ntwo\n\n|three\n \n|four"},
		{"blocks", "# Title\n|text\n|- item 1\n|- Item two. |More\ncontinues\n|1. First. |Second.\n|> quote"},
		{"table", "|\\| a \\| b \\|\n|\\|---\\|---\\|\n|\\| 1. x \\| 2 \\|\n|after"},
		{"row as text", "Name \\| Ext.\nZoë \\| Yes. Good. [1]\n|Next. |After"},
		{"fence", "a\n|```go\n|x := 1\n|y\n|```\n|b"},
		{"pages", "page one\f|page two"},
		{"leading space", "\n\n  Hello. |World\n\n"},
		{"numbered heading", "7.2 How to pick a hotel\n|To pick one, look."},
		{"no heading", "costs 1.5 Euro\nmore"},
		{"setext", "Title\n|=====\n|text"},
		{"only space", " \n\n "},
	} {
		want := strings.Split(strings.ReplaceAll(strings.TrimPrefix(c.want, "|"), "\\|", "\x00"), "|")
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], "\x00", "|")
		}
		if got := sentences(strings.Join(want, "")); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, want)
		}
	}
}

func FuzzSentences(f *testing.F) {
	f.Add("你好。 [1] “x.” y\n\n- a. b\n| c |\n```\nd; e\n")
	f.Add(". . .\n\f\f. \xff。\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for start, end := range Sentences(s) {
			if start != at || end <= start {
				t.Fatalf("%q: range %d to %d behind %d", s, start, end, at)
			}
			at = end
		}
		if at != len(s) {
			t.Fatalf("%q: sentences end at %d of %d", s, at, len(s))
		}
	})
}

func FuzzGraphemeBoundary(f *testing.F) {
	for _, s := range []string{"e\u0301a", "👨‍👩‍👧x👍🏽", "🇩🇪🇫🇷🇩", "\r\n\n\r", "각가", "中\ufe0f文", "a\xffb\xe4\xb8", "क्षि", "©\ufe0f®", "\u0600a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > farthest/2 {
			return
		}
		want := map[int]bool{0: true}
		at := 0
		for g := uniseg.NewGraphemes(s); g.Next(); {
			at += len(g.Str())
			want[at] = true
		}
		for i := range len(s) + 1 {
			if got := GraphemeBoundary(s, i); got != want[i] {
				t.Fatalf("GraphemeBoundary(%q, %d) = %v", s, i, got)
			}
			if last := LastBoundary(s, i); !want[last] || last > i {
				t.Fatalf("LastBoundary(%q, %d) = %d", s, i, last)
			}
		}
	})
}
