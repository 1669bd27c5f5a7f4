package answer

import (
	"testing"

	"kb/pkg/record"
)

func TestMark(t *testing.T) {
	a := &record.Answer{
		Text: "超标住宿需要三级审批[1]。每天 45 分钟[1][2]。另有安排。\n- 见附件\x1b[31m红\u202e",
		Claims: []record.Claim{
			{Text: "超标住宿需要三级审批[1]。", Cites: []int{1}, Why: "原文没有：三级"},
			{Text: "每天 45 分钟[1][2]。", Cites: []int{1, 2}, Supported: true},
			{Text: "另有安排。", Why: "没有引用"},
			{Text: "- 见附件\x1b[31m红\u202e", Cites: []int{2}, Why: "原文没有这个意思"},
		},
	}
	want := "超标住宿需要三级审批 [1 ✗ 原文没有：三级]。每天 45 分钟[1][2]。另有安排。 [✗ 没有引用]\n- 见附件红 [✗ 原文没有这个意思]"
	if got := Mark(a); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"每天\n45\t分钟 👩‍💻":                        "每天\n45\t分钟 👩‍💻",
		"\x1b[2J\x1b[1;31mred\x1b[0m":           "red",
		"\u009b31mred":                          "red",
		"\x1b]0;title\abody":                    "body",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\a!": "link!",
		"\x1b]0;never closed\nnext":             "0;never closed\nnext",
		"a\u202eb\u2066c\u200fd\ufeffe\x00f\rg": "abcdefg",
		"tag\U000e0041\U000e007f":               "tag",
		"\x1b":                                  "",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}
