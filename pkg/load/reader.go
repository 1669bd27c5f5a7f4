package load

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kb/pkg/load/charset"
	"kb/pkg/load/pdf"
	"kb/pkg/record"
)

// Reader turns files into documents. It may be used by many goroutines at
// once. What PDF files need is started with the first of them.
type Reader struct {
	opt Options

	mu  sync.Mutex
	pdf *pdf.Extractor
}

// NewReader returns a reader; Close it.
func NewReader(opt Options) *Reader {
	if opt.MaxSize == 0 {
		opt.MaxSize = MaxSize
	}
	return &Reader{opt: opt}
}

// Read returns the [record.Document] of an entry or, if it gives none, a
// [record.Skipped]. The only error is that of a cancelled context.
func (r *Reader) Read(ctx context.Context, e Entry) (record.Record, error) {
	rec, warnings, err := r.read(ctx, e)
	r.warn(warnings)
	return rec, err
}

// Close stops what PDF files needed.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pdf == nil {
		return nil
	}
	err := r.pdf.Close()
	r.pdf = nil
	return err
}

func (r *Reader) warn(warnings []string) {
	if r.opt.Warn == nil {
		return
	}
	for _, msg := range warnings {
		r.opt.Warn(msg)
	}
}

// file is a file on its way to a document.
type file struct {
	Entry
	data     []byte
	hash     string
	warnings []string
	notes    []string // the warnings that belong to the document, without its path
}

func (f *file) warn(format string, args ...any) {
	f.warnings = append(f.warnings, f.Path+": "+fmt.Sprintf(format, args...))
}

// lost warns of something that the document lost, and notes it in its meta.
func (f *file) lost(format string, args ...any) {
	f.warn(format, args...)
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

func (f *file) skip(class, reason string) record.Record {
	return &record.Skipped{Path: f.Path, Root: f.Root, Reason: reason, Class: class, Hash: f.hash}
}

func (r *Reader) read(ctx context.Context, e Entry) (record.Record, []string, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	f := &file{Entry: e}
	if class, why := f.open(r.opt.MaxSize); class != "" {
		return f.skip(class, why), nil, nil
	}
	sum := sha256.Sum256(f.data)
	f.hash = hex.EncodeToString(sum[:])
	rec, err := r.convert(ctx, f)
	return rec, f.warnings, err
}

// convert reads a file as what its type and the hooks make it.
func (r *Reader) convert(ctx context.Context, f *file) (record.Record, error) {
	if hook, ok := r.opt.Hooks.of(f.Path); ok {
		return r.readHook(ctx, f, hook)
	}
	switch path.Ext(strings.ToLower(f.Path)) {
	case ".pdf":
		return r.readPDF(ctx, f)
	case ".docx":
		return f.readDOCX(), nil
	case ".html", ".htm":
		return r.readHTML(f), nil
	}
	return r.readText(f), nil
}

// open reads the file's bytes; on failure it returns the class and the reason.
func (f *file) open(limit int64) (class, why string) {
	name := filepath.FromSlash(f.Path)
	// Opening a named pipe would wait for its writer.
	if info, err := os.Stat(name); err != nil {
		return record.ClassUnreadable, reason(err)
	} else if !info.Mode().IsRegular() {
		return record.ClassUnsupported, "not a regular file"
	}
	h, err := os.Open(name)
	if err != nil {
		return record.ClassUnreadable, reason(err)
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return record.ClassUnreadable, reason(err)
	}
	f.Size, f.Modified = info.Size(), info.ModTime()
	if f.Size <= limit {
		data := bytes.NewBuffer(make([]byte, 0, f.Size+bytes.MinRead))
		if _, err := data.ReadFrom(io.LimitReader(h, limit+1)); err != nil {
			return record.ClassUnreadable, reason(err)
		}
		f.data = data.Bytes()
		f.Size = int64(len(f.data))
	}
	if f.Size > limit {
		return record.ClassTooLarge, fmt.Sprintf("%s is more than the limit of %s (--max-size)", mebibytes(f.Size), mebibytes(limit))
	}
	return "", ""
}

func mebibytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return strings.Replace(fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)), ".0 ", " ", 1)
}

func (r *Reader) readText(f *file) record.Record {
	t, skipped := f.decode(r.opt.Encoding)
	if skipped != nil {
		return skipped
	}
	doc := f.document(t.Text)
	meta := make(map[string]any)
	if doc.MediaType == "text/markdown" {
		if body := f.markdown(doc, meta); strings.TrimSpace(doc.Text[body:]) == "" {
			return f.skip(record.ClassEmpty, "no text but the front matter")
		}
	}
	f.setEncoding(meta, t)
	f.setMeta(doc, meta)
	return doc
}

// decode turns the file's bytes into text, or says why it is skipped.
func (f *file) decode(encoding string) (charset.Text, record.Record) {
	t, err := charset.Decode(f.data, encoding)
	switch {
	case errors.Is(err, charset.ErrBinary):
		return t, f.skip(record.ClassBinary, err.Error())
	case err != nil:
		return t, f.skip(record.ClassEncoding, err.Error()+"; name it with --encoding")
	case strings.TrimSpace(t.Text) == "":
		return t, f.skip(record.ClassEmpty, "no text")
	}
	if t.Guessed {
		f.warn("decoded as %s (guessed from %d bytes)", t.Encoding, len(f.data))
	}
	if t.Bad > 0 {
		f.lost("bytes that are not %s, replaced by U+FFFD: %d", t.Encoding, t.Bad)
	}
	if t.NULs > 0 {
		f.lost("NUL characters dropped: %d", t.NULs)
	}
	return t, nil
}

// setEncoding records an encoding that is not UTF-8.
func (f *file) setEncoding(meta map[string]any, t charset.Text) {
	if t.Encoding == "UTF-8" {
		return
	}
	meta["encoding"] = t.Encoding
	if t.Guessed {
		meta["encoding_guessed"] = true
		meta["encoding_guessed_from"] = len(f.data) // bytes
	}
}

// document is what all types have in common.
func (f *file) document(text string) *record.Document {
	base := path.Base(f.Path)
	return &record.Document{
		ID:        record.DocumentID(f.Path),
		Path:      f.Path,
		Root:      f.Root,
		Title:     strings.TrimSuffix(base, path.Ext(base)),
		MediaType: MediaType(f.Path),
		Hash:      f.hash,
		Modified:  f.Modified.UTC().Format(time.RFC3339),
		Text:      text,
	}
}
