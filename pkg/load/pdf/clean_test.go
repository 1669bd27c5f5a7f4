package pdf

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTidy(t *testing.T) {
	for in, want := range map[string]string{
		"con\u0002\r\nfiguration":     "configuration",
		"con\u0002figuration":         "configuration",
		"o\ufb03ce \ufb01nd":          "office find",
		"\u2f00\uf900，（":              "一豈，（",
		"a\u00adb\u200bc\ufeffd\x0ee": "abcde",
		"a\r\nb\rc\fd":                "a\nb\nc\nd",
	} {
		if got := tidy(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestJoinLines(t *testing.T) {
	zh := "机器翻译与语音识别技术在过去十年里取得了显著的进步但专业领域的术语"
	en := "the loader reads every file in the folder and writes one document"
	for name, c := range map[string]struct{ in, want string }{
		"chinese":             {zh + "\n仍然容易出错。\n下一段", zh + "仍然容易出错。\n下一段"},
		"end of a sentence":   {zh + "。\n" + zh, zh + "。\n" + zh},
		"lower case goes on":  {en + "\nper line", en + " per line"},
		"capital":             {en + "\nPer line", en + "\nPer line"},
		"mixed":               {zh + "\nrag 系统", zh + " rag 系统"},
		"hyphen":              {"con-\nfiguration", "configuration"},
		"two hyphens":         {"con-\nfigu-\nration", "configuration"},
		"hyphen of a name":    {"Meyer-\nLansky", "Meyer-\nLansky"},
		"short lines":         {"标题\n正文开始", "标题\n正文开始"},
		"item":                {zh + "\n（二）下一条", zh + "\n（二）下一条"},
		"clause":              {zh + "\n第十二条 总则", zh + "\n第十二条 总则"},
		"numbered heading":    {zh + "\n3.2 住宿标准", zh + "\n3.2 住宿标准"},
		"a number is no item": {zh + "\n2026年完成", zh + "\n2026年完成"},
		"row":                 {"部门名称甲乙丙 员工数目甲 预算万元甲乙 负责人甲乙\n研发部门 46 254 王小明", "部门名称甲乙丙 员工数目甲 预算万元甲乙 负责人甲乙\n研发部门 46 254 王小明"},
		"blank lines":         {"a\n\n\n\nb", "a\n\nb"},
	} {
		if got := joinLines(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestRunning(t *testing.T) {
	pages := func(text ...string) (out []Page) {
		for _, s := range text {
			out = append(out, Page{Text: s})
		}
		return out
	}
	for name, c := range map[string]struct {
		pages []Page
		want  string
	}{
		"chinese":       {pages("公司制度\n正文甲\n第 1 页", "公司制度\n正文乙\n第 2 页", "公司制度\n正文丙\n第 3 页"), "[{正文甲  []} {正文乙  []} {正文丙  []}]"},
		"of ten":        {pages("a\n1 / 10", "b\n2 / 10", "c\n3 / 10"), "[{a  []} {b  []} {c  []}]"},
		"two pages":     {pages("h\na", "h\nb"), "[{h\na  []} {h\nb  []}]"},
		"on a minority": {pages("h\na", "h\nb", "c", "d"), "[{h\na  []} {h\nb  []} {c  []} {d  []}]"},
		"in the middle": {pages("1\na\nx\nb\n2", "c\nd\nx\ne\nf", "g\nh\nx\ni\nj"), "[{1\na\nx\nb\n2  []} {c\nd\nx\ne\nf  []} {g\nh\nx\ni\nj  []}]"},
		"nothing else":  {pages("Chapter 1", "Chapter 2", "Chapter 3"), "[{Chapter 1  []} {Chapter 2  []} {Chapter 3  []}]"},
		"only numbers":  {pages("a\n1", "2", "b\n3"), "[{a  []} {  []} {b  []}]"},
	} {
		cutRunning(c.pages)
		if got := fmt.Sprint(c.pages); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// sized is a page of lines, each with the size of its type in front.
func sized(lines ...string) rawPage {
	var p rawPage
	for _, line := range lines {
		size, text, _ := strings.Cut(line, " ")
		n, err := strconv.ParseFloat(size, 32)
		if err != nil {
			panic(err)
		}
		p.Text += text + "\r\n"
		p.Sizes = append(p.Sizes, float32(n))
	}
	return p
}

func TestHeadings(t *testing.T) {
	body := "10 the loader reads every file in the folder and writes one document"
	named := func(p rawPage, marks ...bookmark) rawPage {
		p.Bookmarks = marks
		return p
	}
	for name, c := range map[string]struct {
		page rawPage
		want string
	}{
		"levels":          {sized("18 Title", "12 1.1 Scope", body, body, body, "12 1.2 Purpose", body), "[{0 1 Title} {6 2 1.1 Scope} {214 2 1.2 Purpose}]"},
		"two lines":       {sized("18 A title of", "18 two lines", body, body), "[{0 1 A title of two lines}]"},
		"chinese lines":   {sized("18 差旅费用", "18 管理办法", body, body), "[{0 1 差旅费用管理办法}]"},
		"a sentence":      {sized("18 this is no title,", body, body), "[]"},
		"a little larger": {sized("10.4 Scope", body, body), "[]"},
		"mostly large":    {sized("18 Slides have", "10 small", "18 large type"), "[]"},
		"numbers":         {sized("18 2026", body, body), "[]"},
		"bookmark":        {named(sized(body, "10 3.2 Scope", body), bookmark{"3.2 Scope", 2, 0}), "[{66 2 3.2 Scope}]"},
		"without number":  {named(sized(body, "10 3.2 Scope", body), bookmark{"Scope", 1, 0}), "[{66 1 3.2 Scope}]"},
		"not on the page": {named(sized(body, "10 Scope", body), bookmark{"Introduction", 1, 0}, bookmark{"Scope", 2, 0}), "[{0 1 Introduction} {66 2 Scope}]"},
		"marks in a text": {sized("10 \x03a\x04b", body), "[]"},
	} {
		got := clean([]rawPage{c.page}).Pages[0]
		if fmt.Sprint(got.Headings) != c.want || strings.ContainsFunc(got.Text, isMark) {
			t.Errorf("%s: %v in %q, want %s", name, got.Headings, got.Text, c.want)
		}
		for _, h := range got.Headings {
			if h.Title != "Introduction" && !strings.HasPrefix(got.Text[h.Start:], h.Title) {
				t.Errorf("%s: %q is not at %d", name, h.Title, h.Start)
			}
		}
	}
}

func TestStatus(t *testing.T) {
	words := strings.Repeat("words of a page ", 10)
	for name, c := range map[string]struct {
		page rawPage
		want string
	}{
		"text":         {rawPage{Text: words}, ""},
		"few bad":      {rawPage{Text: words + "\ufffd\ufffd"}, ""},
		"private use":  {rawPage{Text: words + strings.Repeat("\ue000", 20)}, StatusUnreadable},
		"replacements": {rawPage{Text: strings.Repeat("\ufffd", 60)}, StatusUnreadable},
		"short":        {rawPage{Text: "\ue000\ue001"}, ""},
		"picture":      {rawPage{Text: " \u200b\n", Graphics: true}, StatusNoText},
		"nothing":      {rawPage{}, StatusEmpty},
		"failed":       {rawPage{Failed: "x"}, StatusError},
	} {
		if got := status(c.page); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("Header\nbody con-\nfiguration\nPage 1", "Header\n机器\n翻译\nPage 2")
	f.Fuzz(func(t *testing.T, a, b string) {
		sizes := []float32{20, 10, 10, 15}
		for _, p := range clean([]rawPage{{Text: a, Sizes: sizes}, {Text: b}, {Text: a, Bookmarks: []bookmark{{b, 1, 2}}[:len(a)%2]}}).Pages {
			if strings.ContainsFunc(p.Text, isMark) || strings.Contains(p.Text, "\f") || utf8.ValidString(a+b) && !utf8.ValidString(p.Text) || p.Text == "" && p.Status == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}
