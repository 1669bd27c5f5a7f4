package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"unicode"

	"github.com/go-ego/gse"

	"kb/pkg/text"
	kbgse "kb/pkg/text/gse"
)

// compare cuts each Han run of the texts in both ways.
func compare(full *gse.Segmenter, texts []string) error {
	runs := map[string]bool{}
	for _, name := range texts {
		if err := collect(name, runs); err != nil {
			return err
		}
	}
	found := len(runs)
	addRandom(full.Dict, runs)
	var c kbgse.Cutter
	differ, example := 0, ""
	for run := range runs {
		want, have := full.Cut(run, false), pieces(run, c.Cut(run))
		if !slices.Equal(want, have) {
			differ++
			example = fmt.Sprintf("gse cuts %q, kb %q", want, have)
		}
	}
	if differ > 0 {
		return fmt.Errorf("%d of %d runs are cut in another way: %s", differ, len(runs), example)
	}
	fmt.Printf("all %d Han runs of the texts and %d random ones are cut as gse %s cuts them\n", found, len(runs)-found, gse.GetVersion())
	return nil
}

func pieces(run string, ends []int) []string {
	var out []string
	start := 0
	for _, end := range ends {
		out = append(out, run[start:end])
		start = end
	}
	return out
}

// collect adds the Han runs of a text to runs.
func collect(name string, runs map[string]bool) error {
	in := io.ReadCloser(os.Stdin)
	if name != "-" {
		var err error
		if in, err = os.Open(name); err != nil {
			return err
		}
	}
	defer in.Close()
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		start := -1
		folded := text.Normalize(line)
		for i, c := range folded + "\n" {
			switch han := unicode.Is(unicode.Han, c); {
			case han && start < 0:
				start = i
			case !han && start >= 0:
				runs[folded[start:i]] = true
				start = -1
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// addRandom adds runs of random words of the dictionary, their beginnings, and
// characters that words begin with. They reach what real texts hardly do:
// characters that begin words but are none.
func addRandom(dict *gse.Dictionary, runs map[string]bool) {
	var ws, chars [][]rune
	seen := map[rune]bool{}
	for i := range dict.Tokens {
		runes := []rune(dict.Tokens[i].Text())
		if folded(runes) {
			ws = append(ws, runes)
		}
		if first := runes[:1]; !seen[first[0]] && folded(first) {
			seen[first[0]] = true
			chars = append(chars, first)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var run []rune
		for range 2 + rnd.IntN(8) {
			w := ws[rnd.IntN(len(ws))]
			if rnd.IntN(3) == 0 {
				w = chars[rnd.IntN(len(chars))]
			}
			run = append(run, w[:1+rnd.IntN(len(w))]...)
		}
		runs[string(run)] = true
	}
}
