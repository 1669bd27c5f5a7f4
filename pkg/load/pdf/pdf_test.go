package pdf

import (
	"bytes"
	"compress/lzw"
	"context"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"kb/pkg/record"
)

// compiled keeps compiled code for all tests: compiling takes seconds.
var compiled string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == WorkerCommand {
		if err := Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	dir, err := os.MkdirTemp("", "kb-pdf-test")
	if err != nil {
		panic(err)
	}
	compiled = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// file writes a PDF of the objects, the first of which is the catalog.
func file(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, o := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(content), content)
}

// lines is the content of a page with a line of text for each argument.
func lines(text ...string) string {
	var b strings.Builder
	b.WriteString("BT /F1 12 Tf 14 TL 50 750 Td\n")
	for _, s := range text {
		fmt.Fprintf(&b, "(%s) Tj T*\n", s)
	}
	return b.String() + "ET"
}

const (
	font  = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
	image = "q 100 0 0 100 50 500 cm /Im1 Do Q"
)

// pagesOf makes a PDF of pages with these contents. /Im1 is a picture, /Fm1 a
// form that draws itself.
func pagesOf(contents ...string) []byte {
	var kids strings.Builder
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "", font,
		stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8", "x"),
		stream("/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /Fm1 5 0 R >> >>", "/Fm1 Do /Fm1 Do /Fm1 Do /Fm1 Do"),
	}
	for _, c := range contents {
		n := len(objects)
		fmt.Fprintf(&kids, "%d 0 R ", n+1)
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R"+
			" /Resources << /Font << /F1 3 0 R >> /XObject << /Im1 4 0 R /Fm1 5 0 R >> >> >>", n+2), stream("", c))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(contents), kids.String())
	return file(objects...)
}

func extractor(t *testing.T, engine string) *Extractor {
	t.Helper()
	if race && engine != PDFium {
		t.Skip("the child process cannot run under the race detector")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x := NewExtractor(Options{Engine: engine, CacheDir: compiled, NoCache: true, Executable: self})
	x.all[0].(*wasmEngine).trial = 0
	t.Cleanup(func() { x.Close() })
	return x
}

func extract(x *Extractor, data []byte) (Doc, error) {
	sum := sha256.Sum256(data)
	doc, _, err := x.Extract(context.Background(), data, hex.EncodeToString(sum[:]))
	return doc, err
}

func TestPages(t *testing.T) {
	long := "the committee has reviewed all of the statements in this con-"
	data := pagesOf(
		lines("ACME Ltd.", long, "figuration and found", "Nothing. Short.", "Page 1 of 4"),
		lines("ACME Ltd.", "second page", "Page 2 of 4"),
		image,
		"",
		lines("ACME Ltd.", "last page", "Page 3 of 4"),
	)
	for _, engine := range []string{PDFium, Plain} {
		t.Run(engine, func(t *testing.T) {
			doc, err := extract(extractor(t, engine), data)
			if err != nil {
				t.Fatal(err)
			}
			want := []Page{{Text: strings.TrimSuffix(long, "-") + "figuration and found\nNothing. Short."}, {Text: "second page"},
				{Status: StatusNoText}, {Status: StatusEmpty}, {Text: "last page"}}
			if engine == Plain { // it knows no pictures on a page by what the page draws
				want[3].Status = StatusNoText
			}
			if fmt.Sprint(doc.Pages) != fmt.Sprint(want) {
				t.Errorf("pages %+v", doc.Pages)
			}
			if fmt.Sprint(doc.Running) != "[ACME Ltd. Page # of #]" {
				t.Errorf("running %q", doc.Running)
			}
		})
	}
}

func classOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return fmt.Sprint(err)
}

