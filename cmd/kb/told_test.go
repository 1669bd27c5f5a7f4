package main

import (
	"fmt"
	"slices"
	"testing"

	"kb/pkg/build"
	"kb/pkg/record"
)

func TestTold(t *testing.T) {
	var got []string
	told := newTold(func(message string) { got = append(got, message) })
	opt := build.Options{Note: func(record.Record) {}}
	told.follow(&opt)
	read := func(path string, messages ...string) {
		for _, m := range messages {
			told.warn(path + ": " + m)
		}
		opt.Note(&record.Document{Path: path})
	}
	read("a", "bad bytes", "odd name")
	read("b", "bad bytes")
	read("a", "bad bytes")             // the name was mended
	read("a", "bad bytes", "odd name") // and is odd again
	told.forgetRemoved([]record.Record{&record.Indexed{Path: "b", Status: record.StatusRemoved}})
	read("b", "bad bytes")
	want := []string{"a: bad bytes", "a: odd name", "b: bad bytes", "a: odd name", "b: bad bytes"}
	if !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	for i := range 3 * mostTold {
		read(fmt.Sprint(i), "bad bytes")
	}
	if len(told.said) > mostTold {
		t.Errorf("%d messages are remembered", len(told.said))
	}
}
