package pdf

import (
	"strings"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// bookmark is an entry of a document's outline.
type bookmark struct {
	Title string
	Level int // from 1
	Page  int // from 0
}

// Limits of an outline: in a damaged file it may have no end.
const (
	maxBookmarks = 5_000
	maxLevel     = 6
)

// readOutline reads the bookmarks that lead to pages, in order. The only
// errors are traps.
func readOutline(instance pdfium.Pdfium, doc references.FPDF_DOCUMENT) ([]bookmark, error) {
	o := &outlineReader{instance: instance, doc: doc, left: maxBookmarks}
	err := o.children(nil, 1)
	if err != nil && !isTrap(err) {
		err = nil
	}
	return o.found, err
}

type outlineReader struct {
	instance pdfium.Pdfium
	doc      references.FPDF_DOCUMENT
	found    []bookmark
	left     int
}

func (o *outlineReader) children(of *references.FPDF_BOOKMARK, level int) error {
	first, err := o.instance.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: o.doc, Bookmark: of})
	if err != nil {
		return err
	}
	for at := first.Bookmark; at != nil && o.left > 0; {
		o.left--
		if err := o.add(*at, level); err != nil && isTrap(err) {
			return err
		}
		if level < maxLevel {
			if err := o.children(at, level+1); err != nil {
				return err
			}
		}
		next, err := o.instance.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: o.doc, Bookmark: *at})
		if err != nil {
			return err
		}
		at = next.Bookmark
	}
	return nil
}

func (o *outlineReader) add(at references.FPDF_BOOKMARK, level int) error {
	title, err := o.instance.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: at})
	if err != nil {
		return err
	}
	dest, err := o.instance.FPDFBookmark_GetDest(&requests.FPDFBookmark_GetDest{Document: o.doc, Bookmark: at})
	if err != nil || dest.Dest == nil {
		return err
	}
	page, err := o.instance.FPDFDest_GetDestPageIndex(&requests.FPDFDest_GetDestPageIndex{Document: o.doc, Dest: *dest.Dest})
	if err != nil {
		return err
	}
	name := strings.Join(strings.Fields(tidy(unmarked(title.Title))), " ")
	if name != "" && page.Index >= 0 {
		o.found = append(o.found, bookmark{Title: name, Level: level, Page: page.Index})
	}
	return nil
}
