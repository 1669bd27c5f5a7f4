package markdown

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFrontMatter(t *testing.T) {
	for name, c := range map[string]struct {
		src    string
		fields string // JSON; "null" for none
		body   string // what Body leaves
		broken bool
	}{
		"yaml":            {"---\ntitle: a\ntags: [x, 中]\ndate: 2026-01-02\n---\n# H", `{"date":"2026-01-02","tags":["x","中"],"title":"a"}`, "# H", false},
		"closed by dots":  {"---\na: 1\n...\nx", `{"a":1}`, "x", false},
		"bom and crlf":    {"\ufeff---\r\na: b\r\n---\r\nx", `{"a":"b"}`, "x", false},
		"toml":            {"+++\ntitle = \"a\"\ndate = 2026-01-02\nn = [1, 2]\n+++\nx", `{"date":"2026-01-02","n":[1,2],"title":"a"}`, "x", false},
		"empty":           {"---\n---\nx", `{}`, "x", false},
		"at the end":      {"---\na: 1\n---", `{"a":1}`, "", false},
		"key not a text":  {"---\n1: {2: 3}\nx: .nan\n---\n", `{"1":{"2":3},"x":"NaN"}`, "", false},
		"not closed":      {"---\na: 1\n\n# H\n", "null", "---\na: 1\n\n# H\n", false},
		"a rule":          {"---\n\nnot metadata\n\n---\nx", "null", "---\n\nnot metadata\n\n---\nx", false},
		"a list":          {"---\n- a\n---\nx", "null", "---\n- a\n---\nx", false},
		"broken yaml":     {"---\ntitle: [a\n---\nx", "null", "---\ntitle: [a\n---\nx", true},
		"broken toml":     {"+++\ntitle = \n+++\nx", "null", "+++\ntitle = \n+++\nx", true},
		"too long":        {"---\n" + strings.Repeat("# c\n", 300) + "a: 1\n---\n", "null", "---\n" + strings.Repeat("# c\n", 300) + "a: 1\n---\n", false},
		"alias expansion": {"---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n---\nx", "null", "---", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := ParseFrontMatter(c.src)
			fields, err := json.Marshal(f.Fields)
			if err != nil || string(fields) != c.fields {
				t.Errorf("fields %s (%v), want %s", fields, err, c.fields)
			}
			if body := c.src[f.Body():]; body != c.body && !(f.Err != nil && strings.HasPrefix(body, c.body)) {
				t.Errorf("body %q, want %q", body, c.body)
			}
			if (f.Err != nil) != c.broken {
				t.Errorf("error %v", f.Err)
			}
		})
	}
}

const torture = `Intro before any heading.

Title One
=========

Second level
------------

` + "```bash\n# not a heading\n```\n\n~~~~md\n```\n# inside tilde\n```\n~~~~" + `

    # indented code

### ATX with ` + "`code`" + ` and *emphasis* and [link](http://x.y) ###

- item

    # in a list

  ## heading inside a list item

> # heading inside blockquote

<div>
# not a heading (HTML block)
</div>

<!--
# commented
-->

#NoSpace

####### seven

# 中文标题 #

软换行
标题
===

Para *with*
rotate_keys &amp; \* more
---

* * *

## 

<details>

## Between HTML tags

</details>

[ref]: http://example.com "# t"
`

func TestHeadings(t *testing.T) {
	var got []string
	for _, b := range Blocks(torture, 0) {
		if b.Kind == Heading {
			got = append(got, fmt.Sprint(b.Level, " ", b.Title))
		}
	}
	want := []string{"1 Title One", "2 Second level", "3 ATX with code and emphasis and link", "1 中文标题",
		"1 软换行标题", "2 Para with rotate_keys & * more", "2 ", "2 Between HTML tags"}
	if !slices.Equal(got, want) {
		t.Errorf("headings\n%q\nwant\n%q", got, want)
	}
}

// TestFirstHeading: it is found wherever the part ends that is looked at first.
func TestFirstHeading(t *testing.T) {
	for n := 0; n < 1100; n += 7 {
		filler := strings.Repeat("y", n)
		for src, want := range map[string]string{
			"text\n\n## B\n" + filler + "\n\n# A\n\ntext\n":    "A",
			filler + " A\n===\n\n# B\n":                        strings.TrimSpace(filler + " A"),
			"```\n# B\n" + filler + "\n```\n# A\n":             "A",
			"[a]: /b \"" + filler + "\n# A\n===\nc\"\n\n# B\n": "A",
		} {
			if got := FirstHeading(src); got != want {
				t.Fatalf("%d characters: %q, want %q", n, got, want)
			}
		}
	}
	if got := FirstHeading(strings.Repeat("text\n\n", 8<<10) + "# A\n"); got != "" {
		t.Errorf("%q is not near the beginning", got)
	}
}

func TestTables(t *testing.T) {
	src := "intro\n| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n\nafter | no table\n--- | x\n"
	blocks := Blocks(src, 0)
	if len(blocks) != 3 || blocks[1].Kind != Table {
		t.Fatalf("blocks %+v", blocks)
	}
	table := blocks[1]
	if got := src[table.Start:table.Body]; got != "| a | b |\n|---|:-:|\n" {
		t.Errorf("header %q", got)
	}
	if got := src[table.Body:table.End]; got != "| 1 | 2 |\n| 3 | 4 |\n\n" {
		t.Errorf("rows %q", got)
	}
}

