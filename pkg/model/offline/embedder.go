package offline

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"strings"

	"github.com/cespare/xxhash/v2"

	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/text"
)

// Embedder is a lexical embedder by signed feature hashing (Weinberger et al.
// 2009). The features of a text are the tokens of the ngram analyzer, a
// question's without stop words, and the 3- and 4-grams of its Latin words:
//
//	weight(f) = 1 + ln tf(f), times 0.3 for a 3- or 4-gram
//	vector    = Σ weight(f) · (sign1(f) · e[position1(f)] + sign2(f) · e[position2(f)]), of unit length
//
// Both positions and signs come from one xxHash64 of the feature. Sums are of
// integers (weights in thousandths), so the same text has the same bytes on
// every machine and in any order. Cost: linear in the text.
//
// Hit@1 in percent by cosine alone, and MRR fused with BM25 at weight 0.2, on
// three question sets (XQuAD in Chinese and English, CMRC 2018):
//
//	dimension     512           1024          2048
//	XQuAD zh   79.8 / .946   84.0 / .950   87.0 / .956
//	CMRC       75.1 / .949   83.1 / .965   87.0 / .972
//	XQuAD en   82.5 / .956   87.6 / .959   89.3 / .965
//	index          31 MB         37 MB         51 MB
//	CPU             2.2 s         2.3 s         2.4 s
//
// The last two rows are for 6 MB of text in 15,763 chunks, embed and index
// together.
//
// With fewer than 2,048 the fused ranking falls a point behind BM25 alone
// (.960, .976, .966). The 3- and 4-grams add up to 3.6 points in English and
// find misspelt words. Tried without gain: one or three positions a feature,
// less weight for single characters, leaving stop words out of the passages.
type Embedder struct{ analyzer text.Analyzer }

// embedderModel names the algorithm with its version and the dimension:
// another algorithm or dimension needs another name, or old indexes would be
// searched with vectors that do not compare.
const (
	embedderModel = "kb-hash-1-2048"
	embedderDim   = 2048
)

const (
	unit      = 1000 // weight of a feature that occurs once
	gramShare = 300  // and of a 3- or 4-gram
	// gramSpace keeps the hashes of grams apart from those of tokens
	gramSpace = 0x9e3779b97f4a7c15
)

var errBlank = errors.New("text is blank")

// NewEmbedder returns the offline embedder. It needs no configuration and has
// no state but a cache of word stems; it is safe for many goroutines at once.
func NewEmbedder() *Embedder {
	a, _ := text.NewAnalyzer("ngram-1") // its tokens are part of the model
	return &Embedder{a}
}

// Info names the model; there is no base URL and no prefix.
func (e *Embedder) Info() model.Info { return model.Info{Model: embedderModel} }

// Weight is 0.2: at 1 a lexical ranking with collisions only disturbs BM25.
func (e *Embedder) Weight() float64 { return 0.2 }

// Semantic is false: without shared words there is no similarity.
func (e *Embedder) Semantic() bool { return false }

// Batch is how many texts to hand over at a time.
func (e *Embedder) Batch() int { return 64 }

// Embed implements [model.Embedder].
func (e *Embedder) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([]record.Vector, error) {
	vectors := make([]record.Vector, len(texts))
	refused := map[int]error{}
	var b bag
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if strings.TrimSpace(s) == "" {
			refused[i] = errBlank
			continue
		}
		tokens := e.tokens(purpose, s)
		vectors[i] = b.vector(tokens)
	}
	if len(refused) > 0 {
		return vectors, &model.PartialError{Reasons: refused}
	}
	return vectors, nil
}

// tokens returns at least one token: a text of signs alone is its own.
func (e *Embedder) tokens(purpose model.Purpose, s string) []string {
	tokens := e.analyzer.QueryTerms
	if purpose == model.Document {
		tokens = e.analyzer.Tokens
	}
	if out := tokens(s); len(out) > 0 {
		return out
	}
	return []string{strings.TrimSpace(text.Normalize(s))}
}

// bag adds up the features of one text after the other. Of its 2,048 sums some 350
// are not 0 for a passage of 500 characters, and it looks at these alone.
type bag struct {
	sums    [embedderDim]int64
	touched [embedderDim / 64]uint64 // a bit for each sum that was added to
	tokens  counter
	grams   counter
	word    []byte
	weights []int64 // logWeight of each count met so far
}

func (b *bag) vector(tokens []string) record.Vector {
	for i, t := range tokens {
		b.tokens.add(xxhash.Sum64String(t), 1, i)
	}
	first := b.tokens.features[0].hash
	for _, f := range b.tokens.features {
		b.addGrams(tokens[f.token], f.n)
	}
	b.add(&b.tokens, unit)
	b.add(&b.grams, gramShare)
	return b.normalised(first)
}

