package record

import (
	"encoding/json"
	"math"
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
