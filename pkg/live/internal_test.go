package live

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A file that waits in vain for others to be read is a matter of trying again,
// and not of the file.
func TestWaitingToBeRead(t *testing.T) {
	t.Chdir(t.TempDir())
	n := NewNotes(NotesOptions{Dir: "notes", ReadTime: time.Millisecond})
	n.reading <- struct{}{} // as by a file that cannot be given up
	if _, err := n.Stage(t.Context(), "a.md", strings.NewReader("alpha")); !errors.Is(err, ErrConflict) {
		t.Errorf("it failed with %v", err)
	}
}

func TestBaseName(t *testing.T) {
	for sent, want := range map[string]string{
		"a.md": "a.md", "课程 100%.md": "课程 100%.md", "e\u0301.md": "é.md", `C:\notes\a.md`: "a.md", "../../a.md": "a.md", "a%25.md": "a%25.md",
		"": "", "..": "", ".a.md": "", "a%2E%2e.md": "", "a\x00.md": "", "nul.md": "", "COM¹.md": "", "a.md ": "", "a\xff.md": "",
		strings.Repeat("a", 201): "", "a\u202edm.exe.md": "", "\u2066a.md": "",
	} {
		if got, err := baseName(sent); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", sent, got, err)
		}
	}
}
