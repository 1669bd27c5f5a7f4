// Package markdown finds the structure of a Markdown file that kb needs:
// its front matter, its headings, and the blocks that are better not cut.
//
// The blocks come from goldmark's block parsers, without inline parsers and
// extensions, and refer to the source by offset. Full parsing is quadratic on
// hostile tables and emphasis (26 KB took 7.9 s), block parsing is not, once
// the depth of nesting is bounded: see mask.
package markdown

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// MaxSize is the longest text whose structure is looked for, in bytes; the
// tree takes several times as much memory. Above it a text is one block.
const MaxSize = 32 << 20

// Kind is what a block is, as far as chunks care.
type Kind int

// Kinds of blocks.
const (
	Text    Kind = iota // paragraphs, lists, quotes, HTML, rules
	Heading             // ATX or setext
	Code                // fenced or indented
	Table               // rows with a delimiter row, as in GitHub's Markdown
)

// Block is one block of the top level: a heading inside a list or a quote is
// part of it. The blocks of a text tile it, line by line; blank lines belong
// to the block before them.
type Block struct {
	Start, End int // byte offsets, half open
	Kind       Kind
	Level      int    // of a heading, 1 to 6
	Title      string // of a heading: its text without markup
	Body       int    // of a table: the offset behind its header and delimiter rows
}

// Blocks returns the blocks of src[from:], with offsets into src.
func Blocks(src string, from int) []Block {
	src, base := src[from:], from
	if strings.TrimSpace(src) == "" {
		return nil
	}
	if len(src) > MaxSize {
		return []Block{{Start: base, End: base + len(src)}}
	}
	root := blockParser().Parse(text.NewReader(mask(src)))
	var blocks []Block
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		blocks = appendBlock(blocks, src, n)
	}
	if len(blocks) == 0 {
		blocks = []Block{{}}
	}
	blocks[0].Start = 0
	out := make([]Block, 0, len(blocks))
	for i, b := range blocks {
		b.End = len(src)
		if i+1 < len(blocks) {
			b.End = blocks[i+1].Start
		}
		out = appendTables(out, src, b)
	}
	for i := range out {
		out[i].Start += base
		out[i].End += base
		out[i].Body += base
	}
	return out
}

// FirstHeading returns the title of the first heading of level 1 in src, or
// "". It looks at the first 32 KiB, and at the first of them alone where that is
// enough, as it mostly is: of notes of 6 KB it was half of the time that loading
// took.
func FirstHeading(src string) string {
	const enough = 32 << 10
	for _, n := range []int{1 << 10, enough} {
		part := wholeLines(src, n)
		blocks := Blocks(part, 0)
		for i, b := range blocks {
			// The last block of a part may go on behind it, and become another.
			if b.Kind == Heading && b.Level == 1 && b.Title != "" && (i+1 < len(blocks) || n == enough || len(part) == len(src)) {
				return b.Title
			}
		}
		if len(part) == len(src) {
			break
		}
	}
	return ""
}

// wholeLines is the longest part of src that has whole lines and at most n bytes.
func wholeLines(src string, n int) string {
	if len(src) <= n {
		return src
	}
	return src[:strings.LastIndexByte(src[:n], '\n')+1]
}

var blockParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithParagraphTransformers(util.Prioritized(definitions{}, 100)),
	)
})

// definitions takes link reference definitions out of paragraphs, which must
// not become headings by the line below them, as goldmark does it, but leaves
// paragraphs alone in which that would take long: the time grows with the
// square of their number, and 500 KB of "[a]: b" lines took 22 s.
type definitions struct{}

func (definitions) Transform(p *ast.Paragraph, r text.Reader, pc parser.Context) {
	const mostLines, mostBytes = 100, 16 << 10
	n := p.Lines().Len()
	if n == 0 || n > mostLines || p.Lines().At(n-1).Stop-p.Lines().At(0).Start > mostBytes {
		return
	}
	parser.LinkReferenceParagraphTransformer.Transform(p, r, pc)
}

// appendBlock adds the node, or lets it belong to the block before where it
// begins on the same line.
func appendBlock(blocks []Block, src string, n ast.Node) []Block {
	pos := position(n)
	if pos < 0 || pos > len(src) {
		return blocks
	}
	b := Block{Start: strings.LastIndexByte(src[:pos], '\n') + 1}
	if len(blocks) > 0 && b.Start <= blocks[len(blocks)-1].Start {
		return blocks
	}
	switch n := n.(type) {
	case *ast.Heading:
		b.Kind, b.Level, b.Title = Heading, n.Level, title(src, n)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		b.Kind = Code
	}
	return append(blocks, b)
}

func position(n ast.Node) int {
	if pos := n.Pos(); pos >= 0 {
		return pos
	}
	if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
		return n.Lines().At(0).Start
	}
	return -1
}

// mask copies the source with the markers of containers (quotes, list items,
// indentation) beyond the 100th column of a line overwritten, so that nesting
// is bounded. Each level costs time on every line: lists 2,000 deep took 11.7 s
// for 4 MB. Offsets stay as they are.
func mask(src string) []byte {
	const deepest = 100
	out := []byte(src)
	for i := 0; i < len(out); {
		end := lineEnd(out, i)
		if at := i + deepest; at < end {
			if prefix := containerPrefix(out[i:end]); prefix > deepest {
				for ; at < i+prefix; at++ {
					out[at] = 'x'
				}
			}
		}
		i = end
	}
	return out
}

func lineEnd(b []byte, i int) int {
	for i < len(b) && b[i] != '\n' {
		i++
	}
	return min(i+1, len(b))
}

// containerPrefix is the length of the blanks and the markers of quotes and
// list items that a line begins with.
func containerPrefix(line []byte) int {
	i := 0
	for i < len(line) {
		switch c := line[i]; {
		case c == ' ', c == '\t', c == '>':
			i++
		default:
			n := listMarker(line[i:])
			if n == 0 {
				return i
			}
			i += n
		}
	}
	return i
}

func listMarker(line []byte) int {
	n := 0
	for n < len(line) && n < 9 && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	if n >= len(line) || n == 0 && strings.IndexByte("-+*", line[0]) < 0 || n > 0 && line[n] != '.' && line[n] != ')' {
		return 0
	}
	if n+1 < len(line) && line[n+1] != ' ' && line[n+1] != '\t' {
		return 0
	}
	return n + 1
}
