package record

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestFieldsThatAStageDoesNotKnowComeThrough(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"extra fields keep their order and form",
			`{"b":1.50,"kind":"root","path":"n","documents":2,"skipped":0,"a":{"x":[1,"}"]},"note":"a\"b"}`,
			`{"kind":"root","path":"n","documents":2,"skipped":0,"b":1.50,"a":{"x":[1,"}"]},"note":"a\"b"}`},
		{"no HTML escapes, no escapes of Han",
			`{"kind":"delta","query":"q","text":"<a> & 中文"}`,
			`{"kind":"delta","query":"q","text":"<a> & 中文"}`},
		{"an array of numbers becomes base64",
			`{"kind":"query","id":"q","text":"t","vector":[1,0.5]}`,
			`{"kind":"query","id":"q","text":"t","vector":"AACAPwAAAD8="}`},
		{"lists are never null",
			`{"kind":"answer","query":"q","passages":[{"n":1}],"claims":[{"text":"t"}]}`,
			`{"kind":"answer","query":"q","text":"","refused":false,"complete":false,"passages":[{"n":1,"path":"","title":"","headings":[],"text":"","score":0}],"citations":[],"claims":[{"text":"t","cites":[],"supported":false}],"invalid_citations":[],"latency_ms":0}`},
		{"unknown kinds are untouched", `{"kind":"mine" , "x":1}`, `{"kind":"mine" , "x":1}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := New(KindOf([]byte(tc.in)))
			if r == nil {
				r = &Raw{}
			}
			if err := Decode([]byte(tc.in), r); err != nil {
				t.Fatal(err)
			}
			got, err := Append(nil, r)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestDecodeNamesTheFieldThatIsWrong(t *testing.T) {
	err := Decode([]byte(`{"kind":"chunk","seq":"one"}`), &Chunk{})
	if err == nil || !strings.Contains(err.Error(), `"seq"`) || strings.Contains(err.Error(), "Go struct") {
		t.Errorf("got %v", err)
	}
}

func TestVectorCheck(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, tc := range []struct {
		v    Vector
		want string
	}{
		{Vector{0, 1}, ""}, {nil, "empty"}, {Vector{0, 0}, "zero"}, {Vector{1, nan}, "element 1 is NaN"}, {Vector{inf}, "infinite"},
	} {
		err := tc.v.Check()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: %v, want %q", tc.v, err, tc.want)
		}
	}
}

func TestVectorRejectsWhatIsNoVector(t *testing.T) {
	for _, in := range []string{`"AAA="`, `"?"`, `[1,null]`, `[1e60,"x"]`, `{}`, `3`} {
		var v Vector
		if err := json.Unmarshal([]byte(in), &v); err == nil {
			t.Errorf("%s was accepted as %v", in, v)
		}
	}
}

// FuzzChunk holds the reading and writing of chunks by hand against
// encoding/json: a line in the usual form is read in the same way, and what was
// read is written in the same way.
func FuzzChunk(f *testing.F) {
	for _, s := range []string{
		`{"kind":"chunk","id":"i","document":"d","path":"n/a.md","title":"<t>","hash":"h","seq":1,"of":2,"headings":["a","\u4e2d\n"],"page":3,"line":12,"start":0,"end":9,"text":"a\n\"b\" \\ \/ \t\r\b\f 中文 \u2028 \ud83d\ude42","meta":{"tags":["x"] },"vector":"AACAPwAAAD8AAIA/AACAPw==","model":"m","base_url":"u","dim":4,"query_prefix":"q","document_prefix":"d","reused":true,"error":"e","more":[1.50, {"a":null}]}`,
		`{"kind":"chunk","vector":[1,2],"seq":-1,"of":1e2,"Text":"x","ſeq":1,"reused":false}`,
		`{"kind":"chunk","text":null,"headings":null,"meta":null,"vector":null}`,
		`{"kind":"chunk","text":"a","text":"b\x","x":01,}`, `{"vector":"AACAPw=="} `, `{"kind":"chunk","text":"` + "\xff\u2028\u007f" + `"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var plain, usual Chunk
		err := decodeObject(data, &plain, reflect.TypeFor[Chunk](), &plain.Extra)
		if readChunk(data, &usual) && (err != nil || !reflect.DeepEqual(bitwise(plain), bitwise(usual))) {
			t.Fatalf("%q: read as\n%+v, not\n%+v (%v)", data, usual, plain, err)
		}
		if err != nil {
			return
		}
		got, err := appendChunk(nil, &plain)
		if plain.Headings == nil {
			plain.Headings = []string{}
		}
		want, wantErr := appendFields(nil, &plain)
		if string(got) != string(want) || (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: written as\n%s (%v), not\n%s (%v)", data, got, err, want, wantErr)
		}
	})
}

