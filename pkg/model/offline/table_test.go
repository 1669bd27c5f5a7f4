package offline

import (
	"testing"

	"kb/pkg/record"
)

// A row of a table stands below the names of its columns, each cell below its
// own; rows that follow each other share them.
func TestExtractRows(t *testing.T) {
	budget := record.Passage{Title: "Budget", Text: "# Budget\n\n| | 2026 | **2027** |\n|---|:-:|--:|\n| **Cloud** | 48,000 | 61,500 |\n| Travel | | 7,500 |\n\n| Who | Phone |\n|---|---|\n| Petra | 1204 |\n\nCloud stays abroad.\n\n| | |\n|---|---|\n| heating | gas |\n"}
	for question, want := range map[string]string{
		"How much did we budget for cloud in 2027?": "– | 2026 | 2027\nCloud | 48,000 | 61,500 [1]\n\nCloud stays abroad. [1]",
		"phone of petra": "Who | Phone\nPetra | 1204 [1]",
		"travel":         "– | 2026 | 2027\nTravel | – | 7,500 [1]",
		"cost of cloud and of travel, 61,500 and 7,500": "– | 2026 | 2027\nCloud | 48,000 | 61,500 [1]\n\nTravel | – | 7,500 [1]\n\nCloud stays abroad. [1]",
	} {
		if got := generated(t, question, budget); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", question, got, want)
		}
	}
}