func TestFailures(t *testing.T) {
	good := pagesOf(lines("hello"))
	locked := bytes.Replace(good, []byte("/Root 1 0 R"), []byte("/Root 1 0 R /ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ("+
		strings.Repeat("o", 32)+") /U ("+strings.Repeat("u", 32)+") >>"), 1)
	for name, c := range map[string]struct {
		data  []byte
		class string // "" where it is read
	}{
		"good":          {good, ""},
		"not a pdf":     {[]byte("hello"), record.ClassNotPDF},
		"nothing":       {nil, record.ClassNotPDF},
		"half":          {good[:len(good)/3], record.ClassDamaged},
		"only a header": {[]byte("%PDF-1.4\n"), record.ClassDamaged},
		"password":      {locked, record.ClassPassword},
		"no pages":      {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 0 /Kids [] >>"), record.ClassDamaged},
		"kids loop":     {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [2 0 R] >>"), record.ClassDamaged},
	} {
		for _, engine := range []string{PDFium, Plain, Auto} {
			t.Run(name+" "+engine, func(t *testing.T) {
				_, err := extract(extractor(t, engine), c.data)
				if c.class == "" && err != nil || c.class != "" && classOf(err) != c.class {
					t.Errorf("%v, want %s", err, c.class)
				}
			})
		}
	}
}

// What plain refuses without the repair.
func TestRepair(t *testing.T) {
	good := pagesOf(lines("hello"))
	at := bytes.LastIndex(good, []byte("startxref"))
	for name, data := range map[string][]byte{
		"leading junk":  append([]byte("junk\r\n"), pagesOf(lines("hello"))...),
		"trailing junk": append(bytes.Clone(good), bytes.Repeat([]byte("junk "), 100)...),
		"newer header":  bytes.Replace(good, []byte("%PDF-1.4"), []byte("%PDF-2.0"), 1),
		"bad startxref": append(bytes.Clone(good[:at]), "startxref\n7\n%%EOF\n"...),
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := extract(extractor(t, Plain), data)
			if name == "leading junk" && err != nil {
				t.Skip("offsets count from the header in this file")
			}
			if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Text != "hello" {
				t.Errorf("%+v, %v", doc, err)
			}
		})
	}
}

// Files that never end: the engine is stopped, and reads the next file.
func TestDeadlines(t *testing.T) {
	good := pagesOf(lines("hello"))
	loop := pagesOf("/Fm1 Do")
	prev := bytes.Replace(good, []byte("/Root 1 0 R"), fmt.Appendf(nil, "/Root 1 0 R /Prev %d", bytes.LastIndex(good, []byte("xref\n0"))), 1)
	t.Run(PDFium, func(t *testing.T) {
		x := extractor(t, PDFium)
		if doc, err := extract(x, good); err != nil || doc.Pages[0].Text != "hello" {
			t.Fatalf("%+v, %v", doc, err)
		}
		x.all[0].(*wasmEngine).patience = 200 * time.Millisecond
		if _, err := extract(x, loop); classOf(err) != record.ClassTimeout {
			t.Errorf("%v", err)
		}
		x.all[0].(*wasmEngine).patience = timeToOpen
		if doc, err := extract(x, good); err != nil || doc.Pages[0].Text != "hello" {
			t.Errorf("after it: %+v, %v", doc, err)
		}
	})
	t.Run(Plain, func(t *testing.T) {
		x := extractor(t, Plain)
		x.all[1].(*plainEngine).patience = 300 * time.Millisecond
		if _, err := extract(x, prev); classOf(err) != record.ClassTimeout {
			t.Errorf("%v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		for _, engine := range []string{PDFium, Plain} {
			x := extractor(t, engine)
			data := map[string][]byte{PDFium: loop, Plain: prev}[engine]
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			if _, _, err := x.Extract(ctx, data, ""); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", engine, err)
			}
			cancel()
		}
	})
}

// The interpreter reads what compiled code reads, and hands over in the middle
// of a document when its time is over.
func TestTrial(t *testing.T) {
	var contents []string
	for i := range 40 {
		contents = append(contents, lines(fmt.Sprintf("page %c", 'A'+i)))
	}
	data := pagesOf(contents...)
	want, err := extract(extractor(t, PDFium), data)
	if err != nil || len(want.Pages) != 40 {
		t.Fatalf("%+v, %v", want, err)
	}
	for _, trial := range []time.Duration{time.Minute, 30 * time.Millisecond, time.Nanosecond} {
		w := newPdfium("", nil, nil)
		w.trial = trial
		prepared := false
		w.status = func(string) { w.code, prepared = newCodeCache(compiled), true } // in place of compiling anew
		raw, err := w.pages(context.Background(), data)
		if err != nil || fmt.Sprint(clean(raw)) != fmt.Sprint(want) {
			t.Errorf("%v: %+v, %v", trial, raw, err)
		}
		if prepared != (trial < time.Minute) {
			t.Errorf("%v: compiled: %v", trial, prepared)
		}
		w.close()
	}
}

// page is a PDF of one page with these contents, an object, in a font that is
// one too; more objects follow from number 6.
func page(font, contents string, more ...string) []byte {
	return file(append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>",
		font, contents,
	}, more...)...)
}

