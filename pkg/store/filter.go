package store

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Matcher tells which documents pass a [Filter].
type Matcher struct {
	globs        [][]string // split at the slashes
	tags         []string
	since, until string
	modified     func(path string) string
}

// String is the filter for people.
func (f Filter) String() string {
	var parts []string
	for _, p := range f.Paths {
		parts = append(parts, fmt.Sprintf("path %q", p))
	}
	for _, t := range f.Tags {
		parts = append(parts, fmt.Sprintf("tag %q", t))
	}
	if f.Since != "" {
		parts = append(parts, "since "+f.Since)
	}
	if f.Until != "" {
		parts = append(parts, "until "+f.Until)
	}
	return strings.Join(parts, ", ")
}

// NewMatcher checks and prepares a filter. In a glob * stands for anything
// within a name, ** as a whole name for any number of folders, ? for one
// character, [a-z] for one of a class, {a,b} for either. A glob matches the
// whole path, one without a slash a name at any depth. One whose last name has
// no wildcard may be the name of a folder too, and matches all below it.
func NewMatcher(f Filter) (*Matcher, error) {
	m := &Matcher{}
	for _, glob := range f.Paths {
		alternatives := braces(glob, nil)
		if len(alternatives) > maxAlternatives {
			return nil, fmt.Errorf("glob %.40q: its braces stand for more than %d globs", glob, maxAlternatives)
		}
		for _, g := range alternatives {
			names := strings.Split(path.Clean(g), "/")
			if names[0] == "." {
				names[0] = "**"
			}
			for _, name := range names {
				if _, err := path.Match(name, ""); err != nil {
					return nil, fmt.Errorf("glob %q: %w", glob, err)
				}
			}
			if len(names) == 1 && names[0] != "**" {
				names = []string{"**", names[0]}
			}
			m.globs = append(m.globs, names)
			if !IsGlob(names[len(names)-1]) {
				m.globs = append(m.globs, append(slices.Clone(names), "**"))
			}
		}
	}
	for _, t := range f.Tags {
		m.tags = append(m.tags, foldTag(t))
	}
	return m, m.dates(f)
}

// IsGlob says whether [NewMatcher] reads a path otherwise than letter by letter:
// whether it has a wildcard, an escape or a pair of braces.
func IsGlob(p string) bool {
	alternatives := braces(p, nil)
	return strings.ContainsAny(p, `*?[\`) || len(alternatives) != 1 || alternatives[0] != p
}

func (m *Matcher) dates(f Filter) (err error) {
	m.modified = f.Modified
	if f.Since != "" {
		if m.since, err = ParseDate(f.Since); err != nil {
			return fmt.Errorf("since: %w", err)
		}
	}
	if f.Until != "" {
		if m.until, err = ParseDate(f.Until); err != nil {
			return fmt.Errorf("until: %w", err)
		}
	}
	if n := min(len(m.since), len(m.until)); m.since[:n] > m.until[:n] {
		return fmt.Errorf("nothing is both since %s and until %s", m.since, m.until)
	}
	return nil
}

// All says whether everything passes.
func (m *Matcher) All() bool { return len(m.globs) == 0 && len(m.tags) == 0 && m.since+m.until == "" }

// Match says whether the document passes.
func (m *Matcher) Match(docPath string, meta json.RawMessage) bool {
	if len(m.globs) > 0 {
		names := strings.Split(docPath, "/")
		if !slices.ContainsFunc(m.globs, func(g []string) bool { return matchNames(g, names) }) {
			return false
		}
	}
	if len(m.tags) > 0 {
		have := Tags(meta)
		for _, t := range m.tags {
			if !slices.Contains(have, t) {
				return false
			}
		}
	}
	return m.since+m.until == "" || within(m.date(docPath, meta), m.since, m.until)
}

func (m *Matcher) date(docPath string, meta json.RawMessage) string {
	date := Date(meta)
	if date == "" && m.modified != nil {
		date = m.modified(docPath)
	}
	return date
}

// matchNames matches a split glob. After ** it tries each rest of the path
// from the last ** only, so the cost is glob times path.
func matchNames(glob, names []string) bool {
	g, n := 0, 0
	star, retry := -1, 0
	for n < len(names) {
		switch {
		case g < len(glob) && glob[g] == "**":
			star, retry = g, n
			g++
		case g < len(glob) && matchName(glob[g], names[n]):
			g++
			n++
		case star >= 0:
			retry++
			g, n = star+1, retry
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == "**" {
		g++
	}
	return g == len(glob)
}

func matchName(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// maxAlternatives is how many globs one glob with braces may stand for: a few
// dozen characters could stand for millions.
const maxAlternatives = 1000

// braces appends to out all alternatives of a glob with {a,b} in it; a brace
// without its partner stands for itself. It stops above maxAlternatives.
func braces(glob string, out []string) []string {
	open := strings.IndexByte(glob, '{')
	if open < 0 || len(out) > maxAlternatives {
		return append(out, glob)
	}
	depth, from := 0, open+1
	var parts []string
	for i := open; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '{':
			depth++
		case c == ',' && depth == 1:
			parts = append(parts, glob[from:i])
			from = i + 1
		case c == '}':
			if depth--; depth > 0 {
				continue
			}
			parts = append(parts, glob[from:i])
			for _, p := range parts {
				if len(out) <= maxAlternatives {
					out = braces(glob[:open]+p+glob[i+1:], out)
				}
			}
			return out
		}
	}
	return append(out, glob)
}

// Tags returns the tags in a document's meta, without # and case: a list of
// strings, or one string with commas or spaces in between.
func Tags(meta json.RawMessage) []string {
	var m struct {
		Tags json.RawMessage `json:"tags"`
	}
	if len(meta) == 0 || json.Unmarshal(meta, &m) != nil {
		return nil
	}
	var list []any
	var one string
	if json.Unmarshal(m.Tags, &list) != nil && json.Unmarshal(m.Tags, &one) == nil {
		for _, t := range strings.FieldsFunc(one, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
			list = append(list, t)
		}
	}
	var out []string
	for _, t := range list {
		if s, ok := t.(string); ok {
			out = append(out, foldTag(s))
		}
	}
	return out
}

func foldTag(t string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(t), "#"))
}
