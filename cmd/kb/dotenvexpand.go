package main

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// The values of a .env take in others by their names: $NAME, ${NAME}. The
// parser writes each of them out while it reads, so that 30 short lines, of
// which each names the one before twice, take gigabytes. Here it sees marks in
// place of the dollars, and only the settings of kb are written out, each value
// that they name once, up to a limit over all of them.
const (
	markTaken   = "\ufdd0" // a dollar that may begin a name; the marks are no characters
	markLiteral = "\ufdd1" // one that does not: behind a \, or in single quotes
)

// largestExpanded is how many bytes all values together may take in.
const largestExpanded = 1 << 20

var errExpands = errors.New("its values take in each other until they are too large")

// markDollars puts the marks in place of the dollars.
func markDollars(text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		mark := markTaken
		if opened(line) == "'" {
			mark = markLiteral
		}
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(line, `\$`, markLiteral), "$", mark))
	}
	return b.String()
}

// expandOwn replaces the marks in the settings of kb, and leaves the others
// out.
func expandOwn(values map[string]string) (map[string]string, error) {
	x := &expander{values: values, done: map[string]string{}, left: largestExpanded}
	own := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if ownLine(key) {
			own[key] = x.value(key)
		}
	}
	if x.left < 0 {
		return nil, errExpands
	}
	return own, nil
}

type expander struct {
	values map[string]string
	done   map[string]string // written out, or "" while that is under way
	left   int               // bytes that may still be taken in
}

// value is that of a key, written out; "" where it names itself.
func (x *expander) value(key string) string {
	if v, ok := x.done[key]; ok {
		return v
	}
	x.done[key] = ""
	var b strings.Builder
	rest := x.values[key]
	for x.left >= 0 {
		before, after, found := strings.Cut(rest, markTaken)
		b.WriteString(before)
		if !found {
			break
		}
		name, behind := cutName(after)
		if name == "" {
			b.WriteString("$")
		} else {
			taken := x.value(name)
			x.left -= len(taken)
			b.WriteString(taken)
		}
		rest = behind
	}
	x.done[key] = strings.ReplaceAll(b.String(), markLiteral, "$")
	return x.done[key]
}

// cutName cuts a name, in braces or not, from what stands behind a dollar.
func cutName(s string) (name, behind string) {
	inner, braces := strings.CutPrefix(s, "{")
	end := strings.IndexFunc(inner, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
	if end < 0 {
		end = len(inner)
	}
	if end == 0 {
		return "", s
	}
	name, behind = inner[:end], inner[end:]
	if braces {
		behind = strings.TrimPrefix(behind, "}")
	}
	return name, behind
}
