package gse

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The wanted words are those of gse v0.80.3 with its whole dictionary and
// without HMM; scripts/wordlist compares many more.
func TestCut(t *testing.T) {
	for _, want := range []string{
		"住宿费 超标 须经 直属 负责人 和 分管 副总 两级 审批",
		"研究 生命 起源",
		"南京市 长江大桥",
		"北京 大学生 前来 应聘",
		"他 说 的确 实在 理",
		"黑洞 蒸发 辐射 的 物理 机制 是 什么",
		"是 由 哪 两个 公司 合作开发 的",
		"中华人民共和国",
		"蔊菜 蜑 家 怃然", // 蔊 only begins words
		"蔊 公司 的 人",
		"𫘨 𱇇 㐀", // a word beyond 16 bits, unknown characters
		"々 人",
		"",
	} {
		run := strings.ReplaceAll(want, " ", "")
		if got := strings.Join(cut(new(Cutter), run), " "); got != want {
			t.Errorf("cut into %q, want %q", got, want)
		}
	}
}

func cut(c *Cutter, run string) []string {
	var words []string
	start := 0
	for _, end := range c.Cut(run) {
		words = append(words, run[start:end])
		start = end
	}
	return words
}

// TestList reads the whole trie: its parts fill the file, every node but the
// root is the child of one node, and siblings ascend.
func TestList(t *testing.T) {
	d := dictionary()
	nodes := (d.words - d.labels) / unitSize
	if end := d.words + unitSize*nodes; end != len(list) || d.firstChild(0) != 1 || d.firstChild(nodes) != nodes {
		t.Fatalf("%d nodes end at %d of %d bytes", nodes, end, len(list))
	}
	for n := range nodes {
		first, end := d.firstChild(n), d.firstChild(n+1)
		if first > end || first <= n && first < end {
			t.Fatalf("the children of node %d are %d to %d", n, first, end)
		}
		for c := first + 1; c < end; c++ {
			if uint16At(d.labels+unitSize*(c-1)) >= uint16At(d.labels+unitSize*c) {
				t.Fatalf("the children of node %d are not in order", n)
			}
		}
		if at := d.weights + weightSize*int(d.word(n)); at >= d.children {
			t.Fatalf("node %d has a weight beyond the last", n)
		}
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range []string{"研究生命起源", "蔊公司", "𫘨𱇇", "a中\xffb", "\xe4\xb8", strings.Repeat("的", 300)} {
		f.Add(s)
	}
	var reused Cutter
	f.Fuzz(func(t *testing.T, s string) {
		words := cut(&reused, s)
		if strings.Join(words, "") != s || slices.Contains(words, "") {
			t.Fatalf("%q is cut into %q", s, words)
		}
		if again := cut(new(Cutter), s); !slices.Equal(words, again) {
			t.Fatalf("%q is cut into %q and then %q", s, words, again)
		}
		for _, w := range words {
			if utf8.ValidString(s) && !utf8.ValidString(w) {
				t.Fatalf("%q is cut inside a character", s)
			}
		}
	})
}

func BenchmarkCut(b *testing.B) {
	s := strings.Repeat("住宿费超标须经直属负责人和分管副总两级审批", 10)
	var c Cutter
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		c.Cut(s)
	}
}