// addGrams counts the 3- and 4-grams of a word of the letters a to z, with ^
// and $ at its ends, for each of the times that it occurs.
func (b *bag) addGrams(token string, times int) {
	if len(token) < 4 || strings.IndexFunc(token, notLatin) >= 0 {
		return
	}
	b.word = append(append(append(b.word[:0], '^'), token...), '$')
	for i := 0; i+3 <= len(b.word); i++ {
		b.grams.add(hash3(b.word[i:])^gramSpace, times, 0)
	}
	for i := 0; i+4 <= len(b.word); i++ {
		b.grams.add(hash4(b.word[i:])^gramSpace, times, 0)
	}
}

// hash3 and hash4 are xxHash64 of the first three and four bytes, which takes half of
// the time without the call and the loops (github.com/Cyan4973/xxHash, doc/xxhash_spec.md).
func hash3(b []byte) uint64 {
	h := xxPrime5 + 3
	for _, c := range b[:3] {
		h = bits.RotateLeft64(h^uint64(c)*xxPrime5, 11) * xxPrime1
	}
	return avalanche(h)
}

func hash4(b []byte) uint64 {
	h := (xxPrime5 + 4) ^ uint64(binary.LittleEndian.Uint32(b))*xxPrime1
	return avalanche(bits.RotateLeft64(h, 23)*xxPrime2 + xxPrime3)
}

func avalanche(h uint64) uint64 {
	h = (h ^ h>>33) * xxPrime2
	h = (h ^ h>>29) * xxPrime3
	return h ^ h>>32
}

const (
	xxPrime1 uint64 = 0x9E3779B185EBCA87
	xxPrime2 uint64 = 0xC2B2AE3D27D4EB4F
	xxPrime3 uint64 = 0x165667B19E3779F9
	xxPrime5 uint64 = 0x27D4EB2F165667C5
)

func notLatin(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '\'' }

// add adds the features counted, each once with the weight of its count, and
// empties the counter.
func (b *bag) add(c *counter, share int64) {
	for _, f := range c.features {
		w := share * b.logWeight(f.n) / unit
		b.put(uint32(f.hash), w)
		b.put(uint32(f.hash>>32), w)
	}
	c.reset()
}

func (b *bag) put(h uint32, weight int64) {
	if h&1 == 1 {
		weight = -weight
	}
	at := h >> 1 % embedderDim
	b.sums[at] += weight
	b.touched[at/64] |= 1 << (at % 64)
}

// logWeight is 1 + ln n in thousandths, rounded.
func (b *bag) logWeight(n int) int64 {
	for len(b.weights) < n && len(b.weights) < manyWeights {
		b.weights = append(b.weights, logWeight(len(b.weights)+1))
	}
	if n <= len(b.weights) {
		return b.weights[n-1]
	}
	return logWeight(n)
}

// manyWeights bounds what a word that is repeated in a long text costs.
const manyWeights = 1 << 10

func logWeight(n int) int64 { return unit + int64(math.Round(unit*math.Log(float64(n)))) }

// normalised divides by the length and begins the next text. Features that cancel
// each other out to nothing leave the position of the first.
func (b *bag) normalised(first uint64) record.Vector {
	squares := 0.0
	for at := range b.positions {
		x := float64(b.sums[at])
		squares += float64(x * x)
	}
	v := make(record.Vector, embedderDim)
	if squares == 0 {
		v[first%embedderDim] = 1
	}
	length := math.Sqrt(squares)
	for at := range b.positions {
		if x := b.sums[at]; x != 0 {
			v[at] = float32(float64(x) / length)
			b.sums[at] = 0
		}
	}
	clear(b.touched[:])
	return v
}

// positions yields the positions of the sums that were added to, in order.
func (b *bag) positions(yield func(int) bool) {
	for i, word := range b.touched {
		for ; word != 0; word &= word - 1 {
			if !yield(64*i + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// counter counts features in an open hash table that is at most half full: a third
// of the time that sorting them takes.
type counter struct {
	slots    []int32 // number of a feature, from 1; 0 if it is free; a power of two of them
	features []feature
}

// feature is one feature of a text, the number of times that it occurs, and the
// first token that has it.
type feature struct {
	hash  uint64
	n     int
	token int
}

func (c *counter) add(hash uint64, times, token int) {
	if 2*len(c.features) >= len(c.slots) {
		c.grow()
	}
	slot := c.slot(hash)
	if *slot == 0 {
		c.features = append(c.features, feature{hash: hash, token: token})
		*slot = int32(len(c.features))
	}
	c.features[*slot-1].n += times
}

// slot is the slot of a feature, or the free one that it gets.
func (c *counter) slot(hash uint64) *int32 {
	mask := uint64(len(c.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if s := &c.slots[i]; *s == 0 || c.features[*s-1].hash == hash {
			return s
		}
	}
}

func (c *counter) grow() {
	c.slots = make([]int32, max(1<<10, 2*len(c.slots)))
	for i, f := range c.features {
		*c.slot(f.hash) = int32(i + 1)
	}
}

func (c *counter) reset() {
	clear(c.slots)
	c.features = c.features[:0]
}
