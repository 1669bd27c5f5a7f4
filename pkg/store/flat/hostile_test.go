package flat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"kb/pkg/store"
)

// plainIndex is an index whose frames are not compressed, so that a text may be
// exchanged for another of the same length and all offsets stay right: what
// somebody makes who knows the format.
type plainIndex [][]byte // the text of each frame

const width = 20 // of a number in header and directory, with spaces behind it

func newPlain(t testing.TB, data []byte) plainIndex {
	t.Helper()
	r, err := newReader(memory(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var p plainIndex
	for frame, err := range walk(context.Background(), memory(data), r.dec) {
		if err != nil {
			t.Fatal(err)
		}
		p = append(p, bytes.Clone(frame.text))
	}
	last := len(p) - 1
	p[0] = padNumbers(p[0])
	at := []int64{0}
	place := func() {
		at = at[:1]
		for i, text := range p {
			at = append(at, at[i]+int64(len(plainFrame(text))))
		}
	}
	place()
	d := r.dir
	if d.Terms.Frames == 1 {
		terms, err := r.terms()
		if err != nil {
			t.Fatal(err)
		}
		for i := range terms.Lengths {
			k := d.Postings.Frame + i
			terms.Lengths[i] = uint32(at[k+1] - at[k])
		}
		line, err := appendJSON(nil, terms)
		if err != nil {
			t.Fatal(err)
		}
		p[d.Terms.Frame] = append(line, '\n')
		place()
	}
	for i, s := range r.segments {
		d.Offset[i] = uint64(at[s.frame])
		if s.vectors > 0 {
			d.Codes[i] = uint64(at[s.frame+s.frames()-1])
		}
	}
	for _, s := range []*span{&d.Lists, &d.Postings, &d.Terms, &d.Lengths} {
		s.Offset = at[s.Frame]
		s.Length = at[s.Frame+s.Frames] - s.Offset
	}
	line, err := appendJSON(nil, d)
	if err != nil {
		t.Fatal(err)
	}
	p[last] = padNumbers(append(line, '\n'))
	if err := readEverything(context.Background(), p.file(t)); err != nil {
		t.Fatal("as it is:", err)
	}
	return p
}

// plainFrame is a frame of raw blocks, as codes are in.
func plainFrame(text []byte) []byte {
	f := le.AppendUint32(nil, frameMagic)
	f = append(f, codesDescriptor)
	f = le.AppendUint32(f, uint32(len(text)))
	if bytes.Contains(text, []byte(codesBegin)) { // in the blocks that a search expects
		head := bytes.Index(text, []byte(codesBegin)) + len(codesBegin)
		f = appendRaw(f, text[:head], false)
		f = appendRaw(f, text[head:len(text)-len(codesEnd)], false)
		f = appendRaw(f, text[len(text)-len(codesEnd):], true)
	} else {
		for rest := text; ; {
			n := min(len(rest), maxBlock)
			f = appendRaw(f, rest[:n], n == len(rest))
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
		}
	}
	return le.AppendUint32(f, uint32(xxhash.Sum64(text)))
}

// file is the index with its seek table.
func (p plainIndex) file(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w := newFrameWriter(&out)
	for _, text := range p {
		frame := plainFrame(text)
		if err := w.write(frame, entryOf(frame, len(text))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// padNumbers gives every number of a line that stands by itself the same width.
func padNumbers(line []byte) []byte {
	return numberField.ReplaceAllFunc(line, func(m []byte) []byte {
		return append(bytes.Clone(m), bytes.Repeat([]byte{' '}, width-(len(m)-bytes.IndexByte(m, ':')-1))...)
	})
}

var numberField = regexp.MustCompile(`"[a-z_]+":-?[0-9]+`)

// setField sets every field of a name to a value of the same kind.
func setField(line []byte, field, value string) []byte {
	if strings.HasPrefix(value, `"`) {
		re := regexp.MustCompile(`"` + field + `":"[^"]{` + fmt.Sprint(len(value)-2) + `}"`)
		return re.ReplaceAll(line, []byte(`"`+field+`":`+value))
	}
	re := regexp.MustCompile(`"` + field + `":[-0-9 ]{` + fmt.Sprint(width) + `}`)
	return re.ReplaceAll(line, fmt.Appendf(nil, `"%s":%-*s`, field, width, value))
}

// TestHostileNumbers: numbers that no file of this size can justify are damage
// and take no memory, where header and directory agree on them and where they
// do not. What a reader takes besides, for decoders and buffers, has a limit.
func TestHostileNumbers(t *testing.T) {
	const slack = 64 << 20
	base := newPlain(t, tinyIndex(t, 3))
	last := len(base) - 1
	for _, c := range []struct{ field, value string }{
		{"dim", "2147483648"}, {"dim", "8193"}, {"dim", "8192"}, {"dim", "-1"}, {"dim", "4"},
		{"chunks", "1099511627776"}, {"chunks", "-5"}, {"chunks", "2147483647"},
		{"documents", "1099511627776"}, {"documents", "-1"},
		{"vectors", "1099511627776"}, {"vectors", "0"},
		{"segments", "1099511627776"}, {"segments", "-1"}, {"segments", "0"},
		{"offset", "9223372036854775807"}, {"length", "9223372036854775807"},
		{"frame", "9223372036854775807"}, {"frames", "1099511627776"}, {"frames", "-1"},
		{"rows", `"/////w=="`}, {"rows", `"AAgAAA=="`}, {"documents", `"/////w=="`}, {"vectors", `"/////w=="`},
		{"document_frames", `"/////w=="`}, {"document_frames", `"AAAAAA=="`}, {"chunks_per_frame", `"AAAAAA=="`},
		{"frame", `"/////w=="`}, {"codes", `"/////////38="`}, {"codes", `"AAAAAAAAAAA="`}, {"offset", `"/////////38="`},
	} {
		for _, where := range [][]int{{0}, {last}, {0, last}} {
			hostile := slices.Clone(base)
			changed := false
			for _, i := range where {
				hostile[i] = setField(base[i], c.field, c.value)
				changed = changed || !bytes.Equal(hostile[i], base[i])
			}
			if !changed {
				continue
			}
			data := hostile.file(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := readEverything(t.Context(), data)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, store.ErrDamaged) {
				t.Errorf("%s %s in %v: %v", c.field, c.value, where, err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > slack {
				t.Errorf("%s %s in %v took %d MB for a file of %d bytes", c.field, c.value, where, n>>20, len(data))
			}
		}
	}
}

// readEverything returns the first error of any reading.
func readEverything(ctx context.Context, data []byte) error {
	r, err := newReader(memory(data))
	if err != nil {
		return err
	}
	defer r.Close()
	q := make([]float32, max(r.head.Dim, 1))
	q[0] = 1
	if _, err := r.Nearest(ctx, q, 3, store.Filter{}); err != nil {
		return err
	}
	if _, err := r.Lexical(ctx, []string{"w1"}, 3, store.Filter{Paths: []string{"**"}}); err != nil {
		return err
	}
	for _, err := range r.Documents(ctx) {
		if err != nil {
			return err
		}
	}
	for _, err := range r.Skipped(ctx) {
		if err != nil {
			return err
		}
	}
	for _, err := range r.Chunks(ctx, "", true) {
		if err != nil {
			return err
		}
	}
	return r.load(ctx)
}

// TestBombFrame: a frame that unpacks to more than any frame may, in a file
// with a seek table, is refused before memory is taken for it.
func TestBombFrame(t *testing.T) {
	base := newPlain(t, tinyIndex(t, 3))
	var out bytes.Buffer
	w := newFrameWriter(&out)
	bomb := frameSet{enc: &encoder{}}
	if err := bomb.text(append(bytes.Repeat([]byte{' '}, maxLine), base[0]...)); err != nil {
		t.Fatal(err)
	}
	w.write(bomb.data, bomb.entries...)
	for _, text := range base[1:] {
		frame := plainFrame(text)
		w.write(frame, entryOf(frame, len(text)))
	}
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := newReader(memory(out.Bytes()))
	runtime.ReadMemStats(&after)
	if !errors.Is(err, store.ErrDamaged) || after.TotalAlloc-before.TotalAlloc > 8<<20 {
		t.Errorf("%v, after taking %d KB for a file of %d", err, (after.TotalAlloc-before.TotalAlloc)>>10, out.Len()>>10)
	}
}

// TestHostileVectors: a sparse vector that is not one is damage, by whatever door.
func TestHostileVectors(t *testing.T) {
	base := newPlain(t, tinyIndex(t, 64))
	at := slices.IndexFunc(base, func(text []byte) bool { return bytes.Contains(text, []byte(placesField)) })
	line, rest, _ := bytes.Cut(base[at], []byte{'\n'})
	l, err := splitVectorLine(line)
	if err != nil || len(l.places) < 12 || len(l.values) < 12 {
		t.Fatalf("%s: %v", line, err)
	}
	for name, change := range map[string][2]string{
		"dimension":          {`"dim":64`, `"dim":63`},
		"no dimension":       {`"dim":64`, `"dim":0 `},
		"huge dimension":     {`"dim":64`, `"dim":99`},
		"no field":           {`"places":`, `"Places":`},
		"no digits":          {placesField + string(l.places[:2]), placesField + "%%"},
		"outside":            {placesField + string(l.places[:4]), placesField + "gggB"},
		"far outside":        {placesField + string(l.places[:8]), placesField + "////////"},
		"no such value":      {placesField + string(l.places[:2]), placesField + string(l.places[:1]) + "f"},
		"half an element":    {placesField + string(l.places[:2]), placesField + "gB"},
		"values not base64":  {valuesField + string(l.values[:4]), valuesField + "@@@@"},
		"values of no array": {string(l.values[len(l.values)-4:]) + lineEnd, "A===" + lineEnd},
		"not a number":       {valuesField + string(l.values[:8]), valuesField + "//////8A"[:8]},
		"infinite":           {valuesField + string(l.values[:6]), valuesField + "AACAfw"},
	} {
		bad := bytes.Replace(line, []byte(change[0]), []byte(change[1]), 1)
		if len(bad) != len(line) || bytes.Equal(bad, line) {
			t.Fatalf("%s: %s", name, bad)
		}
		hostile := slices.Clone(base)
		hostile[at] = slices.Concat(bad, []byte{'\n'}, rest)
		data := hostile.file(t)
		if err := readEverything(t.Context(), data); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		path := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if report, err := New(path).Verify(t.Context()); err != nil || len(report.Faults) == 0 || report.Faults[0].Offset == 0 {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		if r, err := New(path).Repair(t.Context(), true); err != nil || !r.Written || r.Kept+len(r.Lost) != 3 || r.Kept < 2 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
