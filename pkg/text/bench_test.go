package text

import (
	"strings"
	"testing"
)

// The samples are the kinds of text that notes are made of.
const (
	sampleChinese = "住宿费超标须经直属负责人和分管副总两级审批，一线城市每晚不超过 500 元，其他城市 400 元；员工应在出差结束后十个工作日内提交报销单据。"
	sampleEnglish = "The defense gave up just 308 points, ranking sixth in the league, while also leading in interceptions with 24 and boasting four selections. "
	sampleCode    = "call rotate_keys() with --fail-fast, see ERR-5023 of v2.10.1 and parseHTTPHeader in https://example.com/a_b/c-d?x=1 "
)

func BenchmarkTokens(b *testing.B) {
	for _, sample := range []struct{ name, text string }{{"chinese", sampleChinese}, {"english", sampleEnglish}, {"code", sampleCode}} {
		b.Run(sample.name, func(b *testing.B) {
			s := strings.Repeat(sample.text, 10)
			a := NewNGram()
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				a.Tokens(s)
			}
		})
	}
}

func BenchmarkNormalize(b *testing.B) {
	s := strings.Repeat(sampleChinese, 10)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Normalize(s)
	}
}

func BenchmarkSentences(b *testing.B) {
	s := strings.Repeat(sampleChinese+sampleEnglish, 10)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		for range Sentences(s) {
		}
	}
}
