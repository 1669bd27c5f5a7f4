package offline

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/text"
)

func generated(t *testing.T, question string, passages ...record.Passage) string {
	t.Helper()
	for i := range passages {
		passages[i].N = i + 1
		if passages[i].Score == 0 {
			passages[i].Score = 1 - float64(i)/10
		}
	}
	var b strings.Builder
	finish := ""
	for ev, err := range NewExtractor().Generate(context.Background(), model.Request{Question: question, Passages: passages}) {
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(ev.Text)
		finish = ev.Finish
	}
	if finish != "stop" {
		t.Errorf("%s: finish %q", question, finish)
	}
	return b.String()
}

// The question has the words of a heading and asks for a number: what stands
// below the heading has none of the words.
func TestExtractNumbersBelowAHeading(t *testing.T) {
	for name, p := range map[string]record.Passage{
		"Markdown": {Title: "差旅", Text: "## 预订方式\n\n住宿优先在平台预订，以平台为准。\n\n## 住宿标准\n\n各级城市如下。\n\n| 城市 | 上限 |\n|---|---|\n| 一线城市 | 500 元 |\n| 其他城市 | 400 元 |\n"},
		"PDF": {Title: "差旅", Page: 2, Headings: []string{"3.1 预订方式 – 3.2 住宿标准"},
			Text: "3.1 预订方式\n住宿优先在平台预订，以平台为准。\n3.2 住宿标准\n城市 上限\n一线城市 500 元\n其他城市 400 元\n（1）长期出差另议。"},
	} {
		got := generated(t, "住宿标准是多少？", p)
		if first, _, _ := strings.Cut(got, "["); strings.ReplaceAll(strings.TrimPrefix(first, "城市 | 上限\n"), "| ", "") != "一线城市 500 元" || !strings.Contains(got, "其他城市") {
			t.Errorf("%s: %q", name, got)
		}
	}
	wrapped := record.Passage{Title: "x", Page: 1, Text: "The valve of the second boiler in the cellar was replaced by\nMarta Silva on Monday. Short row 12\nAnother row 13"}
	if got := generated(t, "who replaced the valve of the boiler", wrapped); !strings.Contains(got, "by Marta Silva on Monday. [1]") {
		t.Errorf("a wrapped line: %q", got)
	}
}

func TestExtract(t *testing.T) {
	course := record.Passage{Title: "课程安排", Text: "# 课程安排\n\n建议每天学习 45 分钟。\n\n你准备好了吗？\n\n- 作业每周五提交。\n- 周日不安排考试。\n"}
	policy := record.Passage{Title: "差旅", Headings: []string{"3.3 超标审批"}, Text: "住宿费**超标**须经直属负责人和分管副总两级审批。\n\n| 城市 | 上限 |\n|---|---|\n| 一线城市 | 500 元 |\n| 其他城市 | 400 元 |\n"}
	runbook := record.Passage{Title: "Runbook", Text: "## Rotating keys\n\n> Run the job on the gateway\nhost every 90 days.\n\n1. Stop the vault first.\n\n```sh\nrotate_keys --fail-fast\n```\n\nWho has the keys?\n"}
	for _, c := range []struct {
		question string
		passages []record.Passage
		first    string // line
		not      string
	}{
		{"建议每天学多久？", []record.Passage{course, policy}, "建议每天学习 45 分钟。[1]", "审批"},
		{"周日几点考试？", []record.Passage{policy, course}, "周日不安排考试。[2]", "点"},
		{"超标住宿谁审批？", []record.Passage{policy, course}, "住宿费超标须经直属负责人和分管副总两级审批。[1]", "*"},
		{"一线城市的住宿上限是多少元？", []record.Passage{policy, course}, "城市 | 上限", "---"},
		{"How often is the job run on the gateway?", []record.Passage{runbook}, "Run the job on the gateway host every 90 days. [1]", ">"},
		{"what stops the vault", []record.Passage{runbook}, "Stop the vault first. [1]", "1. Stop"},
		{"rotate_keys --fail-fast", []record.Passage{runbook}, "`rotate_keys --fail-fast` [1]", "```"},
		{"黑洞蒸发辐射的物理机制是什么？", []record.Passage{course, policy}, "", ""},
		{"你准备好了吗", []record.Passage{{Text: "你准备好了吗？"}}, "", ""},
		{"？", []record.Passage{course}, "", ""},
		{"课程安排", []record.Passage{{Text: "# 课程安排"}}, "", ""},
	} {
		got := generated(t, c.question, c.passages...)
		first, _, _ := strings.Cut(got, "\n")
		if first != c.first || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s:\n%s", c.question, got)
		}
	}
}

