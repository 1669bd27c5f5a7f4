package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"kb/pkg/load/pdf"
	"kb/pkg/record"
)

// PDFWorkerCommand is the hidden subcommand that has to call [PDFWorker].
const PDFWorkerCommand = pdf.WorkerCommand

// PDFWorker is the child process of the plain PDF engine. It limits the whole
// process; nothing else may run in it.
func PDFWorker(stdin io.Reader, stdout io.Writer) error { return pdf.Worker(stdin, stdout) }

func (r *Reader) extractor() *pdf.Extractor {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pdf == nil {
		r.pdf = pdf.NewExtractor(pdf.Options{
			Engine: r.opt.PDFEngine, CacheDir: r.opt.CacheDir, NoCache: r.opt.NoCache,
			Executable: r.opt.Executable, Status: r.opt.Status,
		})
	}
	return r.pdf
}

func (r *Reader) readPDF(ctx context.Context, f *file) (record.Record, error) {
	found, news, err := r.extractor().Extract(ctx, f.data, f.hash)
	f.warnings = append(f.warnings, news...)
	var failed *pdf.Error
	switch {
	case errors.As(err, &failed):
		return f.skip(failed.Class, failed.Reason), nil
	case err != nil:
		return nil, err
	}
	byStatus := make(map[string][]int)
	texts := make([]string, len(found.Pages))
	pages := make([]record.Page, len(found.Pages))
	for i, p := range found.Pages {
		byStatus[p.Status] = append(byStatus[p.Status], i+1)
		texts[i] = p.Text
		pages[i] = record.Page{Page: i + 1, Text: p.Text, Status: p.Status, Headings: p.Headings}
	}
	if len(byStatus[""]) == 0 {
		return f.skip(noText(byStatus, len(pages))), nil
	}
	for _, status := range []string{pdf.StatusNoText, pdf.StatusUnreadable, pdf.StatusError} {
		if n := byStatus[status]; len(n) > 0 {
			f.lost("%s on %d of %d pages (%s), left out", statusText(status), len(n), len(pages), ranges(n))
		}
	}
	doc := f.document(strings.Join(texts, record.PageBreak))
	doc.Pages = pages
	meta := make(map[string]any)
	if len(found.Running) > 0 {
		meta["running_lines"] = found.Running
	}
	f.setMeta(doc, meta)
	return doc, nil
}

// noText says why a document without a single page of text is skipped.
func noText(byStatus map[string][]int, pages int) (class, reason string) {
	switch {
	case len(byStatus[pdf.StatusNoText]) > 0:
		n := len(byStatus[pdf.StatusNoText])
		return record.ClassNoText, fmt.Sprintf("no text layer on %d of %d pages (a scan; needs OCR)", n, pages)
	case len(byStatus[pdf.StatusUnreadable]) > 0:
		n := len(byStatus[pdf.StatusUnreadable])
		return record.ClassGarbled, fmt.Sprintf("the text layer has no usable characters on %d of %d pages (needs OCR)", n, pages)
	case len(byStatus[pdf.StatusError]) > 0:
		return record.ClassDamaged, fmt.Sprintf("damaged PDF: %d of %d pages cannot be read", len(byStatus[pdf.StatusError]), pages)
	}
	return record.ClassEmpty, fmt.Sprintf("no text on any of %d pages", pages)
}

func statusText(status string) string {
	switch status {
	case pdf.StatusNoText:
		return "no text layer"
	case pdf.StatusUnreadable:
		return "no usable characters in the text layer"
	}
	return "errors"
}

// ranges writes numbers that ascend as 1, 3-5, 8.
func ranges(n []int) string {
	var b strings.Builder
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n[i])
		if j > i {
			fmt.Fprintf(&b, "-%d", n[j])
		}
		i = j + 1
	}
	return b.String()
}
