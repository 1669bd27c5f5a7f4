package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// New returns an empty record of a kind, or nil for a kind that kb does not
// know.
func New(kind string) Record {
	switch kind {
	case KindDocument:
		return new(Document)
	case KindSkipped:
		return new(Skipped)
	case KindRoot:
		return new(Root)
	case KindChunk:
		return new(Chunk)
	case KindIndexed:
		return new(Indexed)
	case KindExport:
		return new(Export)
	case KindQuery:
		return new(Query)
	case KindHit:
		return new(Hit)
	case KindAnswer:
		return new(Answer)
	case KindDelta:
		return new(Delta)
	case KindDone:
		return new(Done)
	}
	return nil
}

// Decode reads one JSON object into r and keeps the fields that r does not
// know in its Extra. The line may be reused afterwards.
func Decode(line []byte, r Record) error {
	if raw, ok := r.(*Raw); ok {
		raw.Line = bytes.Clone(line)
		raw.RecordKind = KindOf(line)
		return nil
	}
	switch r := r.(type) {
	case *Chunk:
		if usual := (Chunk{}); readChunk(line, &usual) {
			*r = usual
			return nil
		}
	case *Document:
		if usual := (Document{}); readDocument(line, &usual) {
			*r = usual
			return nil
		}
	}
	return decodeObject(line, r, reflect.TypeOf(r).Elem(), extraOf(r))
}

// decodeObject reads an object into v, a pointer to a struct of type t, and
// its unknown fields into extra. encoding/json takes a field of another case
// for a known one ("Text" for "text"), so such a field is kept from it.
func decodeObject(object []byte, v any, t reflect.Type, extra *Extra) error {
	known := knownFields(t)
	var unknown Extra
	folded := false
	Fields(object, func(key string, value []byte) bool {
		if !known[key] {
			unknown = append(unknown, Field{key, bytes.Clone(value)})
			folded = folded || foldsToKnown(key, known)
		}
		return true
	})
	if folded && json.Valid(object) {
		object = onlyKnown(object, known)
	}
	if err := json.Unmarshal(object, v); err != nil {
		return readable(err)
	}
	*extra = unknown
	return nil
}

func foldsToKnown(key string, known map[string]bool) bool {
	for k := range known {
		if strings.EqualFold(k, key) {
			return true
		}
	}
	return false
}

// onlyKnown is the object without its unknown fields.
func onlyKnown(object []byte, known map[string]bool) []byte {
	out := []byte{'{'}
	Fields(object, func(key string, value []byte) bool {
		if known[key] {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, '"')
			out = append(out, key...)
			out = append(out, '"', ':')
			out = append(out, value...)
		}
		return true
	})
	return append(out, '}')
}

// Append appends r as one JSON object, without a line end: "kind" first, then
// the fields of the struct in order, then the unknown fields as they came.
func Append(dst []byte, r Record) ([]byte, error) {
	if raw, ok := r.(*Raw); ok {
		return append(dst, raw.Line...), nil
	}
	var err error
	if c, ok := r.(*Chunk); ok {
		dst, err = appendChunk(dst, c)
	} else {
		dst, err = appendFields(dst, r)
	}
	if err != nil {
		return dst, fmt.Errorf("%s record: %w", r.Kind(), err)
	}
	return append(appendExtra(dst, *extraOf(r)), '}'), nil
}

// appendFields appends the fields of the struct, without the closing brace.
func appendFields(dst []byte, r Record) ([]byte, error) {
	body, err := encode(shape(r))
	if err != nil {
		return dst, err
	}
	dst = append(dst, `{"kind":"`...)
	dst = append(dst, r.Kind()...)
	dst = append(dst, '"')
	if len(body) > 2 {
		dst = append(dst, ',')
		dst = append(dst, body[1:len(body)-1]...)
	}
	return dst, nil
}

// appendExtra appends unknown fields, each with a comma in front unless it is
// the first of its object.
func appendExtra(dst []byte, extra Extra) []byte {
	for _, f := range extra {
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, f.Key)
		dst = append(dst, ':')
		dst = append(dst, f.Value...)
	}
	return dst
}

// UnmarshalJSON keeps the fields that a leg does not know.
func (l *Leg) UnmarshalJSON(object []byte) error {
	type plain Leg
	return decodeObject(object, (*plain)(l), reflect.TypeFor[Leg](), &l.Extra)
}

// MarshalJSON writes them again.
func (l Leg) MarshalJSON() ([]byte, error) {
	type plain Leg
	return encodeObject(plain(l), l.Extra)
}

// UnmarshalJSON keeps the fields that scores do not know.
func (s *Scores) UnmarshalJSON(object []byte) error {
	type plain Scores
	return decodeObject(object, (*plain)(s), reflect.TypeFor[Scores](), &s.Extra)
}

// MarshalJSON writes them again.
func (s Scores) MarshalJSON() ([]byte, error) {
	type plain Scores
	return encodeObject(plain(s), s.Extra)
}

func encodeObject(v any, extra Extra) ([]byte, error) {
	body, err := encode(v)
	if err != nil || len(extra) == 0 {
		return body, err
	}
	return append(appendExtra(body[:len(body)-1], extra), '}'), nil
}

