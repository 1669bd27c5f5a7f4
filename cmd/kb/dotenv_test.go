package main

import (
	"fmt"
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

// Values may name others, also of another program, and take the room of what
// they name, not more.
func TestDotenvExpands(t *testing.T) {
	name := filepath.Join(t.TempDir(), ".env")
	read := func(text string) (string, error) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		values, _, err := readDotenv(name)
		return values["KB_API_KEY"], err
	}
	for text, want := range map[string]string{
		"HOST=a\nPORT=b\nKB_API_KEY=$HOST:${PORT}/$NONE-x":    "a:b/-x",
		"A=k\nB=$A$A\nKB_API_KEY=\"<$B>\"":                    "<kk>",
		"A=k\nKB_API_KEY='$A ${A}'":                           "$A ${A}",
		"A='p$w'\nKB_API_KEY=$A":                              "p$w",
		"A=k\nKB_API_KEY=\\$A":                                "$A",
		"KB_API_KEY=pa$$word$":                                "pa$$word$",
		"KB_API_KEY=x$KB_API_KEY":                             "x",
		strings.Repeat("A=\"\"\nB=$A$A\nA=$B$B\n", 40_000):    "",
		strings.Repeat("A=$B$B$B\nB=$A$A\n", 9) + "X 3\n$Y\n": "",
	} {
		if got, err := read(text); err != nil || got != want {
			t.Errorf("%.40q: %q, %v; want %q", text, got, err, want)
		}
	}
	grows := "A0=xxxxxxxx\n"
	for i := range 40 {
		grows += fmt.Sprintf("A%d=$A%d$A%d\n", i+1, i, i)
	}
	if _, err := read(grows + "KB_API_KEY=k"); err != nil {
		t.Error("what is not kb's is not written out:", err)
	}
	if _, err := read(grows + "KB_API_KEY=$A40"); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Error("no limit:", err)
	}
}