// Nesting, long tables and rows of emphasis must not make parsing slow: each
// of these took many seconds, or grows with the square of its length.
func TestHostile(t *testing.T) {
	var nested strings.Builder
	for i := range 2000 {
		nested.WriteString(strings.Repeat("  ", i) + "- x\n")
	}
	for name, src := range map[string]string{
		"nested lists":  nested.String(),
		"lists in line": strings.Repeat(strings.Repeat("- ", 2000)+"x\n", 100),
		"quotes":        strings.Repeat(strings.Repeat("> ", 2000)+"x\n", 100),
		"wide table":    strings.Repeat("|", 5000) + "\n" + strings.Repeat("|-", 5000) + "|\n" + strings.Repeat("|x|\n", 2000),
		"emphasis":      "# " + strings.Repeat("*a_ ", 50_000),
		"definitions":   strings.Repeat("[a]: b\n", 50_000),
		"footnotes":     strings.Repeat("[^1]: a\n", 50_000),
		"open titles":   strings.Repeat("[a]: b \"", 50_000),
		"backticks":     strings.Repeat("`", 1_000_000) + " #a",
		"code spans":    runsOfBackticks(1000) + " #a",
		"references":    strings.Repeat("[a]: ", 50_000),
		"brackets":      strings.Repeat("[", 500_000),
		"underlines":    strings.Repeat("a\n", 100_000) + "===\n",
	} {
		t.Run(name, func(t *testing.T) {
			checkTiles(t, src)
			Tags(src, 0)
		})
	}
}

// runsOfBackticks has runs of each length up to n, none of which closes another.
func runsOfBackticks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("`", i+1) + "x")
	}
	return b.String()
}

func TestTags(t *testing.T) {
	for src, want := range map[string]string{
		"#a and #b/c-d, #a again":                                 "a b/c-d",
		"标签：#检索，#增强生成。#日记":                                        "检索 增强生成 日记",
		"# heading #no\n\ntext #yes\n":                            "yes",
		"#NoSpace\n\nT #no\n===\n":                                "NoSpace",
		"`#no` ``a ` #no`` ` #yes":                                "yes",
		"```\n#no\n```\n\n    #no\n":                              "",
		"- x\n  ```sh\n  #no\n  ```\n  #yes":                      "yes",
		"> #q\n- #l\n\n| #t |\n|--|\n| #u |\n":                    "q l t u",
		"#123 #1-2 #fff #1e90ff #ABCDEF #aabbcc80":                "",
		"#facade #feed #v2 #2026年":                                "facade feed v2 2026年",
		"C# a#b \\#c [x](#d) [[#e]] [[a#f]] http://x/#g ##h #i#j": "",
		"[ref]: #no\n\n<p>#no</p>\n":                              "",
		"#trailing- #end/ #":                                      "trailing end",
	} {
		if got := strings.Join(Tags(src, 0), " "); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

// What Obsidian adds to Markdown stays as it is written.
func TestWikiLinks(t *testing.T) {
	for src, want := range map[string]string{
		"# See [[page|name]] and ![[pic.png]]\n": "See [[page|name]] and ![[pic.png]]",
		"# 会议 #tag\n":                            "会议 #tag",
	} {
		if got := FirstHeading(src); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

func checkTiles(t *testing.T, src string) {
	t.Helper()
	from := ParseFrontMatter(src).End
	at := from
	for _, b := range Blocks(src, from) {
		if b.Start != at || b.End <= b.Start || b.Start > 0 && b.Start > from && src[b.Start-1] != '\n' {
			t.Fatalf("block %+v does not follow %d", b, at)
		}
		if b.Kind == Table && (b.Body <= b.Start || b.Body > b.End) {
			t.Fatalf("table %+v", b)
		}
		at = b.End
	}
	if strings.TrimSpace(src[at:]) != "" {
		t.Fatalf("text behind %d is in no block", at)
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(torture)
	f.Add("---\na: 1\n---\n\n| a |\n|--|\n| b |\n")
	f.Add("+++\na = 1\n+++\n- x\n\n  > # y\n\n\t# z\n===\n")
	f.Add("---\na: [\n---\n# b\n")
	f.Fuzz(func(t *testing.T, src string) {
		matter := ParseFrontMatter(src)
		if matter.End < 0 || matter.End > len(src) {
			t.Fatalf("front matter ends at %d of %d", matter.End, len(src))
		}
		if _, err := json.Marshal(matter.Fields); err != nil {
			t.Fatal(err)
		}
		checkTiles(t, src)
		for _, tag := range Tags(src, matter.End) {
			if tag == "" || !strings.Contains(src, "#"+tag) {
				t.Fatalf("tag %q", tag)
			}
		}
	})
}

func FuzzFrontMatter(f *testing.F) {
	f.Add("title: a\ntags: [x, 中]\n", "---", "---")
	f.Add("a: &a [x]\nb: *a\n? [c]\n: {d: 1e400}\n", "---", "...")
	f.Add("a = 2026-01-02\n[b]\nc = [nan, 0x1]\n", "+++", "+++")
	f.Fuzz(func(t *testing.T, block, open, closing string) {
		src := open + "\n" + block + "\n" + closing + "\n# H\nbody\n"
		matter := ParseFrontMatter(src)
		if matter.End < 0 || matter.End > len(src) || matter.Body() > matter.End || matter.Err != nil && matter.Fields != nil {
			t.Fatalf("%+v of %q", matter, src)
		}
		if _, err := json.Marshal(matter.Fields); err != nil {
			t.Fatal(err)
		}
	})
}
