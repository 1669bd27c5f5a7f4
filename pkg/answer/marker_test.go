package answer

import (
	"slices"
	"strings"
	"testing"
)

func normalize(passages int, pieces ...string) (string, *normalizer) {
	f := newFilter(passages, false)
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(f.write(p))
	}
	b.WriteString(f.close())
	return b.String(), f.markers
}

var markerTable = []struct {
	in, out string
	cites   []int
	invalid []int
}{
	// what models write
	{"先备份[1]。", "先备份[1]。", []int{1}, nil},
	{"先备份[1][2]。", "先备份[1][2]。", []int{1, 2}, nil},
	{"先备份[1,2]。", "先备份[1][2]。", []int{1, 2}, nil},
	{"先备份[1, 2]。", "先备份[1][2]。", []int{1, 2}, nil},
	{"先备份[1，2]。", "先备份[1][2]。", []int{1, 2}, nil},
	{"先备份[1、2]。", "先备份[1][2]。", []int{1, 2}, nil},
	{"先备份[1;2]。", "先备份[1][2]。", []int{1, 2}, nil},
	{"先备份[1-3]。", "先备份[1][2][3]。", []int{1, 2, 3}, nil},
	{"先备份[1–3]。", "先备份[1][2][3]。", []int{1, 2, 3}, nil},
	{"先备份[1~3]。", "先备份[1][2][3]。", []int{1, 2, 3}, nil},
	{"先备份[^1]。", "先备份[1]。", []int{1}, nil},
	{"先备份[^1^]。", "先备份[1]。", []int{1}, nil},
	{"先备份【1】。", "先备份[1]。", []int{1}, nil},
	{"先备份【1†source】。", "先备份[1]。", []int{1}, nil},
	{"先备份【1†notes/travel-policy-2024.pdf】。", "先备份[1]。", []int{1}, nil},
	{"先备份［１］。", "先备份[1]。", []int{1}, nil},
	{"先备份[资料1]。", "先备份[1]。", []int{1}, nil},
	{"先备份[文档 2]。", "先备份[2]。", []int{2}, nil},
	{"先备份[来源：1]。", "先备份[1]。", []int{1}, nil},
	{"先备份【资料1、资料3】。", "先备份[1][3]。", []int{1, 3}, nil},
	{"Back up first [Source 1].", "Back up first [1].", []int{1}, nil},
	{"Back up first [doc_1].", "Back up first [1].", []int{1}, nil},
	{"Back up first [citation:1][citation:2].", "Back up first [1][2].", []int{1, 2}, nil},
	{"Back up first [ref:1].", "Back up first [1].", []int{1}, nil},
	{"Back up first [ID:3].", "Back up first [3].", []int{3}, nil},
	{"Back up first [1, 2 and 3].", "Back up first [1][2][3].", []int{1, 2, 3}, nil},
	{"Back up first [[1]].", "Back up first [1].", []int{1}, nil},
	{"Back up first<sup>1</sup>.", "Back up first[1].", []int{1}, nil},
	{"Back up first<sup>[1, 2]</sup>.", "Back up first[1][2].", []int{1, 2}, nil},
	{"Back up first.¹", "Back up first.[1]", []int{1}, nil},
	{"先备份²。", "先备份[2]。", []int{2}, nil},
	{"先备份（1）。再重启 (2)。", "先备份[1]。再重启 [2]。", []int{1, 2}, nil},
	{"Back up first [1, p. 3].", "Back up first [1].", []int{1}, nil},
	{"先备份[1，第3页]。", "先备份[1]。", []int{1}, nil},
	{"The capital of France[1] is Paris[2].", "The capital of France[1] is Paris[2].", []int{1, 2}, nil},
	{"It was in 2024[1].", "It was in 2024[1].", []int{1}, nil},
	{"调用 rotate_keys[1]。", "调用 rotate_keys[1]。", []int{1}, nil},
	{"Great![1]", "Great![1]", []int{1}, nil},
	{"[1] 指出先备份。", "[1] 指出先备份。", []int{1}, nil},
	{"备份[1][1][1,2]。", "备份[1][2]。", []int{1, 2}, nil},
	{"| 备份 | 每天[1] |", "| 备份 | 每天[1] |", []int{1}, nil},

	// numbers without a passage
	{"先备份[1]。另见[9]和[0]。", "先备份[1]。另见和。", []int{1}, []int{0, 9}},
	{"See it [9].", "See it.", nil, []int{9}},
	{"See it [2, 9].", "See it [2].", []int{2}, []int{9}},
	{"See it [2-5].", "See it [2][3].", []int{2, 3}, []int{4, 5}},
	{"见【7†source】。", "见。", nil, []int{7}},
	{"见[资料12]。", "见。", nil, []int{12}},
	{"见[9][8][9]。", "见。", nil, []int{8, 9}},

	// what only looks like a marker
	{"`a[1]` and `x [2]`", "`a[1]` and `x [2]`", nil, nil},
	{"``[1] ` [2]`` then [3]", "``[1] ` [2]`` then [3]", []int{3}, nil},
	{"a stray ` does not hide [1]\n", "a stray ` does not hide [1]", []int{1}, nil},
	{"```go\nx := [1]\n```\nsee [2]", "```go\nx := [1]\n```\nsee [2]", []int{2}, nil},
	{"x\n  ~~~\n[1]\n~~~\n[2]", "x\n  ~~~\n[1]\n~~~\n[2]", []int{2}, nil},
	{"````\n```\n[1]\n````\n[2]", "````\n```\n[1]\n````\n[2]", []int{2}, nil},
	{"```[1]``` is code, [2] is not", "```[1]``` is code, [2] is not", []int{2}, nil},
	{"```\n[1] never closed", "```\n[1] never closed", nil, nil},
	{"see [1](https://example.com/1)", "see [1](https://example.com/1)", nil, nil},
	{"see [[1]](https://example.com/1)", "see [[1]](https://example.com/1)", nil, nil},
	{"![1](a.png)", "![1](a.png)", nil, nil},
	{"[the text][1] follows", "[the text][1] follows", nil, nil},
	{"[1]: https://example.com", "[1]: https://example.com", nil, nil},
	{"text\n[^1]: a footnote", "text\n[^1]: a footnote", nil, nil},
	{"a[0] comes before a[1] and f()[2]", "a[0] comes before a[1] and f()[2]", nil, nil},
	{"x = [0] and y=[1] [2]", "x = [0] and y=[1] [2]", []int{2}, nil},
	{"m[1][2] = 3", "m[1][2] = 3", nil, nil},
	{"argv[1]. user_ids[2] = 5", "argv[1]. user_ids[2] = 5", nil, nil},
	{"在 [2024] 年，端口 [8080]", "在 [2024] 年，端口 [8080]", nil, nil},
	{"[2024-05-01] [12:30] [1.5] [x] [ ] [TODO] []", "[2024-05-01] [12:30] [1.5] [x] [ ] [TODO] []", nil, nil},
	{"【注意】先备份", "【注意】先备份", nil, nil},
	{`\[1\] and \(x\)`, `\[1\] and \(x\)`, nil, nil},
	{"面积 50 m²，10² 个，CO²", "面积 50 m²，10² 个，CO²", nil, nil},
	{"步骤：(1) 备份；(2) 重启", "步骤：(1) 备份；(2) 重启", nil, nil},
	{"（1）备份。\n（2）重启。", "（1）备份。\n（2）重启。", nil, nil},
	{"见公式（1）。f(1).", "见公式（1）。f(1).", nil, nil},
	{"已备份[2]，共一项（1）。", "已备份[2]，共一项（1）。", []int{2}, nil},
	{"a < b and <sub>1</sub>", "a < b and <sub>1</sub>", nil, nil},
	{"unclosed [1", "unclosed [1", nil, nil},
	{"[a very long bracket that is no marker 1]", "[a very long bracket that is no marker 1]", nil, nil},
	{"北京时间九点启动🚀[1]", "北京时间九点启动🚀[1]", []int{1}, nil},
	{"bad \xff\xfe bytes [1]", "bad \ufffd\ufffd bytes [1]", []int{1}, nil},
}

