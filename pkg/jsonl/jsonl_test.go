package jsonl

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"kb/pkg/record"
)

func read(kinds []string, inputs ...string) (got []string, err error) {
	var in []Input
	for i, s := range inputs {
		in = append(in, Input{Name: []string{"a.jsonl", "b.jsonl"}[i], R: strings.NewReader(s)})
	}
	for r, err := range Records(in, kinds...) {
		if err != nil {
			return got, err
		}
		line, err := record.Append(nil, r)
		if err != nil {
			return got, err
		}
		got = append(got, string(line))
	}
	return got, nil
}

func TestRecords(t *testing.T) {
	for _, tc := range []struct {
		name   string
		inputs []string
		want   []string
		err    string
	}{
		{"lines", []string{"{\"kind\":\"x\"}\n\n  \r\n{\"kind\":\"y\"}\r\n"}, []string{`{"kind":"x"}`, `{"kind":"y"}`}, ""},
		{"byte order marks", []string{"\ufeff{\"kind\":\"x\"}\n", "\ufeff{\"kind\":\"y\"}"}, []string{`{"kind":"x"}`, `{"kind":"y"}`}, ""},
		{"files concatenated without a line end", []string{`{"kind":"x"}{"kind":"root","path":"p"}` + "\ufeff" + ` {"kind":"z"}`},
			[]string{`{"kind":"x"}`, `{"kind":"root","path":"p","documents":0,"skipped":0}`}, "a.jsonl:1: not a JSON object"},
		{"two on one line", []string{`{"kind":"x"} {"kind":"z"}` + "\n"}, []string{`{"kind":"x"}`, `{"kind":"z"}`}, ""},
		{"cut off", []string{"{\"kind\":\"x\"}\n{\"kind\":\"y\""}, []string{`{"kind":"x"}`}, "a.jsonl:2: not a JSON object: unexpected end of input"},
		{"in the second file", []string{`{"a":1}`, "{\"kind\":\"root\",\"path\":3}"}, []string{`{"a":1}`}, `b.jsonl:1: field "path" is a number`},
		{"an array", []string{"[1]"}, nil, "a.jsonl:1: not a JSON object"},
		{"words", []string{"hello"}, nil, "a.jsonl:1: not a JSON object"},
		{"nothing", []string{""}, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := read([]string{record.KindRoot}, tc.inputs...)
			if strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.HasPrefix(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

func TestALineOfFiftyMegabytes(t *testing.T) {
	doc := &record.Document{Path: "big.txt", Text: strings.Repeat("0123456789", 5<<20)}
	var buf bytes.Buffer
	w := NewWriter(&buf)
	if err := w.Write(doc); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&record.Root{Path: "n"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for r, err := range Records([]Input{{"x", &buf}}, record.KindDocument) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := r.(*record.Document); ok && d.Text != doc.Text {
			t.Error("the text came back changed")
		}
		kinds = append(kinds, r.Kind())
	}
	if strings.Join(kinds, " ") != "document root" {
		t.Errorf("got %v", kinds)
	}
}

// FuzzRecords: whatever comes in, reading ends without a panic, and what was
// read can be written and read again as the same records.
func FuzzRecords(f *testing.F) {
	for _, s := range []string{
		`{"kind":"chunk","path":"a","vector":[1,2],"x":{}}` + "\n" + `{"kind":"root"}`,
		`{"kind":"hit","scores":{"rrf":0.1}}{"q":"?"}`, "\ufeff{}\n[", `{"kind":"query","vector":"AACAPw=="}`,
	} {
		f.Add(s)
	}
	kinds := []string{record.KindDocument, record.KindChunk, record.KindQuery, record.KindHit, record.KindAnswer}
	f.Fuzz(func(t *testing.T, s string) {
		first, err := read(kinds, s)
		if err != nil {
			return
		}
		again, err := read(kinds, strings.Join(first, "\n"))
		if err != nil {
			t.Fatalf("%q: %v", first, err)
		}
		if strings.Join(first, "\n") != strings.Join(again, "\n") {
			t.Fatalf("%q became %q", first, again)
		}
	})
}

// A line that is read in blocks comes whole, with what stands before and behind it.
func TestHugeLine(t *testing.T) {
	for _, size := range []int{hugeLine - 1, hugeLine, hugeLine + 1, 2*hugeLine + 70_000} {
		text := []byte(`{"kind":"other","text":"` + strings.Repeat("0123456", size/7) + `"}`)
		in := io.MultiReader(strings.NewReader("{\"n\":1}\n"), bytes.NewReader(text), strings.NewReader("\n{\"n\":3}"))
		var got []int
		for r, err := range Records([]Input{{"x", in}}) {
			if err != nil {
				t.Fatal(err)
			}
			line := r.(*record.Raw).Line
			got = append(got, len(line))
			if len(got) == 2 && !bytes.Equal(line, text) {
				t.Errorf("%d bytes came back changed, as %d", len(text), len(line))
			}
		}
		if !slices.Equal(got, []int{7, len(text), 7}) {
			t.Errorf("lines of %v bytes", got)
		}
	}
}

// A document that is written piece by piece is the line that it would be as one.
func TestLongDocument(t *testing.T) {
	text := strings.Repeat("\"text\":\"\" 机房温度 \\ <b> \u2028\xff\xfe\x80\x80 e\u0301\n\t", 40_000)
	for i := range 4 { // the pieces end in other places
		doc := &record.Document{ID: "1", Path: `a"text":"".md`, Title: `"text":""`, Text: text[i:], Pages: []record.Page{{Page: 1, Text: "x"}},
			Extra: record.Extra{{Key: "text2", Value: []byte(`"text"`)}}}
		want, err := record.Append(nil, doc)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		w := NewWriter(&got)
		if err := errors.Join(w.Write(doc), w.Flush()); err != nil || got.String() != string(want)+"\n" {
			t.Errorf("from %d: %v, %d bytes, want %d", i, err, got.Len(), len(want)+1)
		}
	}
}
