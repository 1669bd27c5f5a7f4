package text

import (
	"fmt"
	"slices"
)

//go:generate go run ../../scripts/tradtable trad.go

// Analyzer turns texts and questions into the tokens that an index keeps. Its
// name has a version: an index that was built by another analyzer has other
// tokens. Implementations are safe for many goroutines at once.
type Analyzer interface {
	Name() string
	// Tokens returns the tokens of a text that is indexed, in the order of the
	// text, each as often as it occurs. They may share memory with each other:
	// clone what is kept for long.
	Tokens(s string) []string
	// Marks returns where the words of a question stand in a text, for people
	// to see: ranges of bytes of s, in order and apart from each other. Only
	// what is among the terms is marked, and as it is written, whatever form
	// or script the question has.
	Marks(s, question string, terms map[string]float64) [][2]int
	// QueryTerms returns the distinct terms of a question, in order, without
	// stop words; where only stop words would be left, those. It is empty for
	// a question without a letter or a digit.
	QueryTerms(s string) []string
}

// Refiner is an [Analyzer] that can leave terms out of a question once it is
// known what the index holds.
type Refiner interface {
	// Refine returns the terms of a question as QueryTerms does, but of an
	// identifier (ERR-5023, v2.10.1, rotate_keys) that the index knows whole
	// only the whole, so that v2.1.10 is no answer where v2.10.1 exists.
	Refine(question string, known func(term string) bool) Refined
}

// Refined is a question of which it is known what the index holds.
type Refined struct {
	Terms []string
	Exact int // how many of the terms are identifiers that the index knows whole
	// Identifiers are those of them that look like the name of one thing
	// whatever the language: camel case (BSkyB) and initials (U.S.) may be
	// ordinary names.
	Identifiers []string
	// Unknown are the words that can only be such a name and that the index
	// does not know, with or without their separators, as the question has them.
	Unknown []string
}

// DefaultAnalyzer names the analyzer of a new index.
const DefaultAnalyzer = "ngram-2"

// GSE names the analyzer of [NewGSE].
const GSE = "gse-2"

// NewAnalyzer returns the analyzer of a name as [Analyzer.Name] gives it;
// without its version it is the newest.
func NewAnalyzer(name string) (Analyzer, error) {
	switch name {
	case "", "ngram", DefaultAnalyzer:
		return NewNGram(), nil
	case "gse", GSE:
		return NewGSE(), nil
	case "ngram-1", "gse-1": // of indexes that were built before the letters lost their marks
		return &analyzer{name: name, words: name == "gse-1", marked: true}, nil
	}
	return nil, fmt.Errorf("unknown analyzer %q (known: ngram, gse)", name)
}

// NewNGram returns the analyzer "ngram-2", which needs no dictionary. After
// [Normalize] and without the marks of Latin letters (Café is cafe; ngram-1 kept them):
//
//   - Scripts that are written without spaces (Han, kana, Thai, Lao, Khmer,
//     Burmese, Tibetan) and Hangul become every character and every adjacent
//     pair. Han and kana make one run, so that 食べる is one.
//   - Other scripts become words, English ones stemmed (Snowball).
//   - A word with inner . - _ or camel case is a compound and is kept whole, in
//     parts, in adjacent pairs of parts and without its separators; see
//     [compound].
//
// Characters and pairs tie with the best mixture of dictionary words (mean MRR
// over three Chinese sets 0.953 against 0.953, pairs alone 0.947, dictionary
// words alone 0.946), and start in no time.
func NewNGram() Analyzer { return &analyzer{name: DefaultAnalyzer} }

// NewGSE returns the analyzer "gse-2": as NewNGram, but Han characters become
// words in place of single characters, beside every adjacent pair. A word of
// two characters is its own pair and counts twice. The words are those of
// github.com/go-ego/gse, see [kb/pkg/text/gse].
func NewGSE() Analyzer { return &analyzer{name: GSE, words: true} }

// analyzer is both of them.
type analyzer struct {
	name   string
	words  bool // of Han characters, in place of each character
	marked bool // Latin letters keep their marks
	stems  stemmer
}

func (a *analyzer) fold(s string) folded { return foldLetters(s, !a.marked) }

func (a *analyzer) Name() string { return a.name }

func (a *analyzer) writer() tokenWriter {
	w := tokenWriter{stems: &a.stems}
	if a.words {
		w.han = new(hanWords)
	}
	return w
}

func (a *analyzer) Tokens(s string) []string {
	f := a.fold(s)
	w := a.writer()
	w.tokens = make([]string, 0, expected(f.text))
	scan(f, &w)
	return w.tokens
}

// expected is about how many tokens a text has: two for each character of three
// bytes, one for each word.
func expected(s string) int {
	if isASCII(s) {
		return len(s)/5 + 4
	}
	return len(s)*2/3 + 4
}

func (a *analyzer) QueryTerms(s string) []string {
	return a.Refine(s, nil).Terms
}

// Refine implements [Refiner].
func (a *analyzer) Refine(question string, known func(string) bool) Refined {
	w := a.writer()
	w.query, w.known = true, known
	scan(a.fold(question), &w)
	if len(w.tokens) == 0 {
		return Refined{Terms: distinct(w.stopped)}
	}
	unknown := distinct(w.unknown)
	for i, name := range unknown {
		unknown[i] = asWritten(question, name)
	}
	return Refined{distinct(w.tokens), len(distinct(w.exact)), distinct(w.names), unknown}
}

func distinct(terms []string) []string {
	out := terms[:0]
	for _, t := range terms {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// tokenWriter collects tokens. For a question it keeps the stop words apart.
type tokenWriter struct {
	stems   *stemmer
	han     *hanWords // nil: Han characters are no words
	query   bool
	known   func(term string) bool // see Refiner; may be nil
	exact   []string               // the identifiers that are known,
	names   []string               // and those of them that [Refined] calls so
	unknown []string               // identifiers that are not known
	tokens  []string
	stopped []string
	marks   *marker // collects where tokens stand; may be nil
}

func (w *tokenWriter) add(token string) {
	if w.query && isStop(token) {
		w.stopped = append(w.stopped, token)
		return
	}
	w.put(token)
}

func (w *tokenWriter) put(token string) {
	if w.marks != nil {
		w.marks.put(token)
		return
	}
	w.tokens = append(w.tokens, token)
}

// addWord adds a word of one part: its stem, if it is English.
func (w *tokenWriter) addWord(word string) {
	if w.query && isStop(word) {
		w.stopped = append(w.stopped, w.stems.stem(word))
		return
	}
	w.put(w.stems.stem(word))
}