// A list is written as a whole where its heading or its lead is asked about, in
// its order; of plain text each line that was not wrapped is a sentence.
func TestExtractLists(t *testing.T) {
	queue := record.Passage{Title: "Queue", Text: "## Queue does not drain\n\nDo not restart the broker; it loses messages. Instead:\n\n- look at the consumers\n- call Priya\n\nOther matters: none.\n"}
	steps := record.Passage{Title: "Boiler", Text: "## Low pressure\n\nTo top it up:\n\n1. Switch the boiler off.\n2. Open the valve under the boiler.\n3. Close it at 1.8 bar.\n"}
	code := record.Passage{Title: "警报", Text: "磁盘超过 90% 时先清理原始文件，命令是：\n\n```bash\nfind /data -delete\n```\n"}
	bike := record.Passage{Path: "bike.txt", Text: "Frame number 2213\nTyre pressure: front 4.0 bar, rear 4.5 bar\nChain replaced in March\n"}
	prose := record.Passage{Path: "a.TXT", Text: "The valve of the second boiler in the cellar was\nreplaced by Marta Silva on a Monday, and nobody\nknows why.\n"}
	names := record.Passage{Path: "guests.txt", Text: strings.Repeat("The committee of the house met in the long room on a day\n", 10) + "\nAlice\nBob\nCharlotte\nDavid\nEmily\nFrederick\nGeorgina\nHarriet\n"}
	below := record.Passage{Path: "wifi.txt", Text: "Networks\n\n  Guest    for visitors; the password changes every Monday and\n           hangs on the reception desk\n  Staff    for us\n"}
	rows := record.Passage{Path: "servers.txt", Text: "host,ip,rack,owner,system\ndb-prod-1,10.20.1.5,R12,Ada Okafor,Debian 12\ndb-prod-2,10.20.1.6,R14,Ada Okafor,Debian 12\n"}
	for _, c := range []struct {
		question string
		passage  record.Passage
		want     string
	}{
		{"Alice", names, "Alice [1]"},
		{"when does the password change", below, "Guest    for visitors; the password changes every Monday and hangs on the reception desk [1]"},
		{"db-prod-2", rows, "db-prod-2,10.20.1.6,R14,Ada Okafor,Debian 12 [1]\n\ndb-prod-1,10.20.1.5,R12,Ada Okafor,Debian 12 [1]"},
		{"may I restart the broker?", queue, "Do not restart the broker; it loses messages. [1]\nInstead: [1]\n\nlook at the consumers [1]\n\ncall Priya [1]"},
		{"who is Priya", queue, "call Priya [1]"},
		{"the boiler is off", steps, "To top it up: [1]\n\nSwitch the boiler off. [1]\nOpen the valve under the boiler. [1]\nClose it at 1.8 bar. [1]"},
		{"磁盘满了清理什么", code, "磁盘超过 90% 时先清理原始文件，命令是：[1]\n\n`find /data -delete` [1]"},
		{"rear tyre pressure", bike, "Tyre pressure: front 4.0 bar, rear 4.5 bar [1]"},
		{"who replaced the valve", prose, "The valve of the second boiler in the cellar was replaced by Marta Silva on a Monday, and nobody knows why. [1]"},
	} {
		if got := generated(t, c.question, c.passage); got != c.want {
			t.Errorf("%s: %q", c.question, got)
		}
	}
}

