package markdown

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxTitle bounds the heading whose markup is parsed, in bytes: inline parsing
// is quadratic on hostile emphasis.
const maxTitle = 1000

// title is the text of a heading without its markup: the lines of a setext
// heading are joined with a space, but not between Chinese characters.
func title(src string, h *ast.Heading) string {
	var lines []string
	for i := range h.Lines().Len() {
		s := h.Lines().At(i)
		lines = append(lines, strings.TrimSpace(src[s.Start:s.Stop]))
	}
	joined := JoinLines(lines)
	if len(joined) > maxTitle || !strings.ContainsAny(joined, "*_`[<&\\!") {
		return joined
	}
	return strings.TrimSpace(inlineText(joined))
}

// JoinLines joins lines of one paragraph with a space, but with nothing where
// two Chinese or Japanese characters meet.
func JoinLines(lines []string) string {
	var b strings.Builder
	last := rune(0)
	for _, line := range lines {
		if line == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(line)
		if b.Len() > 0 && !(Unspaced(last) && Unspaced(first)) {
			b.WriteByte(' ')
		}
		b.WriteString(line)
		last, _ = utf8.DecodeLastRuneInString(line)
	}
	return b.String()
}

// Unspaced says whether r belongs to writing that puts no spaces between
// words: Chinese and Japanese, with their punctuation.
func Unspaced(r rune) bool {
	if r < 0x2e80 {
		return false
	}
	return r >= 0x3000 && r <= 0x30ff || r >= 0xff01 && r <= 0xff60 || unicode.Is(unicode.Han, r)
}

var inlineParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewATXHeadingParser(), 100),
			util.Prioritized(parser.NewParagraphParser(), 200)),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	)
})

func inlineText(line string) string {
	src := []byte("# " + line)
	var b strings.Builder
	ast.Walk(inlineParser().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			raw := n.Segment.Value(src)
			if n.Parent().Kind() != ast.KindCodeSpan {
				raw = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(raw)))
			}
			b.Write(raw)
		case *ast.AutoLink:
			b.Write(n.Label(src))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
