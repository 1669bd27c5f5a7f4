package search

import (
	"math"
	"slices"
	"strings"

	"kb/pkg/bm25"
	"kb/pkg/store"
	"kb/pkg/text"
)

// The confidence says how likely it is that the notes hold an answer. What
// words tell of that is a logistic regression:
//
//	evidence   = 31 · share + 2 · ln(1 + terms) - 0.7 · ln(chunks) - 2.5 · unknown + 2 · words - 7.6
//	confidence = 1 / (1 + exp(-evidence))
//
// share is the greatest BM25 score of the best four hits as a share of the
// ideal one, and terms counts the terms; both leave out the phrases that only
// ask (see [text.ContentTerms]). A long question has words that are not in its
// answer, so the same share of it says more. chunks is the size of the index:
// the more there are, the better the best of them fits by chance (beyond 10,000
// that is not extrapolated). Where the question names something (see names.go),
// only chunks that hold the name count for both. unknown is 1 where the
// question has a name or a number that the whole index does not know: MongoDB,
// Norway, 2077; 3 where it is in Chinese and none of its Latin names is known.
// A question without any known term has a confidence of 0, and so has one whose
// only identifiers are not in the notes: what these say of ERR-5023 is no answer
// to a question about ERR-5230, however well its other words fit. words is the share of
// Han characters in the question where the analyzer makes words of them, else 0.
//
// It was fitted on XQuAD zh, XQuAD en and CMRC 2018 without a third of their
// articles (138 to 949 chunks) and on parts of them (50 to 138 chunks), with
// the same weight for each set and for both kinds of questions. Within the
// sets ln(1 + terms) had the weight 2.1, a name that is unknown was 16 times as
// frequent in XQuAD's English questions without an answer, and the evidence at
// which the two kinds balance rose by 0.35 to 0.95 with ln(chunks): these three
// weights were set to round numbers by that. The area under the ROC curve is
// .986, .984 and .971; of share and coverage alone, as it was before, .986,
// .982 and .969. Of the questions in eval/questions.jsonl, which are
// shorter and share fewer words with their answers, it is .93 instead of .85.
// The constant only fixes the scale. That of a question which names something
// only the chunks with the name count, that numbers count as names, and the 3,
// came later: .987, .986, .972, and .957 instead of .952 on notes/; of 120 short
// questions to notes of other kinds, .91 instead of .86.
//
// The words and pairs of gse-1 are fewer than the characters and pairs of
// ngram-1, and fewer of them are in a chunk by chance. So the same question in
// Chinese without an answer has an evidence that is lower by 1.99 on XQuAD zh,
// 2.03 on CMRC and 1.96 on notes/ (medians), while English ones have the same.
// Without the weight of words the default floor would refuse 24 % of the
// questions in eval/questions.jsonl that have an answer.
//
// A semantic embedder finds answers without a common word (a Chinese question
// on English notes), so words speak for an answer there but not against one.
// Vectors speak for one by how far the nearest chunk stands out:
//
//	standout = cosine of the nearest - mean cosine of the other candidates
//
// With multilingual-e5-small it tells the two kinds of questions apart better
// than the cosine itself does: the area under the ROC curve is .977 and .973
// instead of .975 and .974 on XQuAD en and zh, .928 and .828 instead of .866
// and .808 on questions of the one on passages of the other, .88 instead of .79
// on eval/questions.jsonl. What it means depends on the model: calibrating fits
// that, and until then the confidence is unknown where words see no answer. It
// stays unknown where it would be below the floor, but the nearest chunk is in
// another language than the question: models set languages apart, and a floor
// fitted mostly to questions in the language of the notes would refuse them.
const (
	shareWeight   = 31
	termsWeight   = 2
	chunksWeight  = 0.7
	unknownWeight = 2.5
	foreignNames  = 3
	wordsWeight   = 2
	baseEvidence  = 7.6
	mostChunks    = 10_000
)

// Confidence names the formula: a floor that was fitted to another one says
// nothing.
const Confidence = "kb-confidence-5"

// DefaultFloor is the confidence below which a question is refused where the
// index has no calibration of its own. Questions to one's own notes share
// fewer words with them than those of public sets, and a false refusal is the
// worse surprise, so it is low: it refuses 9 % of the 87 questions in
// eval/questions.jsonl that have an answer and 94 % of the 18 others, on the
// public sets 0.1 to 1.9 % and 40 to 86 %. Floors fitted to these lie higher.
const DefaultFloor = 0.24

// judged is how many of the best hits the share looks at.
const judged = 4

