package build

import (
	"os"
	"strings"
	"testing"

	"kb/pkg/chunk"
)

// Markdown that parsers are known to lose something of.
var lossy = map[string]struct {
	src    string
	matter string // the front matter, which need not be in a passage
}{
	"byte order mark":        {"\ufeff---\r\ntitle: a\r\n---\r\n# H\r\n\r\ntext\r\n", "---\ntitle: a\n---\n"},
	"broken front matter":    {"---\ntitle: [a\n---\n# H\n\ntext\n", ""},
	"open front matter":      {"---\ntitle: a\n\n# H\n\ntext\n", ""},
	"a rule at the start":    {"---\n\nfirst\n\n---\n\nsecond\n", ""},
	"rules and a colon":      {"---\n\nto all: first\n\n---\n\nsecond\n", ""},
	"nothing but a heading":  {"# only\n", ""},
	"headings without text":  {"# a\n\n## b\n\n### c\n\n# d\n", ""},
	"setext":                 {"intro\n\nsoft\nbreak\n===\n\ntext\n\nsecond\n---\nmore\n", ""},
	"html and comments":      {"<div>\n# in html\n</div>\n\n<!--\n# in a comment\n-->\n\n<details>\n<summary>s</summary>\n\n## between tags\n\n</details>\n", ""},
	"references, footnotes":  {"see [ref] and [^1]\n\n[ref]: http://example.com \"t\"\n[^1]: the note\n    goes on\n\n[unused]: <x>\n", ""},
	"lists and quotes":       {"- item\n\n  # heading in it\n\n  - nested\n\n        code\n\n> # quoted\n> > twice\n\n1) one\n* [ ] task\n", ""},
	"fences":                 {"```sh\n# a\n\n~~~\n```\n\n~~~~\n```\nb\n~~~\n~~~~\n\n```\nnever closed\n# c\n", ""},
	"tables":                 {"| a | b |\n|---|---|\n| 1 | x \\| y |\nlazy\n\n| alone |\n\n|--|\n", ""},
	"seven signs, no space":  {"#NoSpace\n\n####### seven\n\n## \n\n#\ttab\n\n    # indented\n", ""},
	"two files in one":       {"# a\n\ntext\n\n---\ntitle: b\n---\n\n# b\n", ""},
	"long lines":             {"# a\n\n" + strings.Repeat("一句话。", 200) + "END\n\n" + strings.Repeat("word ", 200) + "END2\n", ""},
	"no end of line, spaces": {"  \n\n \t# a  \n\n  text  ", ""},
}

// Each word of a Markdown file is in a passage, in the file's order.
func TestNothingIsLost(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, c := range lossy {
		for _, strategy := range []string{chunk.Markdown, chunk.Recursive, chunk.Fixed} {
			if err := os.WriteFile("a.md", []byte(c.src), 0o600); err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			end := 0
			for _, p := range passages(t, "a.md", strategy) {
				body := p.Text[len(p.Text)-(p.End-p.Start):]
				got.WriteString(body[max(0, min(end-p.Start, len(body))):] + " ") // without the overlap
				end = max(end, p.End)
			}
			want := strings.ReplaceAll(strings.TrimPrefix(c.src, "\ufeff"), "\r\n", "\n")
			want = strings.TrimPrefix(want, c.matter)
			// Fixed passages end inside of words.
			if got, want := letters(got.String()), letters(want); got != want {
				t.Errorf("%s, %s: %q, want %q", name, strategy, got, want)
			}
		}
	}
}

func letters(s string) string { return strings.Join(strings.Fields(s), "") }
