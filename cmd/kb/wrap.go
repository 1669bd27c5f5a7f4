package main

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// wrapper breaks running text into lines of a terminal, as it comes: at
// spaces, and between Chinese characters, but so that no line begins with a
// mark that closes or ends with one that opens. A citation stays with its
// sentence. What is longer than a line is left to the terminal, so that an
// address can be copied, or broken anywhere.
//
// The last word is held back until what follows shows where it ends; Flush
// writes it.
type wrapper struct {
	w      io.Writer
	width  int  // of a line, in columns
	hard   bool // breaks what is longer than a line; else the terminal does
	column int
	spaces int    // before the word
	word   []byte // not written yet
	across int    // columns of it
	wide   bool   // a Chinese character is in it
	err    error
}

const (
	closing = "，。、；：！？）」』》〉】〕”’…—％,.;:!?)]}%"
	opening = "（「『《〈【〔“‘([{"
)

// Write takes the next part of the text, which may begin and end anywhere.
func (w *wrapper) Write(p []byte) (int, error) {
	text, state := string(p), -1
	for text != "" {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		w.add(cluster)
	}
	return len(p), w.err
}

func (w *wrapper) add(cluster string) {
	switch cluster {
	case "\n", "\r\n":
		w.put()
		w.write("\n")
		w.column, w.spaces = 0, 0
		return
	case " ", "\t":
		w.put()
		w.spaces++
		return
	}
	r, _ := utf8.DecodeRuneInString(cluster)
	n := columns(cluster)
	if len(w.word) > 0 && (w.breaks(r) || w.hard && w.across+n > w.width) {
		w.put()
	}
	w.word = append(w.word, cluster...)
	w.across += n
	w.wide = w.wide || isWide(r)
}

// breaks says whether a line may break between the word and what follows it.
func (w *wrapper) breaks(next rune) bool {
	last, _ := utf8.DecodeLastRune(w.word)
	switch {
	case strings.ContainsRune(closing, next), strings.ContainsRune(opening, last), unicode.IsMark(next):
		return false
	case next == '[' && strings.ContainsRune(closing, last):
		return false // the citation behind a sentence
	}
	return isWide(next) || isWide(last) || w.wide && strings.ContainsRune(closing, last)
}

func isWide(r rune) bool {
	return r >= 0x2e80 && !strings.ContainsRune(closing+opening, r) || strings.ContainsRune("（「『《〈【〔", r)
}

// put writes the word, on a line of its own where the present one has no room.
func (w *wrapper) put() {
	if len(w.word) == 0 {
		return
	}
	n := w.across
	if w.column > 0 && w.column+w.spaces+n > w.width {
		w.write("\n")
		w.column, w.spaces = 0, 0
	}
	w.write(strings.Repeat(" ", w.spaces))
	w.column += w.spaces + n
	w.write(string(w.word))
	w.word, w.across, w.wide, w.spaces = w.word[:0], 0, false, 0
	if w.column > w.width {
		w.column %= max(w.width, 1) // the terminal broke it
	}
}

func (w *wrapper) write(s string) {
	if s != "" && w.err == nil {
		_, w.err = io.WriteString(w.w, s)
	}
}

// Flush writes the word that was held back.
func (w *wrapper) Flush() {
	w.put()
	w.column, w.spaces = 0, 0
}

// wrapped is a text in lines of the terminal; elsewhere it is as it was.
func (s style) wrapped(text string) string { return s.indented(text, 0) }

// indented is a text that begins so many columns into a line, as do the lines
// that it is wrapped to.
func (s style) indented(text string, indent int) string {
	if !s.terminal {
		return text
	}
	var b strings.Builder
	w := &wrapper{w: &b, width: s.width - indent}
	io.WriteString(w, text)
	w.Flush()
	return strings.ReplaceAll(b.String(), "\n", "\n"+strings.Repeat(" ", indent))
}
