package markdown

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// Front matter longer than this is taken for text that begins with a rule.
const (
	maxMatterLines = 200
	maxMatterBytes = 64 << 10
)

// FrontMatter is the block of metadata at the head of a file: YAML between
// lines of --- (or closed by ...), or TOML between lines of +++.
type FrontMatter struct {
	// Fields are the metadata, as JSON knows them: string, bool, numbers, nil,
	// []any and map[string]any. nil where there is no front matter.
	Fields map[string]any
	// End is the offset behind the block; 0 where there is none.
	End int
	// Err says why a block that looks like front matter could not be read.
	// Then there are no Fields, and the block counts as text, which must not
	// be lost, but not as Markdown, whose headings it would imitate.
	Err error
}

// Body is the offset at which the text for readers begins.
func (f FrontMatter) Body() int {
	if f.Err != nil {
		return 0
	}
	return f.End
}

// ParseFrontMatter reads the front matter of a Markdown file. A block that is
// not closed within 200 lines and 64 KiB, that has blank lines at both ends, or
// that does not hold a mapping, is text: many files begin with a thematic break.
func ParseFrontMatter(src string) FrontMatter {
	block, fence, end := delimited(src)
	if end == 0 || betweenRules(block) {
		return FrontMatter{}
	}
	fields, err := decodeMatter(block, fence)
	switch {
	case err != nil && beginsWithKey(block):
		return FrontMatter{End: end, Err: err}
	case err != nil || fields == nil:
		return FrontMatter{}
	}
	return FrontMatter{Fields: fields, End: end}
}

// delimited returns what stands between the fences, the fence, and the offset
// behind the closing one.
func delimited(src string) (block, fence string, end int) {
	start := 0
	if strings.HasPrefix(src, "\ufeff") {
		start = len("\ufeff")
	}
	first, next := cutLine(src, start)
	if first != "---" && first != "+++" {
		return "", "", 0
	}
	begin := next
	for range maxMatterLines {
		if next >= len(src) || next-start > maxMatterBytes {
			break
		}
		at := next
		var line string
		line, next = cutLine(src, next)
		if line == first || first == "---" && line == "..." {
			return src[begin:at], first, next
		}
	}
	return "", "", 0
}

// betweenRules says whether a block has a blank line at both ends, as text
// between two thematic breaks has, which may well have a colon.
func betweenRules(block string) bool {
	first, next := cutLine(block, 0)
	return first == "" && next < len(block) && strings.HasSuffix(strings.ReplaceAll(strings.TrimRight(block, " \t"), "\r", ""), "\n\n")
}

// cutLine returns the line that begins at i, without trailing blanks, and the
// offset of the next line.
func cutLine(src string, i int) (string, int) {
	line, _, found := strings.Cut(src[i:], "\n")
	next := i + len(line)
	if found {
		next++
	}
	return strings.TrimRight(line, " \t\r"), next
}

func decodeMatter(block, fence string) (map[string]any, error) {
	block = "\n" + block // so that lines in messages are those of the file
	var decoded any
	var err error
	if fence == "+++" {
		var fields map[string]any
		err = toml.Unmarshal([]byte(block), &fields)
		decoded = fields
	} else {
		err = yaml.Unmarshal([]byte(block), &decoded)
	}
	if err != nil {
		return nil, plainError(err)
	}
	switch fields := plain(decoded).(type) {
	case map[string]any:
		return fields, nil
	case nil:
		return map[string]any{}, nil
	}
	return nil, nil
}

// plainError reduces a decoder's message to its first line.
func plainError(err error) error {
	var te *yaml.TypeError
	if errors.As(err, &te) && len(te.Errors) > 0 {
		return errors.New(te.Errors[0])
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(countFromOne(strings.TrimPrefix(strings.TrimPrefix(first, "yaml: "), "toml: ")))
}

// countFromOne corrects the line of an error of the YAML parser, which counts
// from 0; its scanner and its decoder count from 1.
func countFromOne(message string) string {
	var n int
	if _, err := fmt.Sscanf(message, "line %d:", &n); err != nil {
		return message
	}
	_, what, _ := strings.Cut(message, ": ")
	for _, start := range []string{"',' or", "'-'", "key", "node content", "<"} {
		if strings.HasPrefix(what, "did not find expected "+start) {
			return fmt.Sprintf("line %d: %s", n+1, what)
		}
	}
	return message
}

// plain turns what the decoders return into what JSON can hold.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = plain(e)
		}
		return v
	case map[any]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[fmt.Sprint(k)] = plain(e)
		}
		return out
	case []any:
		for i, e := range v {
			v[i] = plain(e)
		}
		return v
	case time.Time:
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly)
		}
		return v.Format(time.RFC3339)
	case fmt.Stringer: // dates and times of TOML that have no zone
		return v.String()
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
	case []byte:
		return string(v)
	}
	return v
}

// beginsWithKey says whether the first line that is not blank or a comment
// is a key with a value, so that a broken block is still metadata.
func beginsWithKey(block string) bool {
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		i := strings.IndexAny(line, ":=")
		return i > 0 && strings.IndexFunc(line[:i], notInKey) < 0
	}
	return false
}

func notInKey(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-. ", r)
}
