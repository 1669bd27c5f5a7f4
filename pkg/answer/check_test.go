package answer

import (
	"slices"
	"strings"
	"testing"

	"kb/pkg/record"
)

var checkPassages = []record.Passage{
	{N: 1, Path: "notes/course.md", Title: "课程安排", Headings: []string{"课程安排", "学习时间"},
		Text: "建议每天学习 45 分钟，每周至少五天。期中考试在 2024 年 5 月 1 日上午 9:30，周日不安排考试。"},
	{N: 2, Path: "notes/travel-policy.pdf", Title: "差旅制度", Headings: []string{"3.3 超标审批"}, Page: 2,
		Text: "住宿费超标须经直属负责人和分管副总两级审批。一线城市每晚不超过 500 元，其他城市 400 元。国内航班无需审批，报销比例为百分之八十。年度预算 1.5 万元。"},
	{N: 3, Path: "notes/runbook.md", Title: "Key rotation", Headings: []string{"Rotating keys"},
		Text: "Run `rotate_keys --fail-fast` on the Gateway host every 90 days. The job takes 15 minutes and does not require a restart. ERR-5023 means that the vault is sealed; Alice Chen has the unseal key. Version v2.10.1 or later is required."},
	{N: 4, Path: "notes/parking.md", Text: "家属的车可以进院子吗？停车证每月初在前台办理，费用由本人承担，先到先得，名额用完为止。Yes, if your team agrees."},
}

var checkTable = []struct {
	claim     string
	cites     []int
	supported bool
	why       string // a part of it
}{
	{"每天建议学习 45 分钟。", []int{1}, true, ""},
	{"每天建议学习45分钟。", []int{1}, true, ""},
	{"每天建议学习四十五分钟。", []int{1}, true, ""},
	{"每天建议学习４５分钟。", []int{1}, true, ""},
	{"每天建議學習 45 分鐘。", []int{1}, true, ""},
	{"每天建议学习 54 分钟。", []int{1}, false, "54 分钟"},
	{"每天建议学习 5 分钟。", []int{1}, false, "5 分钟"},
	{"每天建议学习 45 小时。", []int{1}, false, "45 小时"},
	{"每周至少学习五天。", []int{1}, true, ""},
	{"每周至少学习 5 天。", []int{1}, true, ""},
	{"每周至少学习六天。", []int{1}, false, "六天"},
	{"期中考试在 2024-05-01。", []int{1}, true, ""},
	{"期中考试在 5 月 2 日。", []int{1}, false, "2 日"},
	{"期中考试在 2024年5月1日9点30分开始。", []int{1}, true, ""},
	{"期中考试在 10:30 开始。", []int{1}, false, "10"},
	{"周日不安排考试。", []int{1}, true, ""},
	{"周日没有安排考试。", []int{1}, true, ""},
	{"周日安排考试。", []int{1}, false, "不安排"},
	{"周日安排了期中考试。", []int{1}, false, "不安排"},

	{"超标住宿需要两级审批。", []int{2}, true, ""},
	{"超标住宿需要 2 级审批。", []int{2}, true, ""},
	{"超标住宿需要三级审批。", []int{2}, false, "三级"},
	{"超标住宿不需要审批。", []int{2}, true, ""}, // the passage has 无需审批 as well: out of reach
	{"一线城市每晚最多 500 元。", []int{2}, true, ""},
	{"一线城市每晚不超过 500 元。", []int{2}, true, ""},
	{"一线城市每晚超过 500 元。", []int{2}, false, "不超过"},
	{"一线城市每晚不超过 600 元。", []int{2}, false, "600 元"},
	{"国内航班无需审批。", []int{2}, true, ""},
	{"报销比例为 80%。", []int{2}, true, ""},
	{"报销比例为百分之九十。", []int{2}, false, "百分之九十"},
	{"年度预算是 15000 元。", []int{2}, true, ""},
	{"制度规定“两级审批”。", []int{2}, true, ""},
	{"制度规定“三方会签”。", []int{2}, false, "三方会签"},
	{"见《差旅制度》3.3 超标审批。", []int{2}, true, ""},
	{"见《采购制度》。", []int{2}, false, "采购制度"},
	{"公司每年组织一次全员体检和春游。", []int{2}, false, "没有这个意思"},
	{"超标住宿费一般十分需要两级审批。", []int{2}, true, ""},
	{"每天建议学习 45 分钟。", []int{2}, false, "45 分钟"},
	{"每天建议学习 45 分钟，超标须经两级审批。", []int{1, 2}, true, ""},

	{"Keys are rotated every 90 days.", []int{3}, true, ""},
	{"Keys are rotated every 30 days.", []int{3}, false, "30 days"},
	{"The job takes fifteen minutes.", []int{3}, true, ""},
	{"The job takes 15 hours.", []int{3}, false, "15 hours"},
	{"Run rotate_keys on the gateway host.", []int{3}, true, ""},
	{"Run rotate_certs on the gateway host.", []int{3}, false, "rotate_certs"},
	{"Rotation does not require a restart.", []int{3}, true, ""},
	{"The job requires a restart.", []int{3}, true, ""}, // "is required" stands unnegated as well: out of reach
	{"ERR-5023 means that the vault is sealed.", []int{3}, true, ""},
	{"ERR-5032 means that the vault is sealed.", []int{3}, false, "ERR-5032"},
	{"The vault is not sealed with ERR-5023.", []int{3}, false, "not sealed"},
	{"The unseal key is held by Alice Chen.", []int{3}, true, ""},
	{"The unseal key is held by Bob Chen.", []int{3}, false, "Bob"},
	{"It needs v2.10.1 or later.", []int{3}, true, ""},
	{"It needs v2.10.2 or later.", []int{3}, false, "v2.10.2"},
	{`The note says "the vault is sealed".`, []int{3}, true, ""},
	{`The note says "the vault is open".`, []int{3}, false, "the vault is open"},
	{"Bananas ripen quickly in paper bags.", []int{3}, false, "does not say"},
	{"Students should study 45 minutes every day.", []int{1}, true, ""}, // another language: the number bears it out
	{"Students should study 50 minutes every day.", []int{1}, false, "50 minutes"},
	{"Students should study every day.", []int{1}, false, "another language"},
	{"Yes, if your team agrees.", []int{4}, true, ""}, // copied, whatever the rest of the passage is written in
	{"Yes, if your boss agrees.", []int{4}, false, "another language"},
	{"轮换密钥要运行 rotate_keys，每 90 天一次。", []int{3}, true, ""},
	{"轮换密钥要运行 rotate_keys，每 60 天一次。", []int{3}, false, "60 天"},
}

