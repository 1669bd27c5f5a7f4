package build

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"kb/pkg/chunk"
	"kb/pkg/load"
	"kb/pkg/record"
)

// note has all that a passage may begin in: front matter, headings, a table
// and code that are too long for one, and sentences of two languages.
func note() string {
	var b strings.Builder
	b.WriteString("---\ntitle: 机房手册\ntags: [a]\n---\n\n第一段讲机房的温度。上限是二十六摄氏度，下限是十八摄氏度。\n\n# 值班\n\n")
	for i := range 12 {
		fmt.Fprintf(&b, "第 %d 条：值班的人每两小时看一次温度。\n把看到的写在本子上，然后签名。\n\n", i)
	}
	b.WriteString("## 表格\n\n| 名称 | 数值 |\n| --- | --- |\n")
	for i := range 20 {
		fmt.Fprintf(&b, "| 第 %d 行 | 数值 %d |\n", i, i*i)
	}
	b.WriteString("\n## 代码\n\n```sh\n")
	for i := range 20 {
		fmt.Fprintf(&b, "echo 第 %d 步 # 温度\n", i)
	}
	b.WriteString("```\n\n标题\n====\n\nThe last section. It has words, e\u0301 and 温度计。\n")
	return b.String()
}

func encoded(t *testing.T, e encoding.Encoding, s string) string {
	t.Helper()
	out, err := e.NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// passages loads a file and cuts it.
func passages(t *testing.T, name, strategy string) []*record.Chunk {
	t.Helper()
	var out []*record.Chunk
	for r, err := range chunk.Run(load.Run(context.Background(), []string{name}, load.Options{}), chunk.Options{Strategy: strategy, Size: 120, Overlap: 30}) {
		if err != nil {
			t.Fatal(err)
		}
		c, ok := r.(*record.Chunk)
		if !ok {
			t.Fatalf("%+v", r)
		}
		out = append(out, c)
	}
	return out
}

// Who opens the file at the line of a passage finds it there, whatever the
// file's encoding and line ends; its id is the same in all of them.
func TestPassageStandsAtItsLine(t *testing.T) {
	t.Chdir(t.TempDir())
	ascii := strings.ReplaceAll(note(), "e\u0301", "e") // what GBK has
	crlf := strings.ReplaceAll(ascii, "\n", "\r\n")
	for name, c := range map[string]struct{ text, bytes string }{
		"LF":       {note(), note()},
		"CRLF":     {ascii, crlf},
		"CR":       {ascii, strings.ReplaceAll(ascii, "\n", "\r")},
		"BOM":      {ascii, "\ufeff" + crlf},
		"GBK":      {ascii, encoded(t, simplifiedchinese.GBK, crlf)},
		"UTF-16LE": {ascii, encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), crlf)},
		"UTF-16BE": {ascii, encoded(t, unicode.UTF16(unicode.BigEndian, unicode.UseBOM), ascii)},
	} {
		for _, file := range []string{"a.md", "a.txt"} {
			for _, strategy := range []string{chunk.Markdown, chunk.Recursive, chunk.Fixed} {
				if err := os.WriteFile(file, []byte(c.bytes), 0o600); err != nil {
					t.Fatal(err)
				}
				chunks := passages(t, file, strategy)
				if len(chunks) < 6 {
					t.Errorf("%s %s %s: %d passages", name, file, strategy, len(chunks))
				}
				standsAtItsLine(t, c.text, chunks)
				if c.text == ascii {
					os.WriteFile(file, []byte(ascii), 0o600)
					if !slices.Equal(ids(chunks), ids(passages(t, file, strategy))) {
						t.Errorf("%s %s %s: other ids than those of the text in UTF-8 with LF", name, file, strategy)
					}
				}
			}
		}
	}
}

func standsAtItsLine(t *testing.T, text string, chunks []*record.Chunk) {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	for _, c := range chunks {
		body := c.Text[len(c.Text)-(c.End-c.Start):] // without rows that were repeated
		from := strings.Join(lines[c.Line-1:], "")
		if at := strings.Index(from, body); at < 0 || at >= len(lines[c.Line-1]) {
			t.Errorf("%s line %d: not there: %q", c.Path, c.Line, body)
		}
	}
}

func ids(chunks []*record.Chunk) []string {
	var out []string
	for _, c := range chunks {
		out = append(out, c.ID)
	}
	return out
}

// What is written at the end of a note leaves the passages before it as they
// were, so that they are not embedded again.
func TestIDsOutliveAnAddition(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(text string) []string {
		if err := os.WriteFile("a.md", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return ids(passages(t, "a.md", ""))
	}
	before := write(note())
	after := write(note() + "\n# New\n\nAdded.\n")
	if len(after) != len(before)+1 || !slices.Equal(before, after[:len(before)]) {
		t.Errorf("%q became %q", before, after)
	}
}
