package store

import (
	"encoding/json"
	"testing"
)

func TestMatcher(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"notes/*.md", "notes/a.md", true},
		{"notes/*.md", "notes/sub/a.md", false},
		{"notes/**", "notes/sub/a.md", true},
		{"notes/**/*.md", "notes/a.md", true},
		{"notes/**/x/**/*.md", "notes/a/b/x/c/d.md", true},
		{"**/a.md", "a.md", true},
		{"**", "any/thing", true},
		{"*.md", "notes/a.md", true},
		{"*.md", "a.md", true},
		{"a.md", "notes/sub/a.md", true},
		{"*.md", "notes.md/a.txt", false},
		{"notes", "notes/sub/a.md", true},
		{"notes/sub/", "notes/sub/a.md", true},
		{"./notes/s[u]b", "notes/sub/a.md", false},
		{"notes/*", "notes/sub/a.md", false},
		{"notes/**/sub", "notes/x/sub/a.md", true},
		{"sub", "notes/sub/a.md", false},
		{".", "notes/a.md", true},
		{"/home/n", "/home/n/a.md", true},
		{"./notes/a.md", "notes/a.md", true},
		{"notes/{a,b}.{md,txt}", "notes/b.txt", true},
		{"notes/{a,b{1,2}}.md", "notes/b2.md", true},
		{"notes/{a,b}.md", "notes/c.md", false},
		{"notes/{a.md", "notes/{a.md", true},
		{"n?tes/[a-c].md", "notes/b.md", true},
		{"资料/*.md", "资料/差旅.md", true},
	} {
		m, err := NewMatcher(Filter{Paths: []string{c.glob}})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Match(c.path, nil); got != c.want {
			t.Errorf("%q matches %q: %v", c.glob, c.path, got)
		}
	}
	if _, err := NewMatcher(Filter{Paths: []string{"notes/[a"}}); err == nil {
		t.Error("a broken class was accepted")
	}
}

func TestMatcherTags(t *testing.T) {
	for _, c := range []struct {
		meta string
		tags []string
		want bool
	}{
		{`{"tags":["HR","travel"]}`, []string{"#hr"}, true},
		{`{"tags":["hr"]}`, []string{"hr", "travel"}, false},
		{`{"tags":"hr, travel #x"}`, []string{"X", "HR"}, true},
		{`{"tags":3}`, []string{"hr"}, false},
		{``, []string{"hr"}, false},
		{``, nil, true},
	} {
		m, err := NewMatcher(Filter{Tags: c.tags})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Match("a.md", json.RawMessage(c.meta)); got != c.want {
			t.Errorf("%s with %v: %v", c.meta, c.tags, got)
		}
	}
}
