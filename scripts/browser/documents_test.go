package browser

import (
	"fmt"
	"strings"
	"testing"
)

// TestDocuments filters the list, opens a document, and looks at a passage in the
// middle of a long one, of which only a part comes at first.
func TestDocuments(t *testing.T) {
	notes := someNotes()
	for i := range 4 {
		notes[fmt.Sprintf("note%d.md", i)] = fmt.Sprintf("# Note %d\n\nNothing of interest.\n", i)
	}
	var long strings.Builder
	long.WriteString("# Inventory\n\n")
	for i := range 400 {
		fmt.Fprintf(&long, "## Shelf %d\n\nOn shelf %d there are boxes of kind K%d, counted twice a year.\n\n", i, i, 7*i)
	}
	notes["inventory.md"] = long.String()
	k := serve(t, notes)
	p := open(t, k.origin, desktop)
	rows := "[...document.querySelectorAll('.row-title')].map((r) => r.textContent).join()"

	p.do(focus("#filter"))
	p.write("invent")
	p.want(rows, "Inventory")
	p.write("zzz")
	p.want("document.querySelector('#documents-message').textContent", "No document matches “inventzzz”.")
	eval[any](p, "document.querySelector('#filter').value = ''; document.querySelector('#filter').dispatchEvent(new Event('input')); null")
	p.want("document.querySelectorAll('.row').length", "7")

	p.do(focus("#filter"))
	p.write("travel")
	p.click(".row-open")
	p.wait("document.querySelector('#panel .document')")
	p.want("document.querySelector('#panel .document').textContent.includes('## Hotels\\n\\nA hotel in Shanghai')", "true")
	p.press(escape)
	p.want("document.activeElement.className", "row-open")

	p.ask("Which boxes are on shelf 200?")
	p.settled()
	p.wait(shows("K1400"))
	p.click(".answer .cite")
	p.wait("document.querySelector('#panel mark')")
	p.want("document.querySelector('#panel mark').textContent.includes('K1400')", "true")
	p.want(inside("#panel mark", "#panel-body"), "true")
	p.want("document.querySelector('#panel .document').textContent.includes('a year.\\n\\n## Shelf 20')", "true")
	first := "document.querySelector('#panel .document').textContent.startsWith('# Inventory')"
	p.want(first, "false")
	p.click(".show-all")
	p.wait(first)
	p.want(inside("#panel mark", "#panel-body"), "true")

	// where the list is a drawer, a document that it opens takes its place
	p = open(t, k.origin, look{1100, 800, "en-US", false, true})
	p.click("#documents-toggle")
	p.click(".row-open")
	p.wait("document.querySelector('#panel .document')")
	p.want("document.querySelector('#documents').classList.contains('open')", "false")
	p.press(escape)
	p.want("document.activeElement.id", "documents-toggle")
}
