// Package gse cuts Chinese text into words as github.com/go-ego/gse does, word
// for word, without that library and without loading its dictionary.
//
// A dictionary gives words w their frequency f(w) of total T. Of all ways to
// cut a run of Han characters the most probable one is taken, words being
// independent of each other (unigram model, gse's Cut without HMM):
//
//	score(i) = max over words w at i of ln f(w) - ln T + score(i + |w|)
//
// computed from the end; of equal scores the longer word wins. A character that
// no word begins with counts as a word of frequency 1, and one that only begins
// words but is none as impossible, which is how gse has it. Cost: for each
// character one walk down a trie, 0.1 s a megabyte.
//
// gse needs 2 to 5 seconds and 200 to 320 MB to load its dictionary. Here the
// dictionary is a static trie in the binary ([words.bin], 3.6 MB) that is
// searched where it lies: nothing is decoded, built or allocated for it, and
// only the pages that a text needs are read. It holds the words that can occur
// in a folded text (Han characters alone, Simplified): 352,411 of 587,207. The
// logarithms are stored as gse computes them, so that ties are broken in the
// same way on every machine. scripts/wordlist writes the file and proves both
// ways of cutting equal on real text.
package gse

import (
	_ "embed"
	"math"
	"unicode/utf8"
)

//go:generate go run -C ../../../scripts/wordlist . write ../../pkg/text/gse/words.bin

// list is the trie in four arrays of little-endian numbers, after the number
// of nodes and the number of weights (32 bits each):
//
//	weights   float64  ln f - ln T of each frequency; that of no word (-Inf) first,
//	                   then that of an unknown character
//	children  uint24   for each node its first child; nodes stand in breadth-first
//	                   order, so its last child is before the first of the next node
//	labels    uint16   for each node the UTF-16 unit that leads to it; siblings ascend
//	words     uint16   for each node the index of its weight, 0 where no word ends
//
// Node 0 is the root.
//
//go:embed words.bin
var list string

const (
	header     = 8
	weightSize = 8
	childSize  = 3
	unitSize   = 2

	unknown = 1 // index of the weight of an unknown character
)

// trie is where the arrays of list begin.
type trie struct{ weights, children, labels, words int }

func dictionary() trie {
	nodes := int(uint32At(0))
	var t trie
	t.weights = header
	t.children = t.weights + weightSize*int(uint32At(4))
	t.labels = t.children + childSize*(nodes+1)
	t.words = t.labels + unitSize*nodes
	return t
}

func uint16At(i int) uint16 { return uint16(list[i]) | uint16(list[i+1])<<8 }
func uint32At(i int) uint32 { return uint32(uint16At(i)) | uint32(uint16At(i+2))<<16 }

// weight returns ln f - ln T by the index of a weight.
func (t trie) weight(index uint16) float64 {
	at := t.weights + weightSize*int(index)
	return math.Float64frombits(uint64(uint32At(at)) | uint64(uint32At(at+4))<<32)
}

// word returns the index of the weight of the word that ends at a node.
func (t trie) word(node int) uint16 { return uint16At(t.words + unitSize*node) }

func (t trie) firstChild(node int) int {
	at := t.children + childSize*node
	return int(uint16At(at)) | int(list[at+2])<<16
}

// child returns the node that a character leads to; 0 for none.
func (t trie) child(node int, r rune) int {
	if r <= 0xffff {
		return t.unit(node, uint16(r))
	}
	const surrogates, low = 0xd800, 0xdc00
	r -= 0x10000
	if node = t.unit(node, uint16(surrogates+r>>10)); node == 0 {
		return 0
	}
	return t.unit(node, uint16(low+r&0x3ff))
}

func (t trie) unit(node int, unit uint16) int {
	lo, hi := t.firstChild(node), t.firstChild(node+1)
	end := hi
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if uint16At(t.labels+unitSize*mid) < unit {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < end && uint16At(t.labels+unitSize*lo) == unit {
		return lo
	}
	return 0
}

// Cutter cuts text and reuses its memory. The zero value is ready; it is for
// one goroutine at a time.
type Cutter struct {
	score  []float64 // of the best way from a byte to the end
	length []uint8   // of the first word on that way, in bytes
	ends   []int
}

// Cut returns where the words of a run end, as byte offsets in order. The run
// is folded text, of Han characters alone; other characters are words of their
// own. What it returns is valid until the next call.
func (c *Cutter) Cut(run string) []int {
	c.grow(len(run) + 1)
	t := dictionary()
	c.score[len(run)] = 0
	for i := len(run); i > 0; {
		_, n := utf8.DecodeLastRuneInString(run[:i])
		i -= n
		c.score[i], c.length[i] = c.best(t, run, i)
	}
	c.ends = c.ends[:0]
	for i := 0; i < len(run); {
		i += int(c.length[i])
		c.ends = append(c.ends, i)
	}
	return c.ends
}

func (c *Cutter) grow(n int) {
	if cap(c.score) < n {
		c.score, c.length = make([]float64, n), make([]uint8, n)
	}
	c.score, c.length = c.score[:n], c.length[:n]
}

// best finds the first word of the best way from byte i to the end.
func (c *Cutter) best(t trie, run string, i int) (score float64, length uint8) {
	first, n := utf8.DecodeRuneInString(run[i:])
	begins := t.child(0, first)
	index := uint16(unknown)
	if begins != 0 {
		index = t.word(begins)
	}
	score, length = t.weight(index)+c.score[i+n], uint8(n)
	found := begins != 0 && index != 0
	for node, at := begins, i+n; node != 0 && at < len(run); {
		r, n := utf8.DecodeRuneInString(run[at:])
		if node = t.child(node, r); node == 0 {
			break
		}
		at += n
		index := t.word(node)
		if index == 0 {
			continue
		}
		if s := t.weight(index) + c.score[at]; !found || s >= score {
			score, length, found = s, uint8(at-i), true
		}
	}
	return score, length
}
