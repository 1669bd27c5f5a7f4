package offline

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/vector"
)

// Signs alone are no words, but a chunk of them needs a vector like any other.
func TestEmbedderTakesSigns(t *testing.T) {
	for _, purpose := range []model.Purpose{model.Document, model.Query} {
		v, err := NewEmbedder().Embed(context.Background(), purpose, []string{"***", "——", "🎉"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range v {
			if len(v[i]) != embedderDim || !vector.IsUnit(v[i]) {
				t.Errorf("text %d has no unit vector", i)
			}
		}
	}
}

func TestEmbedderFindsWhatIsAlike(t *testing.T) {
	e := NewEmbedder()
	embed := func(p model.Purpose, s string) record.Vector {
		v, err := e.Embed(context.Background(), p, []string{s})
		if err != nil {
			t.Fatal(err)
		}
		return v[0]
	}
	for _, c := range []struct{ question, right, wrong string }{
		{"怎样审批超标的住宿费", "住宿費超標須經兩級審批", "每天建议学习四十五分钟"},
		{"ERR-5023", "ERR-5023 means the valve is shut", "ERR-5032 means the valve is open"},
		{"recieve the parcels", "receiving a parcel takes a day", "opening an account is free"},
	} {
		q := embed(model.Query, c.question)
		right, wrong := vector.Score(q, embed(model.Document, c.right)), vector.Score(q, embed(model.Document, c.wrong))
		if right <= wrong {
			t.Errorf("%s: %.3f for %q, but %.3f for %q", c.question, right, c.right, wrong, c.wrong)
		}
	}
}

// Weights are rounded so far from any border that no library's logarithm can
// round them the other way.
func TestLogWeightIsTheSameEverywhere(t *testing.T) {
	for n := 1; n < 1<<17; n++ {
		x := unit * math.Log(float64(n))
		if d := math.Abs(x - math.Floor(x) - 0.5); d < 1e-9 {
			t.Fatalf("ln %d is %v from a border", n, d)
		}
	}
}

func BenchmarkEmbed(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"chinese", strings.Repeat("住宿费超标须经直属负责人和分管副总两级审批，一线城市每晚不超过 500 元。", 13)},
		{"english", strings.Repeat("The defense gave up just 308 points, ranking sixth in the league, while leading. ", 18)},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := NewEmbedder()
			texts := []string{c.text}
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				_, _ = e.Embed(context.Background(), model.Document, texts)
			}
		})
	}
}

// TestGramHash: the hashes of grams are those of the library.
func TestGramHash(t *testing.T) {
	text := []byte("^quick brown\x00\xff\x80 fox's 0123456789$")
	for i := range len(text) - 3 {
		if hash3(text[i:]) != xxhash.Sum64(text[i:i+3]) || hash4(text[i:]) != xxhash.Sum64(text[i:i+4]) {
			t.Errorf("of %q", text[i:i+4])
		}
	}
}
