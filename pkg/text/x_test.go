package text

import (
	"fmt"
	"testing"
)

func TestX(t *testing.T) {
	a, _ := NewAnalyzer("")
	for _, s := range []string{"ERR-5023 means", "v2.10.1", "parseHTTPHeader HTTPHeaders", "call rotate_keys() 1,000,000.5 3.14", "--fail-fast", "C++ and C#, e-mail U.S. don't Bob's", "軟體開發的ＡＢＣ", "食べる テスト 안녕하세요", "café café Привет", "什么是谁", "*", "iPhone 2024-05-01 v2.10.1-rc1", "ภาษาไทย"} {
		fmt.Printf("%q\n  %q\n  %q\n", s, a.Tokens(s), a.QueryTerms(s))
	}
	s := "# Title\nHello Mr. Smith, e.g. this is 3.14 of v2.10.1. Next one! \"Quoted.\" After? J. Smith came.\n- item 1\n- item two. more\ncontinues\n\n1. First thing. Second.\n| a | b |\n|---|---|\n| 1. x | 2 |\n你好。“我是。”他说！！？最后；每天45分钟。[1][2] Next。\n```go\na := b; c\nd\n```\nend"
	for a, b := range Sentences(s) {
		fmt.Printf("%q\n", s[a:b])
	}
}
