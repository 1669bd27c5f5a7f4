package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPictures takes pictures of the page over the sample notes, for people to
// look at; it runs where -shots names a folder.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no -shots")
	}
	m := newModel(t)
	k := serve(t, sampleNotes(t), m.settings()...)
	wide := desktop
	night := look{1440, 900, "zh-CN", true, true}
	phone := look{390, 844, "zh-CN", false, true}
	small := look{320, 640, "en-US", true, true}

	p := open(t, k.origin, wide)
	p.picture("welcome")
	english(m, p)
	p.picture("answer")
	p.click(".turn:last-child .cite")
	p.wait("document.querySelector('#panel mark')")
	p.picture("panel")
	p.press(escape)
	refused(m, p, "Which airline has the best meals on long flights?")
	p.picture("refusal")

	p = open(t, k.origin, night)
	chinese(m, p)
	p.picture("answer-dark-zh")
	p.click(".turn:last-child .cite")
	p.wait("document.querySelector('#panel mark')")
	p.picture("panel-dark-zh")

	p = open(t, k.origin, phone)
	p.picture("welcome-phone-zh")
	chinese(m, p)
	p.picture("answer-phone-zh")
	p.do(chromedp.ScrollIntoView(chromedp.CSS(".turn:last-child .side")))
	p.picture("sources-phone-zh")
	p.click("#documents-toggle")
	p.picture("documents-phone-zh")

	p = open(t, k.origin, small)
	english(m, p)
	p.picture("answer-320-dark")
	p.click(".turn:last-child .cite")
	p.wait("document.querySelector('#panel mark')")
	p.picture("panel-320-dark")

	p = open(t, serve(t, nil).origin, look{1100, 800, "en-US", false, true})
	p.picture("empty")
}

func (p *tab) picture(name string) {
	p.t.Helper()
	p.shot(filepath.Join(*pictures, name+".png"))
}

func english(m *model, p *tab) {
	p.t.Helper()
	m.says("The release captain starts the canary at **10:30** [1]. The go or no-go is decided at 11:45 by captain and on-call [1].\n\n" +
		"After that:\n\n- all zones at 11:15, release captain [1]\n- status page and customer mail at 14:00, support [1]\n- a party for the whole company\n")
	p.ask("When does the canary start on the day of a release, and who decides go or no-go?")
	p.settled()
}

func chinese(m *model, p *tab) {
	p.t.Helper()
	m.says("一线在告警发出后 **5 分钟**内确认 [1]。一线没有确认时，系统在第 45 分钟呼叫二线 [1]。\n\n1. 第 30 分钟仍无人确认，电话打给运维负责人林岚 [1]。\n2. 确认之后每 20 分钟在事故频道更新一次进展 [1]。\n3. 事后全公司聚餐。\n")
	p.ask("值班时告警要多快确认？没有确认会怎样？")
	p.settled()
}

func refused(m *model, p *tab, question string) {
	p.t.Helper()
	m.says(question) // the follow-up, written to stand alone
	p.ask(question)
	p.settled()
}

// sampleNotes are the notes of the repository.
func sampleNotes(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../notes/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sample notes: %v", err)
	}
	notes := make(map[string]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		notes[filepath.Base(file)] = string(text)
	}
	return notes
}