// shape returns what is encoded for r: lists that readers iterate over are
// written as [] rather than null.
func shape(r Record) any {
	switch r := r.(type) {
	case *Hit:
		if r.Headings == nil {
			h := *r
			h.Headings = []string{}
			return &h
		}
	case *Answer:
		return shapeAnswer(*r)
	case *Done:
		return shapeAnswer(r.Answer)
	}
	return r
}

func shapeAnswer(a Answer) *Answer {
	passages := func(in []Passage) []Passage {
		out := make([]Passage, len(in))
		for i, p := range in {
			if p.Headings == nil {
				p.Headings = []string{}
			}
			out[i] = p
		}
		return out
	}
	a.Passages, a.Citations = passages(a.Passages), passages(a.Citations)
	claims := make([]Claim, len(a.Claims))
	for i, c := range a.Claims {
		if c.Cites == nil {
			c.Cites = []int{}
		}
		claims[i] = c
	}
	a.Claims = claims
	if a.Invalid == nil {
		a.Invalid = []int{}
	}
	return &a
}

func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// readable takes Go's type names out of a decoding error.
func readable(err error) error {
	if t, ok := err.(*json.UnmarshalTypeError); ok {
		if t.Field == "" {
			return fmt.Errorf("not a JSON object: it is a %s", t.Value)
		}
		return fmt.Errorf("field %q is a %s, which it may not be", t.Field, t.Value)
	}
	return err
}

func extraOf(r Record) *Extra {
	switch r := r.(type) {
	case *Document:
		return &r.Extra
	case *Skipped:
		return &r.Extra
	case *Root:
		return &r.Extra
	case *Chunk:
		return &r.Extra
	case *Indexed:
		return &r.Extra
	case *Export:
		return &r.Extra
	case *Query:
		return &r.Extra
	case *Hit:
		return &r.Extra
	case *Answer:
		return &r.Extra
	case *Delta:
		return &r.Extra
	case *Done:
		return &r.Extra
	}
	return new(Extra)
}

var fieldSets sync.Map // reflect.Type → map[string]bool

func knownFields(t reflect.Type) map[string]bool {
	if known, ok := fieldSets.Load(t); ok {
		return known.(map[string]bool)
	}
	known := map[string]bool{"kind": true}
	collect(t, known)
	fieldSets.Store(t, known)
	return known
}

func collect(t reflect.Type, known map[string]bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			collect(f.Type, known)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "-" {
			known[name] = true
		}
	}
}

// KindOf reads the field "kind" of a JSON object; "" where it has none or is
// no object. It does not check the rest of the line.
func KindOf(line []byte) string {
	kind := ""
	Fields(line, func(key string, value []byte) bool {
		if key != "kind" {
			return true
		}
		if json.Unmarshal(value, &kind) != nil {
			kind = ""
		}
		return false
	})
	return kind
}

// Fields calls yield with each key and value at the top level of a JSON
// object, until yield returns false. It reads a valid object right and stops
// early in a broken one; it never fails.
func Fields(line []byte, yield func(key string, value []byte) bool) {
	walk(line, func(key, value []byte) bool { return yield(string(key), value) })
}

// walk calls yield with each key and value at the top level of a JSON object,
// until yield returns false. It returns whether the object is whole and nothing
// follows it; what the values are made of is for yield to check.
func walk(line []byte, yield func(key, value []byte) bool) bool {
	i := skipSpace(line, 0)
	if i >= len(line) || line[i] != '{' {
		return false
	}
	i = skipSpace(line, i+1)
	if i < len(line) && line[i] == '}' {
		return skipSpace(line, i+1) == len(line)
	}
	for i < len(line) && line[i] == '"' {
		end := skipValue(line, i)
		if end < 0 {
			return false
		}
		key, ok := readKey(line[i:end])
		i = skipSpace(line, end)
		if !ok || i >= len(line) || line[i] != ':' {
			return false
		}
		i = skipSpace(line, i+1)
		end = skipValue(line, i)
		if end < 0 || !yield(key, line[i:end]) {
			return false
		}
		i = skipSpace(line, end)
		switch {
		case i < len(line) && line[i] == ',':
			i = skipSpace(line, i+1)
		case i < len(line) && line[i] == '}':
			return skipSpace(line, i+1) == len(line)
		default:
			return false
		}
	}
	return false
}

// readKey reads a key without taking memory for one of the usual form.
func readKey(value []byte) ([]byte, bool) {
	for _, c := range value[1 : len(value)-1] {
		if c < ' ' || c >= utf8.RuneSelf || c == '\\' {
			var key string
			err := json.Unmarshal(value, &key)
			return []byte(key), err == nil
		}
	}
	return value[1 : len(value)-1], true
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the offset behind the value that begins at i, or -1.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i++
			for {
				q := bytes.IndexByte(b[min(i, len(b)):], '"')
				if q < 0 {
					return -1
				}
				slashes := 0
				for q-slashes > 0 && b[i+q-slashes-1] == '\\' {
					slashes++
				}
				i += q + 1
				if slashes%2 == 0 {
					break
				}
			}
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return -1
			}
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return -1
			}
			i++
			continue
		default: // number, true, false, null
			start := i
			for i < len(b) && !strings.ContainsRune(",:]}[{\" \t\r\n", rune(b[i])) {
				i++
			}
			if i == start {
				return -1
			}
		}
		if depth == 0 {
			return i
		}
	}
	return -1
}