// FuzzDocument holds the reading of documents by hand against encoding/json.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{
		`{"kind":"document","id":"i","path":"n/a.md","root":"n","title":"<t>","media_type":"text/markdown","hash":"h","modified":"2026-01-02T03:04:05Z","text":"a\n\"b\" \\ \/ 中文 \u2028 \ud83d\ude42","meta":{"tags":["x"] }}`,
		`{"kind":"document","text":"a\f1","pages":[{"page":1,"text":"a"}],"converted":true}`,
		`{"kind":"document","text":null,"meta":null}`, `{"kind":"document","Text":"x","text":"a","text":"b"}`,
		`{"kind":"document","text":"a","more":1}`, `{"kind":"document","text":"` + "\xff" + `","x":01,}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var plain, usual Document
		err := decodeObject(data, &plain, reflect.TypeFor[Document](), &plain.Extra)
		if readDocument(data, &usual) && (err != nil || !reflect.DeepEqual(plain, usual)) {
			t.Fatalf("%q: read as\n%+v, not\n%+v (%v)", data, usual, plain, err)
		}
	})
}

// TestEveryFieldOfAChunk: no field is forgotten by the reading and writing by
// hand.
func TestEveryFieldOfAChunk(t *testing.T) {
	c := Chunk{Headings: []string{"h"}, Meta: json.RawMessage(`{"a":1}`), Vector: Vector{1, 2}, Reused: true}
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(v.Type().Field(i).Name)
		case reflect.Int:
			f.SetInt(int64(i))
		}
	}
	want, err := appendFields(nil, &c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := appendChunk(nil, &c)
	if err != nil || string(got) != string(want) {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	var back Chunk
	if !readChunk(append(got, '}'), &back) || !reflect.DeepEqual(back, c) {
		t.Errorf("%s is read as %+v", got, back)
	}
}

// bitwise makes a chunk comparable that has a NaN in its vector.
func bitwise(c Chunk) any {
	raw := c.Vector.Bytes()
	c.Vector = nil
	return []any{c, raw}
}

// FuzzString holds the writing of strings against encoding/json.
func FuzzString(f *testing.F) {
	f.Add("a\x00\x1f\x7f\"\\/<&>\b\f\n\r\t\u2028\u2029\ufffd\xff中🙂\xe2\x80")
	f.Fuzz(func(t *testing.T, s string) {
		want, err := encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendString(nil, s); string(got) != string(want) {
			t.Fatalf("%q: %s, want %s", s, got, want)
		}
		read, ok := readString(want)
		var plain string
		if err := json.Unmarshal(want, &plain); err != nil || !ok || read != plain {
			t.Fatalf("%s: read as %q (%t), want %q", want, read, ok, plain)
		}
	})
}

// TestNumbersInBase64 holds both ways against encoding/base64, at all lengths
// around the steps in which they work.
func TestNumbersInBase64(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 400 {
		v := make(Vector, n)
		for i := range v {
			v[i] = math.Float32frombits(rng.Uint32() &^ (1 << 30)) // finite
		}
		text := AppendFloats([]byte("x"), v)
		if want := "x" + base64.StdEncoding.EncodeToString(v.Bytes()); string(text) != want {
			t.Fatalf("%d numbers: %s, want %s", n, text, want)
		}
		got := make(Vector, n)
		if err := DecodeFloats(got, text[1:]); err != nil || !slices.Equal(got, v) {
			t.Fatalf("%d numbers come back as %v, %v", n, got, err)
		}
		if err := DecodeFloats(make([]float32, n+1), text[1:]); err == nil {
			t.Fatalf("%d numbers are taken for %d", n, n+1)
		}
	}
}

func TestDecodeWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 1))
	for n := range 40 {
		want := make([]uint32, n)
		var raw []byte
		for i := range want {
			want[i] = rng.Uint32()
			raw = binary.LittleEndian.AppendUint32(raw, want[i])
		}
		text := base64.StdEncoding.AppendEncode(nil, raw)
		got := make([]uint32, n)
		if err := DecodeWords(got, text); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d words: %x, %v; want %x", n, got, err, want)
		}
		for i := range text {
			for _, c := range []byte{'=', '-', ' ', '\n', 0, 0xC3} {
				if was := text[i]; was != c {
					text[i] = c
					if DecodeWords(got, text) == nil {
						t.Fatalf("%d words: %q at %d was accepted", n, c, i)
					}
					text[i] = was
				}
			}
		}
		for count := 1; count <= bytes.Count(text, []byte("=")); count++ { // stands for more bytes than the words have
			if DecodeWords(got, bytes.Replace(text, []byte("="), []byte("A"), count)) == nil {
				t.Fatalf("%d words: accepted without %d of its padding", n, count)
			}
		}
		if DecodeWords(make([]uint32, n+1), text) == nil {
			t.Fatalf("%d words from the text of %d", n+1, n)
		}
	}
}

// FuzzFields holds the scanner of top-level fields against encoding/json: on
// every valid object both see the same keys, and on nothing does it fail.
func FuzzFields(f *testing.F) {
	for _, s := range []string{`{"kind":"chunk","a":[1,{"b":"\\\""}],"c":null}`, `{}`, `{"a"`, `{"a":"\u0061","":0}`, ` { "k" : -1e3 , "z":true}`, `{"a":{]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		seen := map[string]string{}
		Fields(data, func(k string, v []byte) bool { seen[k] = string(v); return true })
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil {
			return
		}
		if len(seen) != len(want) {
			t.Fatalf("%q: saw %d keys, want %d", data, len(seen), len(want))
		}
		for k, v := range want {
			if seen[k] != string(v) {
				t.Fatalf("%q: key %q is %q, want %q", data, k, seen[k], v)
			}
		}
	})
}
