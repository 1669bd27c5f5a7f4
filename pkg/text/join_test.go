package text

import "testing"

func TestJoin(t *testing.T) {
	for _, c := range []struct{ question, known, want string }{
		{"TC 404啥意思", "tc404", "TC404啥意思"},
		{"how do I roll back?", "rollback", "how do I roll back rollback?"},
		{"log ins of pay 1102 and pay 7", "pay1102 login", "log ins logins of pay1102 and pay 7"},
		{"roll  back, roll-back, 12 back, to day", "rollback today 12back", ""},
		{"roll back up pay 7 times", "rollback backup pay7", "roll back rollback up backup pay7 times"},
		{"the set", "theset", ""},
		{"é roll back", "rollback", "é roll back rollback"},
	} {
		want := c.want
		if want == "" {
			want = c.question
		}
		known := func(term string) bool {
			for _, k := range NewNGram().Tokens(c.known) {
				if k == term {
					return true
				}
			}
			return false
		}
		if got := Join(c.question, known); got != want {
			t.Errorf("%q: %q, want %q", c.question, got, want)
		}
	}
}
