package pdf

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// readPage reads one page; trapped says that the instance is of no more use.
func readPage(instance pdfium.Pdfium, doc references.FPDF_DOCUMENT, i int) (page rawPage, trapped bool) {
	at := requests.Page{ByIndex: &requests.PageByIndex{Document: doc, Index: i}}
	err := readText(instance, at, &page)
	if err != nil {
		if isTrap(err) {
			return rawPage{Failed: memoryTrap}, true
		}
		return rawPage{Failed: fmt.Sprintf("page %d cannot be read", i+1)}, false
	}
	if strings.TrimSpace(page.Text) == "" {
		page.Graphics = hasGraphics(instance, at)
	}
	return page, false
}

func readText(instance pdfium.Pdfium, at requests.Page, page *rawPage) error {
	loaded, err := instance.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: at})
	if err != nil {
		return err
	}
	counted, err := instance.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: loaded.TextPage})
	if err != nil {
		return err
	}
	var text strings.Builder
	begins := true // a line that has shown nothing yet
	for i := range counted.Count {
		got, err := instance.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: loaded.TextPage, Index: i})
		if err != nil {
			return err
		}
		r := rune(got.Unicode)
		if r == 0 {
			continue
		}
		text.WriteRune(r)
		switch {
		case r == '\n':
			if begins {
				page.Sizes = append(page.Sizes, 0)
			}
			begins = true
		case begins && !unicode.IsSpace(r):
			size, err := typeSize(instance, loaded.TextPage, i)
			if err != nil {
				return err
			}
			page.Sizes = append(page.Sizes, size)
			begins = false
		}
	}
	page.Text = text.String()
	_, err = instance.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: loaded.TextPage})
	return err
}

// typeSize is the size of a character as it is drawn, in points: the size of
// its font alone is often 1, and the matrix does the rest. 0 is unknown.
func typeSize(instance pdfium.Pdfium, page references.FPDF_TEXTPAGE, i int) (float32, error) {
	font, err := instance.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: page, Index: i})
	if err != nil {
		return 0, err
	}
	got, err := instance.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: page, Index: i})
	if err != nil {
		if isTrap(err) {
			return 0, err
		}
		return 0, nil
	}
	size := font.FontSize * math.Hypot(float64(got.Matrix.C), float64(got.Matrix.D))
	if !(size > 0 && size < 1000) {
		return 0, nil
	}
	return float32(size), nil
}

// hasGraphics says whether a page without text shows something: a picture, a
// form, a shading, or text that was turned into outlines. A frame or a rule is
// nothing.
func hasGraphics(instance pdfium.Pdfium, at requests.Page) bool {
	const outlines = 50
	counted, err := instance.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: at})
	if err != nil {
		return false
	}
	if counted.Count >= outlines {
		return true
	}
	for i := range counted.Count {
		object, err := instance.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: at, Index: i})
		if err != nil {
			return false
		}
		kind, err := instance.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err != nil {
			return false
		}
		switch kind.Type {
		case enums.FPDF_PAGEOBJ_IMAGE, enums.FPDF_PAGEOBJ_FORM, enums.FPDF_PAGEOBJ_SHADING:
			return true
		}
	}
	return false
}