func TestMarkers(t *testing.T) {
	for _, c := range markerTable {
		out, z := normalize(3, c.in)
		if out != c.out {
			t.Errorf("%q:\n got %q\nwant %q", c.in, out, c.out)
		}
		var cites []int
		for _, m := range z.marks {
			if out[m.start:m.end] != "["+string(rune('0'+m.n))+"]" {
				t.Errorf("%q: mark %+v is %q", c.in, m, out[m.start:m.end])
			}
			cites = append(cites, m.n)
		}
		if !slices.Equal(cites, c.cites) || !slices.Equal(z.invalid, c.invalid) {
			t.Errorf("%q: cites %v, invalid %v; want %v, %v", c.in, cites, z.invalid, c.cites, c.invalid)
		}
	}
}

// The result does not depend on where the text was cut.
func TestMarkersInPieces(t *testing.T) {
	for _, c := range markerTable {
		whole, zw := normalize(3, c.in)
		bytewise, zb := normalize(3, strings.Split(c.in, "")...)
		check := func(out string, z *normalizer, how string) {
			if out != whole || !slices.Equal(z.marks, zw.marks) || !slices.Equal(z.invalid, zw.invalid) {
				t.Errorf("%q %s:\n got %q %v\nwant %q %v", c.in, how, out, z.marks, whole, zw.marks)
			}
		}
		check(bytewise, zb, "rune by rune")
		for i := range len(c.in) {
			out, z := normalize(3, c.in[:i], c.in[i:])
			check(out, z, "cut at "+c.in[:i])
		}
	}
}

