package offline

import (
	"testing"

	"kb/pkg/record"
)

// What a note says behind a question of its own answers that question, and does
// not say it again.
func TestExtractAsked(t *testing.T) {
	faq := func(s string) record.Passage {
		return record.Passage{Title: "FAQ", Headings: []string{"FAQ"}, Text: "# FAQ\n\n" + s}
	}
	for _, c := range []struct{ question, note, want string }{
		{"食堂在哪里", "问：食堂在哪里？\n答：B1 层，中午 11:30 到 13:30。\n\n问：班车几点？\n答：8:10。\n", "B1 层，中午 11:30 到 13:30。[1]"},
		{"班车时间", "问：食堂位置\n答：B1 层\n问：班车时间\n答：8:10\n", "8:10 [1]"},
		{"会议室怎么订", "会议室怎么订?在日历里选房间。\n", "在日历里选房间。[1]"},
		{"Where is the canteen?", "Q: Where is the canteen?\nA: On B1.\n\nQ: Who has the keys?\nA: Petra.\n", "On B1. [1]"},
		{"who has the keys", "**Q1:** Where is the canteen?\n**A1:** On B1.\n**Q2:** Who has the keys?\n**A2:** Petra.\n", "Petra. [1]"},
		{"where is the canteen", "**Where is the canteen?**\nOn B1.\n", "On B1. [1]"},
		{"where is the canteen", "**Where is the canteen?**\n\nOn B1. It opens at noon.\n\nNo smoking.\n", "On B1. [1]\nIt opens at noon. [1]"},
		{"who waters the plants", "- Who waters the plants? Petra does on Mondays.\n- Nobody feeds the cat.\n", "Petra does on Mondays. [1]"},
		{"what do I bring along", "What do I bring along?\n\n- passport\n- ticket\n\nSmoking is not allowed.\n", "passport [1]\n\nticket [1]"},
		{"Where is the canteen?", "Q: Where is the canteen?\n\n## Keys\n\nPetra has them.\n", ""},
	} {
		if got := generated(t, c.question, faq(c.note)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.question, got, c.want)
		}
	}
}
