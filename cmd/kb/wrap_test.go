package main

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"one two three four", "one two|three four"},
		{"one two three four five six", "one two|three fou…"},
		{"abcdefghijklmnop", "abcdefghij|klmnop"},
		{"一二三四五，六七八九十一二", "一二三四|五，六七…"},
	} {
		if got := strings.Join(wrap(c.text, 10, 2), "|"); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// What does not fit leaves no trace: no blank line, no division by a width that
// is not there, and a word of any length takes the time of its length.
func TestWrapAtTheEdges(t *testing.T) {
	if got := wrap("", 10, 2); len(got) != 0 {
		t.Errorf("nothing: %q", got)
	}
	for _, indent := range []int{10, 11} {
		if got := (style{terminal: true, width: 10}).indented("one two", indent); strings.Join(strings.Fields(got), " ") != "one two" {
			t.Errorf("no room beside the indent of %d: %q", indent, got)
		}
	}
	long := strings.Repeat("abcdefghij", 100_000)
	if got := (style{terminal: true, width: 80}).wrapped("see " + long); got != "see\n"+long {
		t.Errorf("a word of %d characters: %d bytes", len(long), len(got))
	}
}

func TestWrapper(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"one two three four five", "one two\nthree four\nfive"},
		{"每天学习四十五分钟，周六复习。", "每天学习四\n十五分钟，\n周六复习。"},
		{"一二三四五，六七。", "一二三四\n五，六七。"},
		{"一二三四「五六」七", "一二三四\n「五六」七"},
		{"每天学习一二。[1]三", "每天学习一\n二。[1]三"},
		{"a kb-word 二三四", "a kb-word\n二三四"},
		{"abcdefghijklmnop", "abcdefghijklmnop"},
		{"one\n\n  two x", "one\n\n  two x"},
		{"使用 kb 来搜索", "使用 kb 来\n搜索"},
		{"", ""},
	} {
		for _, step := range []int{1, 2, 100} {
			var b strings.Builder
			w := &wrapper{w: &b, width: 10}
			for text := []rune(c.text); len(text) > 0; {
				n := min(step, len(text))
				if _, err := w.Write([]byte(string(text[:n]))); err != nil {
					t.Fatal(err)
				}
				text = text[n:]
			}
			w.Flush()
			if b.String() != c.want {
				t.Errorf("%q by %d:\n%s\nwant\n%s", c.text, step, b.String(), c.want)
			}
		}
	}
}
