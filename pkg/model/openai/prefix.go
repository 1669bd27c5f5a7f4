package openai

import (
	"strings"
	"unicode/utf8"
)

// prefixes are what a model was trained to see before questions and passages,
// from the model cards of each family; "" for models without.
func prefixes(model string) (query, document string) {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	has := func(s string) bool { return strings.Contains(name, s) }
	switch {
	case strings.HasPrefix(name, "e5-") || has("-e5-"):
		if has("instruct") {
			return "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ", ""
		}
		return "query: ", "passage: "
	case has("qwen3-embedding"):
		return "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:", ""
	case has("bge-") && has("-zh"):
		return "为这个句子生成表示以用于检索相关文章：", ""
	case has("bge-") && has("-en") || has("mxbai-embed"):
		return "Represent this sentence for searching relevant passages: ", ""
	case has("nomic-embed-text"):
		return "search_query: ", "search_document: "
	case has("embeddinggemma"):
		return "task: search result | query: ", "title: none | text: "
	}
	return "", ""
}

// window is how many tokens of a text a model reads, from the model cards; 0
// where it is not known or large. Many servers cut a longer text without a word.
func window(model string) int {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	switch {
	case strings.Contains(name, "bge-m3") || strings.Contains(name, "e5-mistral"):
		return 8192
	case strings.HasPrefix(name, "bge-") || strings.HasPrefix(name, "e5-") || strings.Contains(name, "-e5-") ||
		strings.HasPrefix(name, "mxbai-embed") || strings.HasPrefix(name, "bce-embedding") || name == "embedding-2":
		return 512
	case strings.Contains(name, "all-minilm"):
		return 256
	}
	return 0
}

// fewest is the number of tokens that a text has at least.
func fewest(s string) int {
	wide := 0
	for _, c := range s {
		if c >= 0x250 {
			wide++
		}
	}
	return wide/2 + (utf8.RuneCountInString(s)-wide)/6
}

// estimate is the number of tokens of a text, rather too high than too low: a
// token for each character outside Latin script, one for three bytes within.
func estimate(s string) int {
	wide, narrow := 0, 0
	for _, c := range s {
		if c < 0x250 {
			narrow++
		} else {
			wide++
		}
	}
	return wide + (narrow+2)/3
}

// cutTokens is the beginning of s with at most n estimated tokens.
func cutTokens(s string, n int) string {
	thirds := 0
	for at, c := range s {
		if c < 0x250 {
			thirds++
		} else {
			thirds += 3
		}
		if thirds > 3*n {
			return s[:at]
		}
	}
	return s
}
