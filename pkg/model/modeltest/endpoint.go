package modeltest

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"strings"
)

// Dim is the dimension of the vectors of [Endpoint].
const Dim = 16

// Endpoint is a well-behaved server: POST /v1/embeddings, /v1/chat/completions
// and /v1/rerank. Its vectors count pairs of characters, its answers are the
// reply in pieces of one character, its rerank scores are the shares of the
// query's characters that a document has.
func Endpoint(reply string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", embeddings)
	mux.HandleFunc("POST /v1/rerank", rerank)
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		startStream(w)
		for _, c := range reply {
			Send(w, Content(string(c)))
		}
		Send(w, Finish("stop"))
		Send(w, Data(`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)+Done)
	})
	return mux
}

func embeddings(w http.ResponseWriter, r *http.Request) {
	var in struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type item struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	data := make([]item, len(in.Input))
	for i, text := range in.Input {
		data[i] = item{i, pairs(text)}
	}
	writeJSON(w, map[string]any{"data": data})
}

func pairs(text string) []float64 {
	v := make([]float64, Dim)
	last := rune(0)
	for _, c := range text {
		h := fnv.New32a()
		h.Write([]byte(string(last) + string(c)))
		v[h.Sum32()%Dim]++
		last = c
	}
	return v
}

func rerank(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Query     string
		Documents []string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type result struct {
		Index int     `json:"index"`
		Score float64 `json:"relevance_score"`
	}
	results := make([]result, len(in.Documents))
	for i, d := range in.Documents {
		results[i] = result{i, share(in.Query, d)}
	}
	writeJSON(w, map[string]any{"results": results})
}

func share(query, document string) float64 {
	found, all := 0, 0
	for _, c := range query {
		all++
		if strings.ContainsRune(document, c) {
			found++
		}
	}
	return float64(found) / float64(max(all, 1))
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
