package html

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const page = `<!DOCTYPE html><html><head><meta charset="gbk"><title>安装指南 - Example Docs</title>
<meta name=keywords content="a, b"><style>no{}</style></head><body>
<header><nav><ul><li>no</ul></nav></header>
<h1>安装指南<a class=headerlink>¶</a></h1><p>第一行
第二行 and <b>bold</b>&nbsp;text &lt;tag&gt; 10<sup>6</sup>, <a href="x">a link</a>.<br># no heading
<h2>Steps &amp; <code>x*</code></h2><ol start=3><li>one<li>two<ul><li>sub</ul><li>three<p>more</p></ol>
<pre class="language-go"><code>func main() {
	x := 1
}
</code></pre>
<table><caption>Cap</caption><tr><th>A<th>B|C<tr><td rowspan=2>1<td>2<tr><td>3</table>
<table><tr><td><h3>layout</h3>text<td>other</table>
<blockquote><p>quoted</blockquote><script>"<p>no"</script><div hidden>no</div>
<p>last<footer>no</footer></body></html>`

const wanted = `# 安装指南

第一行第二行 and bold text <tag> 10^6, a link.
\# no heading

## Steps & x\*

3. one
4. two
  - sub
5. three
  more

` + "```go\nfunc main() {\n\tx := 1\n}\n```" + `

Cap

| A | B\|C |
|---|---|
| 1 | 2 |
| 1 | 3 |

### layout

text

other

> quoted

last
`

func TestConvert(t *testing.T) {
	got := Convert(page)
	if got.Markdown != wanted {
		t.Errorf("%s\nwant\n%s", got.Markdown, wanted)
	}
	if got.Title != "安装指南" || got.Meta["keywords"] != "a, b" {
		t.Errorf("title %q, meta %v", got.Title, got.Meta)
	}
}

func TestScope(t *testing.T) {
	long := strings.Repeat("text of the page ", 20)
	for name, c := range map[string]struct{ src, want string }{
		"main":               {"<p>no</p><main><p>" + long + "</main><p>no", strings.TrimSpace(long)},
		"one article":        {"<p>no</p><article>" + long + "</article>", strings.TrimSpace(long)},
		"two articles":       {"<article>a</article><article>b</article>", "a\n\nb"},
		"empty main":         {"<main></main><p>" + long, strings.TrimSpace(long)},
		"open navigation":    {"<nav>a<p>" + long, "a\n\n" + strings.TrimSpace(long)},
		"only navigation":    {"<div class=menu>all of it</div>", "all of it"},
		"no tags":            {"just text", "just text"},
		"open heading":       {"<h1>a<p>b", "# a\n\nb"},
		"front matter":       {"<p>---<br>a: b<br>---", "\\---\na: b\n\\---"},
		"fence in code":      {"<pre>```\nx</pre>", "````\n```\nx\n````"},
		"nul in code":        {"<pre>\x00a\x00</pre>", "```\na\n```"},
		"empty title":        {"<title></title><p>a", "a"},
		"chinese line break": {"<p>中\n文 a\nb", "中文 a b"},
	} {
		if got := strings.TrimSpace(Convert(c.src).Markdown); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestEncoding(t *testing.T) {
	for src, want := range map[string]string{
		`<meta charset=gbk>`: "gbk", `<META CHARSET="Big5"/>`: "Big5",
		`<meta http-equiv=Content-Type content="text/html; charset=GB2312">`: "gb2312",
		`<?xml version="1.0" encoding='Shift_JIS'?><html>`:                   "shift_jis",
		`<p>charset=x`: "", `<meta name=a content="İ charset">`: "",
	} {
		if got := Encoding([]byte(src)); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

// Each of these has 300 KB and takes some tenths of a second; what grows with
// the square of the length would take minutes.
func TestHostile(t *testing.T) {
	const size = 300_000
	for _, piece := range []string{"<div>", "<p>a", "<table>", "<tr><td>x", "<td>x", "<td rowspan=9999 colspan=20>xx<tr>", "<ul><li>a", "<a ", "<a b=\"",
		"<pre>`", "<nav>", "<!--", "<", "&", "<h1>x", "<sup>1", "<main>x", "<table><tr><td>a", "</div>"} {
		if got := Convert(strings.Repeat(piece, size/len(piece))); len(got.Markdown) > 40*size {
			t.Errorf("%q becomes %d bytes", piece, len(got.Markdown))
		}
	}
}

func FuzzConvert(f *testing.F) {
	f.Add(page)
	f.Add("<table><tr><td rowspan=3>a<td colspan=2><table><tr><td>b</table><h2>c<tr><td>d")
	f.Add("<?xml encoding=x?><meta charset=y><ul><li>a<ol><pre>b</ul><main>c")
	f.Fuzz(func(t *testing.T, src string) {
		Encoding([]byte(src))
		got := Convert(src)
		if utf8.ValidString(src) && !utf8.ValidString(got.Markdown) {
			t.Fatalf("%q", got.Markdown)
		}
		if strings.HasPrefix(got.Markdown, "---\n") || strings.Contains(got.Markdown, "\x00") {
			t.Fatalf("%q", got.Markdown)
		}
	})
}