func TestCheck(t *testing.T) {
	for _, c := range checkTable {
		k := checker{passages: checkPassages, chinese: strings.ContainsAny(c.claim, "的天住年一国报制见公周期轮"), sources: map[string]*source{}}
		ok, why, _ := k.check(statement{text: c.claim, plain: c.claim, cites: c.cites})
		if ok != c.supported || !strings.Contains(why, c.why) {
			t.Errorf("%s %v: supported %v (%s), want %v (%s)", c.claim, c.cites, ok, why, c.supported, c.why)
		}
	}
}

func TestClaims(t *testing.T) {
	answer, z := normalize(3, `# 学习安排

是的。建议每天学习 45 分钟。[1] 周日不安排考试[1]。

审批如下：
- 超标住宿需要三级审批 [2]。
- 其他城市 400 元

步骤[3]：
1. 每 90 天运行 rotate_keys
2. 运行下面的命令：

`+"```\nrotate_keys --fail-fast\n```"+`

| 项目 | 上限 |
|---|---|
| 一线城市 | 500 元 [2] |
`)
	got, _ := claims(answer, z.marks, checkPassages, true)
	want := []record.Claim{
		{Text: "是的。建议每天学习 45 分钟。[1]", Cites: []int{1}, Supported: true},
		{Text: "周日不安排考试[1]。", Cites: []int{1}, Supported: true},
		{Text: "- 超标住宿需要三级审批 [2]。", Cites: []int{2}, Why: "原文没有：三级"},
		{Text: "- 其他城市 400 元", Why: "没有引用"},
		{Text: "1. 每 90 天运行 rotate_keys", Cites: []int{3}, Supported: true},
		{Text: "```\nrotate_keys --fail-fast\n```", Cites: []int{3}, Supported: true},
		{Text: "| 一线城市 | 500 元 [2] |", Cites: []int{2}, Supported: true},
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Fatalf("%d claims, want %d: %+v", len(got), len(want), got)
		}
		g, w := got[i], want[i]
		if g.Text != w.Text || !slices.Equal(g.Cites, w.Cites) || g.Supported != w.Supported || g.Why != w.Why {
			t.Errorf("claim %d: %+v, want %+v", i+1, g, w)
		}
		if !strings.Contains(answer, g.Text) {
			t.Errorf("claim %q is not in the answer", g.Text)
		}
	}
}

func FuzzClaims(f *testing.F) {
	for _, c := range checkTable {
		f.Add(c.claim+"[1]", c.claim)
	}
	f.Add("- 见“三级”[1]：\n```\nx\n```\n| a | b |\n|---|\n", "一二三百分之五十 2024-05-01 9:30 3.3.1 1,000 45min 不不没有")
	f.Fuzz(func(t *testing.T, answer, passage string) {
		text, z := normalize(1, answer)
		got, _ := claims(text, z.marks, []record.Passage{{N: 1, Text: passage}}, true)
		for _, c := range got {
			if !strings.Contains(text, c.Text) || c.Text == "" {
				t.Fatalf("claim %q is not in %q", c.Text, text)
			}
			if c.Supported && len(c.Cites) == 0 || !c.Supported && c.Why == "" {
				t.Fatalf("claim %+v", c)
			}
		}
	})
}
