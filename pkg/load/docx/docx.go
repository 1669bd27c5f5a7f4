// Package docx turns a Word document (Office Open XML, ECMA-376) into
// Markdown: headings by style or outline level, numbering as it is printed,
// lists, tables, footnotes, and of tracked changes what they lead to.
//
// It reads the ZIP archive and the XML parts with the standard library, as a
// stream. The Go libraries that were looked at are made for writing documents
// (gomutex/godocx), only replace text (nguyenthenguyen/docx, of 2023), or are
// under the AGPL (fumiama/go-docx); none of them resolves numbering or tracked
// changes, and none bounds what an archive unpacks to.
package docx

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Errors that say why a file is no document that can be read.
var (
	ErrPassword = errors.New("protected with a password")
	ErrTooLarge = fmt.Errorf("unpacks to more than %d MiB", maxUnpacked>>20)
	ErrDamaged  = errors.New("damaged Word document")
)

const (
	// maxUnpacked is how much all parts that are read may unpack to, in bytes,
	// and how much more than their text may be made of them.
	maxUnpacked = 128 << 20
	// deepest is how many paragraphs, and tables, may be open at once.
	deepest = 100
	// longestProperty is how many bytes of a title or the like are taken.
	longestProperty = 1000
)

// Document is what was found in a file.
type Document struct {
	Markdown string
	Title    string // the first paragraph in the style Title, or that of the properties; "" for none
	Author   string
	Keywords string
}

// Convert reads a file. Errors are the ones above, with details.
func Convert(data []byte) (Document, error) {
	if err := encrypted(data); err != nil {
		return Document{}, err
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return Document{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	p := &parts{archive: archive, left: maxUnpacked}
	main := p.mainPart()
	c := &converter{styles: map[string]style{}, numbering: map[string]*number{}}
	var props properties
	for _, part := range []struct {
		name string
		read func(*xml.Decoder) error
		must bool
	}{
		{"docProps/core.xml", props.read, false},
		{path.Join(path.Dir(main), "styles.xml"), c.readStyles, false},
		{path.Join(path.Dir(main), "numbering.xml"), c.readNumbering, false},
		{path.Join(path.Dir(main), "footnotes.xml"), c.readNotes("footnote"), false},
		{path.Join(path.Dir(main), "endnotes.xml"), c.readNotes("endnote"), false},
		{main, c.readBody, true},
	} {
		if err := p.read(part.name, part.read); err != nil {
			return Document{}, err
		} else if part.must && !p.has(part.name) {
			return Document{}, fmt.Errorf("%w: %s is missing", ErrDamaged, part.name)
		}
	}
	doc := Document{Markdown: c.finish(), Title: c.title, Author: props.creator, Keywords: props.keywords}
	if doc.Title == "" {
		doc.Title = props.title // often that of a template
	}
	return doc, nil
}

// encrypted looks for the container of encrypted documents and of old ones, a
// compound file, whose directory names its streams in UTF-16.
func encrypted(data []byte) error {
	if !bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) {
		return nil
	}
	var name bytes.Buffer
	for _, c := range []byte("EncryptedPackage") {
		name.Write([]byte{c, 0})
	}
	if bytes.Contains(data, name.Bytes()) {
		return ErrPassword
	}
	return fmt.Errorf("%w: an old .doc file, save it as .docx", ErrDamaged)
}

// parts reads the files of the archive.
type parts struct {
	archive *zip.Reader
	left    int64 // bytes that may still be unpacked
}

func (p *parts) find(name string) *zip.File {
	for _, f := range p.archive.File {
		if strings.EqualFold(strings.TrimPrefix(f.Name, "/"), name) {
			return f
		}
	}
	return nil
}

func (p *parts) has(name string) bool { return p.find(name) != nil }

// read gives a part to a reader; one that is not there is passed over.
func (p *parts) read(name string, read func(*xml.Decoder) error) error {
	f := p.find(name)
	if f == nil {
		return nil
	}
	if f.Flags&1 != 0 {
		return ErrPassword
	}
	if f.UncompressedSize64 > uint64(p.left) {
		return ErrTooLarge
	}
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	defer r.Close()
	limited := &io.LimitedReader{R: r, N: p.left + 1}
	err = read(xml.NewDecoder(limited))
	used := p.left + 1 - limited.N
	if p.left -= used; p.left < 0 || errors.Is(err, ErrTooLarge) {
		return ErrTooLarge
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	return nil
}

// mainPart is the name of the part that the package's relations call the
// document.
func (p *parts) mainPart() string {
	name := "word/document.xml"
	p.read("_rels/.rels", func(d *xml.Decoder) error {
		return elements(d, func(e xml.StartElement) error {
			target := strings.TrimPrefix(attr(e, "Target"), "/")
			if strings.HasSuffix(attr(e, "Type"), "/officeDocument") && p.has(target) {
				name = target
			}
			return nil
		})
	})
	return name
}

// tokens calls f with each token, which is valid until f returns.
func tokens(d *xml.Decoder, f func(xml.Token) error) error {
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = f(token)
		}
		if err != nil {
			return err
		}
	}
}

// elements calls f with each start element.
func elements(d *xml.Decoder, f func(xml.StartElement) error) error {
	return tokens(d, func(token xml.Token) error {
		if e, ok := token.(xml.StartElement); ok {
			return f(e)
		}
		return nil
	})
}

// attr returns the value of an attribute whatever its namespace: documents
// come in two sets of them.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// isOn reads a switch, which is on where it has no value.
func isOn(e xml.StartElement) bool {
	switch attr(e, "val") {
	case "0", "false", "off", "none":
		return false
	}
	return true
}

// properties are those of the package.
type properties struct{ title, creator, keywords string }

func (p *properties) read(d *xml.Decoder) error {
	var into *string
	return tokens(d, func(token xml.Token) error {
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "title":
				into = &p.title
			case "creator":
				into = &p.creator
			case "keywords":
				into = &p.keywords
			default:
				into = nil
			}
		case xml.CharData:
			if into != nil && len(*into) < longestProperty {
				text := *into + string(t[:min(len(t), longestProperty)])
				*into = strings.TrimSpace(strings.ToValidUTF8(text, ""))
			}
		case xml.EndElement:
			into = nil
		}
		return nil
	})
}
