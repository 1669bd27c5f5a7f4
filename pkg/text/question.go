package text

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// ContentTerms returns those of a question's terms that say what it is about:
// [Analyzer.QueryTerms] without the phrases that only ask (什么时候, 多长时间,
// how many). Such a phrase is rarely in the passage that answers, and in
// Chinese it makes pairs with its neighbours that are in no passage at all. It
// has the terms of the whole question where no other would be left.
func ContentTerms(a Analyzer, question string) []string {
	terms := a.QueryTerms(askingPhrases().Replace(question))
	terms = slices.DeleteFunc(terms, asks)
	if len(terms) == 0 || OnlyStopWords(strings.Join(terms, " ")) {
		return a.QueryTerms(question)
	}
	return terms
}

// askingPhrases replaces phrases that ask, Chinese ones in both scripts; the longer
// of two comes first.
var askingPhrases = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, phrase := range []string{
		"tell me about", "Tell me about", "介绍一下", "介紹一下", "介绍下", "介紹下", "告诉我", "告訴我", "讲讲", "講講", "说说", "說說", "聊聊",
		"是什么意思", "是什麼意思", "是啥意思", "什么意思", "什麼意思", "啥意思", "什么时候", "什麼時候", "啥时候", "啥時候",
		"多长时间", "多長時間", "可不可以", "行不行", "是不是",
		"怎么处理", "怎麼處理", "如何处理", "如何處理", "咋处理", "咋處理", "怎么回事", "怎麼回事", "咋回事", "怎么办", "怎麼辦", "怎么搞", "怎麼搞", "怎么弄", "怎麼弄", "怎么整", "怎麼整",
		"咋办", "咋辦", "咋搞", "咋弄", "咋整", "怎么样", "怎麼樣", "为什么", "為什麼", "有没有", "有沒有", "能不能",
		"什么", "什麼", "甚麼", "怎么", "怎麼", "怎样", "怎樣", "如何", "多长", "多長", "多久", "多少", "多大", "多高",
		"多远", "多遠", "多重", "几点", "幾點", "几天", "幾天", "几次", "幾次", "几位", "幾位", "几年", "幾年", "几个", "幾個",
		"哪天", "哪里", "哪裡", "哪儿", "哪兒", "哪些", "哪个", "哪個", "哪一", "哪年", "哪种", "哪種", "请问", "請問",
		"是否", "可以", "时候", "時候", "何时", "何時", "我们", "我們", "啥", "咋",
		"哪", "谁", "誰", "吗", "嗎", "呢", "吧", "何", "几", "幾",
	} {
		pairs = append(pairs, phrase, " ")
	}
	return strings.NewReplacer(pairs...)
})

// asks says whether a stem is of a word that is in questions of any subject.
func asks(stem string) bool {
	switch stem {
	case "mani", "much", "often", "long", "big", "ani", "some", "other", "me", "my", "us", "get", "need",
		"still", "use", "just", "mean", "pleas", "help":
		return true
	}
	return false
}

// Names returns the words of a question that look like the name of something,
// as they stand there: identifiers (ERR-5023, rotate_keys, HTTPHeader),
// English words with a capital inside a sentence, and words of the Latin
// alphabet in a Chinese question. Numbers are none, as a question may suppose
// any; nor are weekdays and months. Where most words have a capital, as in a
// title, capitals say nothing.
func Names(question string) []string {
	chinese := IsChinese(question)
	words := latinWords(question)
	capitals, inside := 0, 0
	for _, w := range words {
		if !w.first {
			inside++
			if w.capital() {
				capitals++
			}
		}
	}
	titled := capitals > 1 && 2*capitals >= inside
	var names []string
	for _, w := range words {
		if len(w.text) > 1 && (chinese && !isAsking(w.text) || w.identifier() || w.capital() && !w.first && !titled && !isDay(w.text)) {
			names = append(names, w.text)
		}
	}
	return names
}

// isAsking says whether a word is in questions of any subject.
func isAsking(word string) bool {
	var stems stemmer
	word = strings.ToLower(word)
	return isStop(word) || asks(stems.stem(word))
}

// latinWord is a word that begins with a letter of ASCII.
type latinWord struct {
	text  string
	first bool // of a sentence
}

func (w latinWord) capital() bool { return w.text[0] >= 'A' && w.text[0] <= 'Z' }

// identifier says whether it has a digit, an underscore, or a capital behind
// another letter.
func (w latinWord) identifier() bool {
	for i, r := range w.text {
		if r == '_' || unicode.IsDigit(r) || i > 0 && unicode.IsUpper(r) && !strings.ContainsRune(".-'", rune(w.text[i-1])) {
			return true
		}
	}
	return false
}

// latinWords finds the words of letters, digits and inner . - _ '.
func latinWords(s string) []latinWord {
	var words []latinWord
	first := true
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && (wordASCII(s[end]) || end > i && strings.IndexByte(".-'", s[end]) >= 0 && end+1 < len(s) && wordASCII(s[end+1])) {
			end++
		}
		if end > i {
			if s[i] < '0' || s[i] > '9' {
				words = append(words, latinWord{s[i:end], first})
			}
			first = false
			i = end
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		first = strings.ContainsRune(".!?。！？", r) || first && !unicode.IsLetter(r)
		i += n
	}
	return words
}

func wordASCII(c byte) bool { return lower(c|0x20) || digit(c) || c == '_' }

func isDay(word string) bool {
	switch strings.ToLower(word) {
	case "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
		"mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays",
		"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december":
		return true
	}
	return false
}

// Numbers are the plain numbers of a question, of two digits and more.
func Numbers(question string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(question, func(r rune) bool {
		return r >= utf8.RuneSelf || !wordASCII(byte(r)) && !strings.ContainsRune(".,-", r)
	}) {
		if w = strings.Trim(w, ".,-"); len(w) > 1 && strings.Trim(w, digits) == "" {
			out = append(out, w)
		}
	}
	return out
}
