package browser

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestFirstMinute is the way of somebody who starts with an empty folder and no
// model: add a note, ask, look at its source, be refused, delete the note.
func TestFirstMinute(t *testing.T) {
	k := serve(t, nil)
	p := open(t, k.origin, desktop)
	p.want("document.querySelector('#welcome-title').textContent", "No notes yet")

	file := filepath.Join(t.TempDir(), "travel.md")
	if err := os.WriteFile(file, []byte(travel), 0o644); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{file}))
	p.wait("document.querySelector('.upload.done')")
	p.wait("document.querySelectorAll('.row').length === 1")
	p.want("document.querySelector('.row-title').textContent", "Travel policy")
	p.want("document.querySelector('#welcome-title').textContent", "What do you want to know?")

	p.ask("What may a hotel in Shanghai cost a night?")
	p.settled()
	p.wait("document.querySelector('.answer').textContent.includes('500 yuan')")
	p.want("document.querySelector('.source.numbered .headings').textContent", "Hotels")

	p.click(".answer .cite")
	p.wait("document.querySelector('#panel mark')")
	p.want("document.querySelector('#panel mark').textContent.includes('A hotel in Shanghai may cost 500 yuan')", "true")
	p.want("document.querySelector('#panel-title').textContent", "Travel policy")
	p.want("document.querySelector('#panel-where').textContent.includes('travel.md')", "true")
	p.want("document.querySelector('#panel .document').textContent.includes('economy class')", "true")
	p.want(inside("#panel mark", "#panel-body"), "true")
	p.want("document.activeElement.id", "panel-title")
	p.press(escape)
	p.want("document.querySelector('#panel').hidden", "true")
	p.want("document.activeElement.className", "cite")

	p.ask("Which hotel in Paris has the best swimming pool?")
	p.settled()
	p.want("document.querySelector('.turn:last-child').classList.contains('refused')", "true")
	p.want("document.querySelector('.turn:last-child .side h3').textContent", "The nearest notes")
	p.want("document.querySelector('.turn:last-child .source-open').textContent", "Travel policy")
	p.want(`/Searched \d+ passages? in 1 document\./.test(document.querySelector('.turn:last-child .searched').textContent)`, "true")

	p.click(".row-delete")
	p.wait("document.querySelector('#confirm').open")
	p.want("document.querySelector('#confirm-text').textContent.includes('travel.md')", "true")
	p.click("#confirm .danger")
	p.wait("document.querySelectorAll('.row').length === 0")
	if _, err := os.Stat(filepath.Join(k.notes, "travel.md")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of a deleted document: %v, want that it is gone", err)
	}
}

// inside says whether an element is within the part of another that shows.
func inside(element, box string) string {
	return `(() => {
		const a = document.querySelector('` + element + `').getBoundingClientRect();
		const b = document.querySelector('` + box + `').getBoundingClientRect();
		return a.top >= b.top - 1 && a.top < b.bottom;
	})()`
}

// TestDrop drops files on the page: one that is read, one that is not, and one
// that was there already.
func TestDrop(t *testing.T) {
	k := serve(t, map[string]string{"courses.md": courses})
	p := open(t, k.origin, desktop)
	p.expect("status of 415")
	eval[bool](p, `(() => {
		const files = new DataTransfer();
		files.items.add(new File(['# 新笔记\n\n打印机在三楼。\n'], '新 笔记.md'));
		files.items.add(new File([new Uint8Array([0, 1, 2, 3])], 'song.mp3'));
		files.items.add(new File([`+quote(courses)+`], 'courses.md'));
		for (const type of ['dragenter', 'dragover', 'drop']) {
			document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: files }));
		}
		return true;
	})()`)
	p.wait("document.querySelectorAll('.upload.done, .upload.refused').length === 3")
	states := "[...document.querySelectorAll('.upload')].map((u) => u.className).join()"
	p.want(states, "upload done,upload refused,upload done")
	p.want("document.querySelectorAll('.upload')[1].textContent.length > 'song.mp3✕'.length", "true")
	p.want("document.querySelectorAll('.upload')[2].querySelector('.upload-state').textContent", "already there, unchanged")
	p.want("document.querySelector('#drop').hidden", "true")
	p.wait("document.querySelectorAll('.row').length === 2")
	p.want("[...document.querySelectorAll('.row .path')].some((e) => e.textContent.endsWith('新 笔记.md'))", "true")
}
