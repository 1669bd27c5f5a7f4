package openai

import (
	"fmt"
	"strings"
)

// style is the shape of rerank requests. There is no common one: the fields
// and the path differ. Sources: the API references of Cohere v2, Jina,
// DashScope and Voyage, and the routers of text-embeddings-inference, vLLM and
// llama.cpp, November 2026.
type style string

const (
	styleCohere    style = "cohere" // also Jina, SiliconFlow, vLLM, llama.cpp, DashScope's compatible API
	styleDashScope style = "dashscope"
	styleTEI       style = "tei"
	styleScore     style = "vllm-score"
	styleVoyage    style = "voyage"
)

// styleOf reads the name of a style; without one the URL decides.
func styleOf(name string, u URL) (style, error) {
	switch s := style(strings.ToLower(strings.TrimSpace(name))); s {
	case styleCohere, styleDashScope, styleTEI, styleScore, styleVoyage:
		return s, nil
	case "jina", "siliconflow", "vllm", "llama.cpp":
		return styleCohere, nil
	case "":
		return guessStyle(u), nil
	default:
		return "", fmt.Errorf("rerank style %q is none of cohere, jina, dashscope, tei, vllm-score, voyage", s)
	}
}

// ValidRerankStyle says why the name of a style is none; "" is one.
func ValidRerankStyle(name string) error {
	_, err := styleOf(name, URL{})
	return err
}

func guessStyle(u URL) style {
	switch p := u.base.Path; {
	case u.Host() == "api.voyageai.com":
		return styleVoyage
	case strings.HasSuffix(p, "/score"):
		return styleScore
	case isDashScope(u.Host()) && !strings.HasPrefix(p, "/compatible-api"):
		return styleDashScope
	}
	return styleCohere
}

// endpoint is the URL of the call. A base URL that ends in a rerank path is
// that already.
func (s style) endpoint(u URL) URL {
	p := u.base.Path
	for _, end := range []string{"/rerank", "/reranks", "/reranking", "/text-rerank", "/score"} {
		if strings.HasSuffix(p, end) {
			return u
		}
	}
	switch {
	case s == styleDashScope:
		return u.withPath("/api/v1/services/rerank/text-rerank/text-rerank")
	case s == styleTEI:
		return u.withPath(strings.TrimSuffix(p, "/v1") + "/rerank")
	case s == styleScore:
		return u.join("/score")
	case isDashScope(u.Host()):
		return u.withPath("/compatible-api/v1/reranks")
	case isCohere(u.Host()) && p == "/v1":
		return u.withPath("/v2/rerank")
	}
	return u.join("/rerank")
}

func isCohere(host string) bool { return host == "api.cohere.com" || host == "api.cohere.ai" }

// request is the body of a call. All scores are asked for, and no texts.
func (s style) request(model, query string, documents []string) map[string]any {
	body := map[string]any{}
	switch s {
	case styleTEI:
		return map[string]any{"query": query, "texts": documents, "truncate": true}
	case styleDashScope:
		body["input"] = map[string]any{"query": query, "documents": documents}
		body["parameters"] = map[string]any{"top_n": len(documents), "return_documents": false}
	case styleScore:
		body["text_1"], body["text_2"] = query, documents
	case styleVoyage:
		body["query"], body["documents"], body["top_k"] = query, documents, len(documents)
	default:
		body["query"], body["documents"], body["top_n"] = query, documents, len(documents)
	}
	if model != "" {
		body["model"] = model
	}
	return body
}
