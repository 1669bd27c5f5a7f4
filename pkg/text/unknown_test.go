package text

import "testing"

func TestSpells(t *testing.T) {
	for _, c := range []struct {
		s, word string
		want    bool
	}{
		{"rules for Covid 19.", "COVID-19", true},
		{"COVID19的规定", "covid-19", true},
		{"COVID-195", "COVID-19", false},
		{"xCOVID-19", "COVID-19", false},
		{"ＰＡＹ－１１０２ 是", "pay1102", true},
		{"错误e_retry_77。", "E_RETRY_77", true},
		{"E_RETRY_77", "E_RETRY_99", false},
		{"", "p7", false},
		{"é", "p7", false},
		{"p7", "--", false},
	} {
		if got := Spells(c.s, c.word); got != c.want {
			t.Errorf("Spells(%q, %q) = %v", c.s, c.word, got)
		}
	}
}
