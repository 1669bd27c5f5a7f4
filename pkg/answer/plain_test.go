package answer

import "testing"

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