// gbk is text in a font that is not embedded and names a predefined CMap.
func gbk(codes string) []byte {
	return page("<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /GBK-EUC-H /DescendantFonts [6 0 R] >>",
		stream("", "BT /F1 12 Tf 50 750 Td <"+hex.EncodeToString([]byte(codes))+"> Tj ET"),
		"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /FontDescriptor 7 0 R"+
			" /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> >>",
		"<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0"+
			" /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>")
}

// encrypted is a page that the empty password opens: RC4 with 40 bits, ISO
// 32000-1 section 7.6.3.
func encrypted(content string) []byte {
	pad, _ := hex.DecodeString("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
	crypt := func(key []byte, data string) []byte {
		c, _ := rc4.NewCipher(key)
		out := make([]byte, len(data))
		c.XORKeyStream(out, []byte(data))
		return out
	}
	owner, id := strings.Repeat("o", 32), "0123456789abcdef"
	sum := md5.Sum([]byte(string(pad) + owner + "\xfc\xff\xff\xff" + id)) // /P -4
	key := sum[:5]
	ofStream := md5.Sum(append(bytes.Clone(key), 5, 0, 0, 0, 0)) // object 5, generation 0
	return bytes.Replace(page(font, stream("", string(crypt(ofStream[:10], content)))), []byte("/Root 1 0 R"),
		fmt.Appendf(nil, "/Root 1 0 R /ID [<%x> <%x>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%x> /U <%x> >>",
			id, id, owner, crypt(key, string(pad))), 1)
}

func filtered(content string) []byte {
	var b bytes.Buffer
	w := lzw.NewWriter(&b, lzw.MSB, 8) // as in PDF while codes have 9 bits
	w.Write([]byte(content))
	w.Close()
	return page(font, stream("/Filter [/ASCIIHexDecode /LZWDecode]", hex.EncodeToString(b.Bytes())+">"))
}

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"predefined CMap": {gbk("\xc4\xe3\xba\xc3"), "你好"},
		"empty password":  {encrypted(lines("hello")), "hello"},
		"LZW in hex":      {filtered(lines("hello")), "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := extract(extractor(t, PDFium), c.data)
			if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Text != c.want {
				t.Errorf("%+v, %v", doc, err)
			}
		})
	}
}

func TestManyPages(t *testing.T) {
	var contents []string
	for i := range 300 {
		contents = append(contents, lines(fmt.Sprintf("begins %d", i), "word"+strings.Repeat("x", i%7)))
	}
	doc, err := extract(extractor(t, PDFium), pagesOf(contents...))
	if err != nil || len(doc.Pages) != 300 {
		t.Fatalf("%d pages, %v", len(doc.Pages), err)
	}
	for i, p := range doc.Pages {
		if want := "word" + strings.Repeat("x", i%7); !strings.HasSuffix(p.Text, want) {
			t.Errorf("page %d: %q", i+1, p.Text)
		}
	}
}

// Nothing is started for what is no PDF, nor for what the cache knows.
func TestStart(t *testing.T) {
	x := NewExtractor(Options{Engine: PDFium, CacheDir: t.TempDir()})
	defer x.Close()
	w := x.all[0].(*wasmEngine)
	w.trial = time.Minute
	extract(x, []byte("hello"))
	if w.box != nil {
		t.Error("started for what is no PDF")
	}
	data := pagesOf(lines("hello"))
	if _, err := extract(x, data); err != nil || w.box == nil {
		t.Fatalf("not started, %v", err)
	}
	w.close()
	if doc, err := extract(x, data); err != nil || doc.Pages[0].Text != "hello" || w.box != nil {
		t.Errorf("started for what the cache knows: %+v, %v", doc, err)
	}
}

// A child that dies costs its document only.
func TestCrash(t *testing.T) {
	if _, err := os.Stat("/bin/false"); err != nil {
		t.Skip(err)
	}
	x := NewExtractor(Options{Engine: Plain, Executable: "/bin/false"})
	defer x.Close()
	if _, err := extract(x, pagesOf(lines("hello"))); classOf(err) != record.ClassCrashed {
		t.Errorf("%v", err)
	}
	if _, err := extract(NewExtractor(Options{Engine: Plain}), pagesOf(lines("hello"))); classOf(err) != record.ClassCrashed {
		t.Errorf("%v", err)
	}
}

func FuzzRepair(f *testing.F) {
	f.Add(pagesOf(lines("hello")))
	f.Add([]byte("%PDF-1.4\nxref startxref\n1\n%%EOF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		repair(data)
		if !bytes.Equal(before, data) {
			t.Error("the input was changed")
		}
	})
}
