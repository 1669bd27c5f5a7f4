package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode"
	"unicode/utf16"

	"github.com/go-ego/gse"

	"kb/pkg/text"
)

// word is an entry of the dictionary in UTF-16, with its frequency; 0 marks a
// character that begins words but is none.
type word struct {
	units []uint16
	freq  float64
}

// words are those of the dictionary that can occur in a folded text.
func words(dict *gse.Dictionary) []word {
	var out []word
	begins, single := map[rune]bool{}, map[rune]bool{}
	for i := range dict.Tokens {
		t := &dict.Tokens[i]
		runes := []rune(t.Text())
		begins[runes[0]] = true
		if !folded(runes) {
			continue
		}
		if len(runes) == 1 {
			single[runes[0]] = true
		}
		out = append(out, word{utf16.Encode(runes), t.Freq()})
	}
	for r := range begins {
		if !single[r] && folded([]rune{r}) {
			out = append(out, word{units: utf16.Encode([]rune{r})})
		}
	}
	slices.SortFunc(out, func(a, b word) int { return slices.Compare(a.units, b.units) })
	return out
}

// folded says whether kb looks up such a word: Han characters alone, as
// folding leaves them.
func folded(runes []rune) bool {
	for _, r := range runes {
		if !unicode.Is(unicode.Han, r) {
			return false
		}
	}
	return text.Normalize(string(runes)) == string(runes)
}

// frequencies are those of the words, that of no word and that of an unknown
// character, ascending.
func frequencies(ws []word) []float64 {
	set := map[float64]bool{0: true, 1: true}
	for _, w := range ws {
		set[w.freq] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// node is one of the trie while it is made: the words that begin with the same
// depth units.
type node struct {
	words []word
	depth int
	label uint16
}

// render writes the list as the package comment of kb/pkg/text/gse has it.
func render(dict *gse.Dictionary) ([]byte, error) {
	ws := words(dict)
	freqs := frequencies(ws)
	if len(freqs) > math.MaxUint16 {
		return nil, fmt.Errorf("%d frequencies do not fit into 16 bits", len(freqs))
	}
	var children, labels, ends []byte
	queue := []node{{words: ws}}
	for i := 0; i < len(queue); i++ {
		n := queue[i]
		freq := 0.0
		if len(n.words[0].units) == n.depth {
			freq, n.words = n.words[0].freq, n.words[1:]
		}
		index, _ := slices.BinarySearch(freqs, freq)
		ends = binary.LittleEndian.AppendUint16(ends, uint16(index))
		labels = binary.LittleEndian.AppendUint16(labels, n.label)
		children = appendUint24(children, len(queue))
		queue = append(queue, split(n)...)
	}
	children = appendUint24(children, len(queue))
	if len(queue) >= 1<<24 {
		return nil, fmt.Errorf("%d nodes do not fit into 24 bits", len(queue))
	}
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, []uint32{uint32(len(queue)), uint32(len(freqs))})
	total := math.Log(dict.TotalFreq())
	for _, f := range freqs {
		binary.Write(&b, binary.LittleEndian, math.Log(f)-total)
	}
	for _, part := range [][]byte{children, labels, ends} {
		b.Write(part)
	}
	return b.Bytes(), nil
}

func appendUint24(b []byte, n int) []byte { return append(b, byte(n), byte(n>>8), byte(n>>16)) }

// split groups the words of a node by their next unit.
func split(n node) []node {
	var out []node
	for ws := n.words; len(ws) > 0; {
		label := ws[0].units[n.depth]
		same, _ := slices.BinarySearchFunc(ws, label, func(w word, label uint16) int {
			return cmp.Or(cmp.Compare(w.units[n.depth], label), -1)
		})
		out = append(out, node{words: ws[:same], depth: n.depth + 1, label: label})
		ws = ws[same:]
	}
	return out
}
