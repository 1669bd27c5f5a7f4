package store

import (
	"encoding/json"
	"strings"
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
		{"sub", "notes/sub/a.md", true},
		{"s*b", "notes/sub/a.md", false},
		{"notes/sub", "my/notes/sub/a.md", false},
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

func TestIsGlob(t *testing.T) {
	for path, want := range map[string]bool{
		"notes/a.md": false, "notes/{a.md": false, "notes/a}.md": false, "": false,
		"*.md": true, "a?": true, "a[1].md": true, "a[b": true, `a\b`: true, "{a,b}": true, "{a}": true,
	} {
		if got := IsGlob(path); got != want {
			t.Errorf("%q: %t", path, got)
		}
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

func TestDate(t *testing.T) {
	for s, want := range map[string]string{
		`"2026-09-15"`: "2026-09-15", `"2026-9-5"`: "2026-09-05", `"2026-09-15T10:00:00+08:00"`: "2026-09-15",
		`"2026-09-15 10:00"`: "2026-09-15", `"2026/9/15"`: "2026-09-15", `"2026.09.15"`: "2026-09-15",
		`"2026年9月15日"`: "2026-09-15", `"2026年9月"`: "2026-09", `2026`: "2026", `20260915`: "2026-09-15",
		`"15.09.2026"`: "2026-09-15", `"1.2.2026 10:30"`: "2026-02-01", `"15/09/2026"`: "2026-09-15", `"09/15/2026"`: "2026-09-15",
		`"5/5/2026"`: "2026-05-05", `"05/09/2026"`: "", `"31/31/2026"`: "", `"March 15, 2026"`: "2026-03-15", `"15 Oct 2026"`: "2026-10-15",
		`"15th august 2026"`: "2026-08-15", `"15. Sept. 2026"`: "2026-09-15", `"15 Ma 2026"`: "", `"[[2026-03-15]]"`: "2026-03-15",
		`[["2026-03-15"]]`: "2026-03-15", `"2026-13-01"`: "", `"2026-00-01"`: "", `"last week"`: "", `"10:30"`: "", `""`: "",
		`"T"`: "", `true`: "", `["2026"]`: "", `1e99`: "", `"２０２６"`: "", `"2026-09-15-01"`: "",
	} {
		if got := Date(json.RawMessage(`{"date":` + s + `}`)); got != want {
			t.Errorf("%s: %q, want %q", s, got, want)
		}
	}
}

func TestMatcherDates(t *testing.T) {
	modified := func(path string) string { return map[string]string{"new.md": "2026-10-01"}[path] }
	for _, c := range []struct {
		since, until, path, date string
		want                     bool
	}{
		{"2026-09-15", "2026-09-15", "a.md", "2026-09-15", true},
		{"2026-09-16", "", "a.md", "2026-09-15", false},
		{"", "2026-09-14", "a.md", "2026-09-15", false},
		{"2026-09", "2026-09", "a.md", "2026-09-30", true},
		{"2026", "2026", "a.md", "2026-12-31", true},
		{"2027", "", "a.md", "2026-12-31", false},
		{"2026-09-15", "", "a.md", "2026-09", true}, // its day is not known
		{"2026-10", "", "a.md", "2026-09", false},
		{"2026-10-01", "2026-10-01", "new.md", "", true}, // by the file
		{"2026-10-02", "", "new.md", "", false},
		{"", "2026-10-02", "new.md", "2026-11-01", false}, // the front matter goes first
		{"", "2999", "gone.md", "", false},                // neither has a date
		{"", "", "gone.md", "", true},
	} {
		m, err := NewMatcher(Filter{Since: c.since, Until: c.until, Modified: modified})
		if err != nil {
			t.Fatal(err)
		}
		meta := json.RawMessage(`{"date":"` + c.date + `"}`)
		if got := m.Match(c.path, meta); got != c.want {
			t.Errorf("%s of %q in %q to %q: %v", c.path, c.date, c.since, c.until, got)
		}
	}
	for _, f := range []Filter{{Since: "soon"}, {Until: "2026-9-31x"}, {Since: "2026-10", Until: "2026-09-30"}} {
		if _, err := NewMatcher(f); err == nil {
			t.Errorf("%+v was accepted", f)
		}
	}
}

func FuzzParseDate(f *testing.F) {
	f.Add("2026-09-15T10:00:00Z")
	f.Add("2026年9月5日")
	f.Fuzz(func(t *testing.T, s string) {
		date, err := ParseDate(s)
		if again, _ := ParseDate(date); err == nil && again != date {
			t.Errorf("%q: %q, then %q", s, date, again)
		}
	})
}

func TestBracesAreBounded(t *testing.T) {
	if _, err := NewMatcher(Filter{Paths: []string{strings.Repeat("{a,b}", 40)}}); err == nil || !strings.Contains(err.Error(), "1000") {
		t.Errorf("error %v", err)
	}
	if _, err := NewMatcher(Filter{Paths: []string{strings.Repeat("{a,b}", 9)}}); err != nil {
		t.Error(err)
	}
}