// Signals that the confidence is made of, as query records name them.
const (
	SignalShare    = "bm25_share"
	SignalTerms    = "terms"
	SignalUnknown  = "unknown_name" // or number: 0, 1 or 3
	SignalWords    = "words"        // where the analyzer makes words of Han characters
	SignalLexical  = "lexical"      // what words alone say, where vectors have a say
	SignalStandout = "standout"     // of the nearest chunk, by a semantic embedder
)

// judge sets the signals and the confidence, which stays unknown where only
// words speak against an answer that a semantic embedder may have found.
func (r *run) judge(found []*candidate) {
	semantic := r.semantic && r.vector != nil
	r.query.Signals = map[string]float64{}
	c, known := r.byWords(found), !semantic
	if semantic {
		r.query.Signals[SignalLexical] = c
		lead := standout(r.nearest)
		r.query.Signals[SignalStandout] = lead
		if cal := r.calibration(); cal != nil && cal.Slope > 0 {
			c, known = max(c, cal.Standout(lead)), !r.foreign(found)
		}
	}
	if r.nameless {
		c, known = 0, true
	}
	if known || c >= r.query.Floor {
		r.query.Confidence = &c
	}
}

// foreign says whether the chunk with the greatest cosine is in another
// language than the question.
func (r *run) foreign(found []*candidate) bool {
	for _, c := range found {
		if len(r.nearest) > 0 && c.ref == r.nearest[0].Ref {
			return text.Foreign(r.query.Text, c.chunk.Text)
		}
	}
	return false
}

// byWords is the confidence from words alone.
func (r *run) byWords(found []*candidate) float64 {
	terms, idf := r.content()
	best, chunks := r.about(found[:min(judged, len(found))])
	share := r.share(best, terms, idf)
	if share == 0 {
		return 0
	}
	unknown := r.unknownNames()
	s := r.query.Signals
	s[SignalShare], s[SignalTerms], s[SignalUnknown] = share, float64(len(terms)), unknown
	words := 0.0
	if strings.HasPrefix(r.analyzer.Name(), "gse") {
		words = text.HanShare(r.query.Text)
		s[SignalWords] = words
	}
	return confidence(share, len(terms), chunks, unknown, words)
}

func confidence(share float64, terms, chunks int, unknown, words float64) float64 {
	evidence := float64(shareWeight*share) + float64(termsWeight*math.Log1p(float64(terms))) -
		float64(chunksWeight*math.Log(float64(min(max(chunks, 1), mostChunks)))) - float64(unknownWeight*unknown) +
		float64(wordsWeight*words) - baseEvidence
	return 1 / (1 + math.Exp(-evidence))
}

// content is what of the question's terms says what it is about, with the idf:
// beside an identifier that the index knows, another one is not.
func (r *run) content() (terms []string, idf []float64) {
	question := r.text
	if r.known > 0 {
		for _, name := range r.unknown {
			question = strings.ReplaceAll(question, name, " ")
		}
	}
	content := text.ContentTerms(r.analyzer, question)
	for i, t := range r.terms {
		if slices.Contains(content, t) {
			terms, idf = append(terms, t), append(idf, r.idf[i])
		}
	}
	if len(terms) == 0 {
		return r.terms, r.idf
	}
	return terms, idf
}

// share is the greatest BM25 score of the best hits as a share of what is
// possible.
func (r *run) share(found []*candidate, terms []string, idf []float64) float64 {
	ideal := bm25.Ideal(idf)
	if ideal == 0 {
		return 0
	}
	best := 0.0
	for _, c := range found {
		best = max(best, bm25.Text(terms, idf, r.tokensOf(c), r.lexical.AvgLen))
	}
	return best / ideal
}

// about are those of the hits that hold anything that the question names, and
// how many chunks they may be among by chance; all where none does, as a name
// that many chunks hold does not go before other words.
func (r *run) about(found []*candidate) (hits []*candidate, chunks int) {
	for _, c := range found {
		if slices.ContainsFunc(r.names, func(name string) bool { return slices.Contains(r.tokensOf(c), name) }) {
			hits = append(hits, c)
		}
	}
	if len(hits) == 0 {
		return found, r.lexical.N
	}
	for _, name := range r.names {
		chunks += r.lexical.DF[name]
	}
	return hits, min(chunks, r.lexical.N)
}

// standout is how much nearer the first is than the others are on average.
func standout(nearest []store.Scored) float64 {
	nearest = nearest[:min(DefaultCandidates, len(nearest))]
	if len(nearest) < 2 {
		return 0
	}
	sum := 0.0
	for _, h := range nearest[1:] {
		sum += h.Score
	}
	return nearest[0].Score - sum/float64(len(nearest)-1)
}

// calibration is that of the index, if it was fitted to this formula.
func (s *Searcher) calibration() *store.Calibration {
	if c := s.info.Calibration; c != nil && c.Confidence == Confidence {
		return c
	}
	return nil
}