// Of a long list the beginning is written, but never in place of what was asked.
func TestExtractLongLists(t *testing.T) {
	var b strings.Builder
	b.WriteString("## Release\n\nIt goes like this:\n\n")
	for i := range 20 {
		fmt.Fprintf(&b, "%d. Do the thing of step %c.\n", i+1, 'a'+i)
		if i == 15 {
			b.WriteString("17. Rotate the signing key.\n18. Copy the signing key.\n")
		}
	}
	p := record.Passage{Title: "Release", Text: b.String()}
	if got, want := generated(t, "rotate or copy the signing key", p), "Rotate the signing key. [1]\nCopy the signing key. [1]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := generated(t, "what is a release", p); strings.Count(got, "\n") != maxItems+1 {
		t.Errorf("%q", got)
	}
}

func TestExtractOnce(t *testing.T) {
	p := record.Passage{Text: "建议每天学习 45 分钟。"}
	overlapping := record.Passage{Text: "习 45 分钟。\n\n每天学习时间由学员自定。"}
	got := generated(t, "建议每天学习多少分钟？", p, p, overlapping)
	if strings.Count(got, "45") != 1 {
		t.Errorf("the sentence is not written once:\n%s", got)
	}
}

func TestExtractTerms(t *testing.T) {
	req := model.Request{Question: "red apple", Passages: []record.Passage{{N: 1, Score: 0.5, Text: "A red car."}, {N: 2, Score: 0.5, Text: "An apple."}}}
	for term, want := range map[string]string{"red": "A red car. [1]", "appl": "An apple. [2]"} {
		req.Terms = map[string]float64{"red": 0.1, "appl": 0.1}
		req.Terms[term] = 9
		if got := extract(req); len(got) == 0 || cite(got[0]) != want {
			t.Errorf("with %s rare: %+v", term, got)
		}
	}
	flight := model.Request{Question: "TP533", Terms: map[string]float64{"tp": 3, "533": 3},
		Passages: []record.Passage{{N: 1, Score: 0.5, Text: "The bus is slow. TP 533 is full."}}}
	if got := extract(flight); len(got) == 0 || cite(got[0]) != "TP 533 is full. [1]" {
		t.Errorf("a code that is two words there: %+v", got)
	}
	if got := extract(model.Request{Question: "red apple"}); len(got) != 0 {
		t.Errorf("without passages: %v", got)
	}
}

// Every word that is written stands in the passages.
func FuzzExtract(f *testing.F) {
	f.Add("周日几点考试？", "# 课程\n\n- 周日不安排考试。\n| a | b |\n|---|---|\n| 1 | 2 |\n```\nx [1]\n```", "说明[3]。")
	f.Add("what is a\nb", "> a\r\n> b? 1. c", "a | b |")
	f.Fuzz(func(t *testing.T, question, one, two string) {
		req := model.Request{Question: question, Passages: []record.Passage{{N: 1, Text: one, Score: 1}, {N: 2, Text: two}}}
		picked := extract(req)
		if len(picked) > maxSentences {
			t.Fatalf("%d sentences", len(picked))
		}
		for _, s := range picked {
			source := key(req.Passages[s.n-1].Text)
			if text.Normalize(s.text) == "" || !strings.Contains(source, s.key) {
				t.Fatalf("%q is not in %q", s.text, req.Passages[s.n-1].Text)
			}
		}
	})
}

// What stands below a heading with an identifier is about it, though it does
// not say it again; another code that shares a part of it is not.
func TestExtractBelowAnIdentifier(t *testing.T) {
	req := model.Request{
		Question: "ERR-5023 是什么错误？",
		Terms:    map[string]float64{"err-5023": 4, "错误": 3, "错": 3, "误": 3},
		Passages: []record.Passage{
			{N: 1, Path: "api.md", Title: "API", Headings: []string{"API", "错误"}, Score: 0.9,
				Text: "例子：\n\n```\n{\"code\": \"ERR-4113\", \"message\": \"currency missing\"}\n```\n"},
			{N: 2, Path: "codes.md", Title: "Codes", Headings: []string{"Codes", "ERR-5023"}, Score: 0.5,
				Text: "### ERR-5023\n\nThe shop's API rejected our signature; the clock drifted.\n"},
		},
	}
	var got strings.Builder
	for ev, err := range NewExtractor().Generate(context.Background(), req) {
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(ev.Text)
	}
	if want := "The shop's API rejected our signature; the clock drifted. [2]"; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
}
