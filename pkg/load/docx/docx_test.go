package docx

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

const head = `<?xml version="1.0" encoding="UTF-8"?>`

// pack makes a file of parts, name and content in turn.
func pack(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const styles = head + `<w:styles xmlns:w="w">
<w:style w:type="paragraph" w:default="1" w:styleId="a"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="7"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="2"><w:name w:val="heading 2"/><w:basedOn w:val="1"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="My Heading"/><w:basedOn w:val="2"/></w:style>
<w:style w:type="paragraph" w:styleId="L1"><w:name w:val="x"/><w:basedOn w:val="L2"/></w:style>
<w:style w:type="paragraph" w:styleId="L2"><w:name w:val="y"/><w:basedOn w:val="L1"/></w:style></w:styles>`

const numbering = head + `<w:numbering xmlns:w="w">
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="chineseCounting"/><w:lvlText w:val="第%1章"/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:isLgl/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val=""/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%1)"/></w:lvl></w:abstractNum>
<w:num w:numId="7"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="8"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="9"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="10"><w:abstractNumId w:val="2"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>`

const footnotes = head + `<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote>
<w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>see the annex</w:t></w:r></w:p></w:footnote></w:footnotes>`

func p(style, content string) string {
	return fmt.Sprintf(`<w:p><w:pPr><w:pStyle w:val="%s"/><w:tabs><w:tab/></w:tabs></w:pPr>%s</w:p>`, style, content)
}

func r(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }

func item(num int, text string) string {
	return fmt.Sprintf(`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="%d"/></w:numPr></w:pPr>%s</w:p>`, num, r(text))
}

func cell(properties, text string) string {
	return `<w:tc><w:tcPr>` + properties + `</w:tcPr><w:p>` + r(text) + `</w:p></w:tc>`
}

var body = head + `<w:document xmlns:w="w"><w:body>` +
	p("T", r("差旅制度")) + p("TOC1", r("no")) +
	p("1", r("总则")) + p("2", r("Scope")) + p("Own", r("Own")) + p("L1", r("loop of styles")) +
	`<w:p>` + r("kept ") + `<w:del><w:r><w:delText>no</w:delText></w:r></w:del><w:ins>` + r("inserted") + `</w:ins><w:moveFrom>` + r("no") + `</w:moveFrom>` +
	`<w:r><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>` + r(" 10") +
	`<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>6</w:t></w:r><w:r><w:tab/></w:r><w:r><w:br/></w:r>` + r("next") + `</w:p>` +
	item(8, "bullet") + item(9, "first") + item(9, "second") + item(10, "again") +
	`<w:tbl><w:tr>` + cell("", "A") + cell(`<w:gridSpan w:val="1"/>`, "B") + `</w:tr><w:tr>` + cell(`<w:vMerge w:val="restart"/>`, "1") + cell("", "2") +
	`</w:tr><w:tr><w:trPr><w:del/></w:trPr>` + cell("", "no") + cell("", "no") + `</w:tr><w:tr>` + cell(`<w:vMerge/>`, "") + cell("", "3") + `</w:tr></w:tbl>` +
	p("1", r("附则")) + `<w:p>` + `<w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p>` + r("box") + `</w:p></w:txbxContent></mc:Choice><mc:Fallback><w:p>` + r("no") +
	`</w:p></mc:Fallback></mc:AlternateContent></w:r>` + r("# around") + `</w:p></w:body></w:document>`

const wanted = `# 差旅制度

# 第一章 总则

## 1.1 Scope

## 1.2 Own

loop of styles

kept inserted[^1] 10^6
next

- bullet
(a) first
(b) second
(a) again

| A | B |
|---|---|
| 1 | 2 |
| 1 | 3 |

# 第二章 附则

box

\# around

[^1]: see the annex
`

func TestConvert(t *testing.T) {
	core := head + `<cp:coreProperties><dc:title>template</dc:title><dc:creator>某人</dc:creator><cp:keywords>a, b</cp:keywords></cp:coreProperties>`
	rels := head + `<Relationships><Relationship Type="http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument" Target="/word/doc2.xml"/></Relationships>`
	for _, main := range []string{"word/document.xml", "word/doc2.xml"} {
		got, err := Convert(pack(t, "_rels/.rels", rels, "word/styles.xml", styles, "word/numbering.xml", numbering,
			"word/footnotes.xml", footnotes, "docProps/core.xml", core, main, body))
		if err != nil {
			t.Fatal(err)
		}
		if got.Markdown != wanted {
			t.Errorf("%s\nwant\n%s", got.Markdown, wanted)
		}
		if got.Title != "差旅制度" || got.Author != "某人" || got.Keywords != "a, b" {
			t.Errorf("%+v", got)
		}
	}
}

func TestRefused(t *testing.T) {
	compound := "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 512)
	encrypted := compound + "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"
	whole := pack(t, "word/document.xml", body)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"password":    {[]byte(encrypted), ErrPassword},
		"old":         {[]byte(compound), ErrDamaged},
		"text":        {[]byte("hello"), ErrDamaged},
		"empty":       {nil, ErrDamaged},
		"cut off":     {whole[:len(whole)/2], ErrDamaged},
		"another zip": {pack(t, "a.txt", "x"), ErrDamaged},
		"broken xml":  {pack(t, "word/document.xml", "<w:p><w:t>a</"), ErrDamaged},
		"bomb":        {bomb(t), ErrTooLarge},
		"deep":        {pack(t, "word/document.xml", strings.Repeat("<w:p>", deepest+1)), ErrDamaged},
		"deep tables": {pack(t, "word/document.xml", strings.Repeat("<w:tbl>", deepest+1)), ErrDamaged},
		"wide":        {pack(t, "word/document.xml", "<w:tbl><w:tr>"+strings.Repeat(`<tc><gridSpan val="63"/></tc>`, maxUnpacked/63/madeCell+1)), ErrTooLarge},
		"numberings":  {pack(t, "word/numbering.xml", strings.Repeat("<num/>", maxUnpacked/madeNumber+1), "word/document.xml", body), ErrTooLarge},
	} {
		if got, err := Convert(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// bomb is a file whose directory announces more than may be unpacked.
func bomb(t *testing.T) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if _, err := z.CreateRaw(&zip.FileHeader{Name: "word/document.xml", Method: zip.Deflate, UncompressedSize64: maxUnpacked + 1}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLongNamesAreCut(t *testing.T) {
	long := strings.Repeat("界", 500)
	got, err := Convert(pack(t, "word/document.xml", `<w:p><w:pPr><w:numId w:val="1"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>`,
		"docProps/core.xml", "<title>"+long+"<!---->"+long+"</title>",
		"word/numbering.xml", `<w:abstractNum w:abstractNumId="1"><w:lvlText w:val="`+long+`"/></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>`))
	if err != nil || got.Markdown != "x\n" || len(got.Title) > 2*longestProperty || !utf8.ValidString(got.Title) {
		t.Errorf("%q, %d bytes of title, %v", got.Markdown, len(got.Title), err)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{1: "一", 10: "十", 12: "十二", 20: "二十", 103: "一百零三", 110: "一百一十", 1010: "一千零一十", 0: "0"} {
		if got := chinese(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for kind, want := range map[string]string{"upperRoman": "XIV", "lowerLetter": "n", "upperLetter": "N", "decimalZero": "14", "decimal": "14", "other": "14"} {
		if got := format(kind, 14); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}

func FuzzConvert(f *testing.F) {
	f.Add(body, styles, numbering, footnotes)
	f.Add(head+"<w:tbl><w:p><w:tbl><w:tc><w:tr>", "", "<w:lvlText/><w:num/>", "<w:footnote><w:p><w:t>x")
	f.Fuzz(func(t *testing.T, main, styles, numbering, footnotes string) {
		got, err := Convert(pack(t, "word/styles.xml", styles, "word/numbering.xml", numbering, "word/footnotes.xml", footnotes, "word/document.xml", main))
		if err == nil && !utf8.ValidString(got.Markdown) {
			t.Fatalf("%q", got.Markdown)
		}
		Convert([]byte(main))
	})
}
