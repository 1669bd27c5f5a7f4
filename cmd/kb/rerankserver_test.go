package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// rerankReply answers as the servers with a rerank endpoint do, each by its
// own path, request and answer; what it does not know is a 404. The later a
// document stands in the request, the better it is, so that the order changes.
func rerankReply(w http.ResponseWriter, path string, raw []byte) {
	var in struct {
		Query, Model string
		Documents    []string
		TopN         int `json:"top_n"`
		TopK         int `json:"top_k"`
		Texts        []string
		Text1        string   `json:"text_1"`
		Text2        []string `json:"text_2"`
		Input        struct {
			Query     string
			Documents []string
		}
	}
	_ = json.Unmarshal(raw, &in)
	switch {
	case path == "/v1/rerank" && in.TopK > 0: // Voyage
		fmt.Fprintf(w, `{"object":"list","data":%s}`, scores("relevance_score", in.Documents, true))
	case path == "/v1/rerank": // Jina, in the order of the request and with texts that are not to be trusted
		list := scores("relevance_score", in.Documents, false)
		fmt.Fprintf(w, `{"model":"jina","results":%s}`, strings.ReplaceAll(list, "}", `,"document":{"text":"x"}}`))
	case path == "/v2/rerank" || path == "/compatible-api/v1/reranks": // Cohere, and DashScope's compatible API
		fmt.Fprintf(w, `{"id":"1","results":%s,"meta":{}}`, scores("relevance_score", in.Documents, true))
	case path == "/api/v1/services/rerank/text-rerank/text-rerank": // DashScope
		fmt.Fprintf(w, `{"output":{"results":%s},"request_id":"1"}`, scores("relevance_score", in.Input.Documents, true))
	case path == "/rerank" && len(in.Texts) > 0: // text-embeddings-inference
		fmt.Fprint(w, scores("score", in.Texts, true))
	case path == "/v1/score": // vLLM
		fmt.Fprintf(w, `{"object":"list","data":%s}`, scores("score", in.Text2, false))
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

// scores are the scores of the documents as a JSON list, best first or in the
// order of the documents.
func scores(field string, documents []string, sorted bool) string {
	items := make([]string, len(documents))
	for i := range documents {
		at := i
		if sorted {
			at = len(documents) - 1 - i
		}
		items[at] = fmt.Sprintf(`{"index":%d,%q:%g}`, i, field, float64(i+1)/10)
	}
	return "[" + strings.Join(items, ",") + "]"
}