// Text is held back only from what may become a marker.
func TestMarkersFlow(t *testing.T) {
	z := newNormalizer(3)
	for _, c := range []struct{ in, out string }{
		{"每天", "每天"}, {"45 ", "45"}, {"分钟", " 分钟"}, {"[", ""}, {"1", ""}, {"]", ""}, {"。", "[1]。"},
		{"【", ""}, {"2】", "[2]"}, {"[这是一个很长很长很长很长很长很长的", "[这是一个很长很长很长很长很长很长的"},
	} {
		if got := z.write(c.in); got != c.out {
			t.Errorf("after %q: %q, want %q", c.in, got, c.out)
		}
	}
}

func FuzzMarkers(f *testing.F) {
	for _, c := range markerTable {
		f.Add(c.in, uint8(3), uint8(7))
	}
	f.Add("[[9]7] [7[9]] [1[9]]", uint8(3), uint8(2))
	f.Fuzz(func(t *testing.T, s string, passages, cut uint8) {
		n := int(passages % 12)
		whole, z := normalize(n, s)
		for i, m := range z.marks {
			if m.n < 1 || m.n > n || whole[m.start] != '[' || whole[m.end-1] != ']' {
				t.Fatalf("mark %+v of %d in %q", m, n, whole)
			}
			if i > 0 && m.start < z.marks[i-1].end {
				t.Fatalf("marks overlap: %v", z.marks)
			}
		}
		if !slices.IsSorted(z.invalid) || slices.ContainsFunc(z.invalid, func(i int) bool { return i >= 1 && i <= n }) {
			t.Fatalf("invalid: %v of %d", z.invalid, n)
		}
		if len(z.marks) == 0 && len(z.invalid) == 0 && !strings.HasPrefix(strings.TrimSpace(string([]rune(s))), whole) {
			t.Fatalf("%q became %q", s, whole)
		}
		var pieces []string
		for rest, size := s, int(cut%9)+1; rest != ""; {
			k := min(size, len(rest))
			pieces, rest = append(pieces, rest[:k]), rest[k:]
		}
		if parts, zp := normalize(n, pieces...); parts != whole || !slices.Equal(zp.marks, z.marks) {
			t.Fatalf("in pieces of %d: %q, whole: %q", cut%9+1, parts, whole)
		}
		if strings.ContainsAny(whole, "`~\\") {
			return // what is code may differ once a number has gone
		}
		if _, again := normalize(n, whole); len(again.invalid) > 0 {
			t.Fatalf("%q still cites %v", whole, again.invalid)
		}
	})
}
