package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that came with the folder takes the time of its length, whatever its
// quotes do, and keeps no setting of kb from being read.
func TestDotenvOfAnotherProgram(t *testing.T) {
	name := filepath.Join(t.TempDir(), ".env")
	const own = "KB_CHAT_MODEL=qwen3\n"
	for _, c := range []struct{ text, warning string }{
		{strings.Repeat("A=\"x\n", 150_000) + own, name + ":1: "},
		{"A=\"" + strings.Repeat("x y\n", 200_000) + own, name + ":1: "},
		{strings.Repeat("A='x\nB=\"y\n", 80_000) + own, name + ":1: "},
		{"C 3\nA=\"" + strings.Repeat("x\n", 300) + "\"\n" + own, name + ":1: "},
		{"C 3\nA: 'x\\'\ny'\n" + own, name + ":1: "},
		{"A=\"x\ny\"\n" + own, ""},
	} {
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		values, warning, err := readDotenv(name)
		if err != nil || values["KB_CHAT_MODEL"] != "qwen3" || !strings.HasPrefix(warning, c.warning) || warning != "" && c.warning == "" {
			t.Errorf("%.20q: %q, %q, %v", c.text, values["KB_CHAT_MODEL"], warning, err)
		}
	}
}
