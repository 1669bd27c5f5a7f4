package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"kb/pkg/record"
)

// errNumbers is an answer that is not JSON because it holds NaN or infinity.
var errNumbers = errors.New("the answer holds NaN or infinity, which is no JSON")

// embedding is the answer for one text: a vector of unit length, or why there
// is none.
type embedding struct {
	vector record.Vector
	err    error
}

type embeddingItem struct {
	Index     *int            `json:"index"`
	Embedding json.RawMessage `json:"embedding"`
}

// vectors reads the answer to n texts and returns them in the order of the
// texts.
func (e *Embedder) vectors(body []byte, n int) ([]embedding, error) {
	items, err := e.items(body)
	if err != nil {
		return nil, err
	}
	if len(items) != n {
		return nil, e.fail(e.endpoint, "the server returned %d of %d vectors", len(items), n)
	}
	order, err := permutation(items)
	if err != nil {
		return nil, e.fail(e.endpoint, "batch of %d texts: %w", n, err)
	}
	out := make([]embedding, n)
	for i, item := range items {
		v, err := parseVector(item.Embedding)
		if err == nil {
			v, err = unit(v)
		}
		out[order[i]] = embedding{toFloat32(v), err}
	}
	return out, nil
}

// items reads {"data":[…]} or, from llama.cpp's own path, the bare list.
func (e *Embedder) items(body []byte) ([]embeddingItem, error) {
	var list []embeddingItem
	var answer struct {
		Data []embeddingItem `json:"data"`
	}
	trimmed := bytes.TrimSpace(body)
	var err error
	if len(trimmed) > 0 && trimmed[0] == '[' {
		err = json.Unmarshal(trimmed, &list)
	} else {
		err = json.Unmarshal(trimmed, &answer)
		list = answer.Data
	}
	if err != nil && hasBareNumbers(trimmed) {
		return nil, &callError{e.endpoint.String(), errNumbers.Error(), errNumbers}
	}
	if err == nil && len(list) > 0 {
		return list, nil
	}
	if _, ok := parseFault(trimmed); ok {
		return nil, e.apiError(e.endpoint, 200, nil, trimmed)
	}
	if err != nil {
		return nil, e.fail(e.endpoint, "the answer is not what an embedding server sends: %s", string(trimmed))
	}
	return list, nil
}

func hasBareNumbers(body []byte) bool {
	for _, word := range []string{"NaN", "nan", "Infinity", "inf"} {
		for _, before := range []string{"[", ",", " ", "-", ":"} {
			if bytes.Contains(body, []byte(before+word)) {
				return true
			}
		}
	}
	return false
}

// permutation maps the place in the answer to the place in the request. Where
// no item has an index the order of the answer counts.
func permutation(items []embeddingItem) ([]int, error) {
	order := make([]int, len(items))
	seen := make([]bool, len(items))
	bare := 0
	for i, item := range items {
		if item.Index == nil {
			bare++
			order[i] = i
			continue
		}
		at := *item.Index
		if at < 0 || at >= len(items) {
			return nil, fmt.Errorf("the server returned a vector for text %d", at)
		}
		if seen[at] {
			return nil, fmt.Errorf("the server returned two vectors for text %d", at)
		}
		seen[at] = true
		order[i] = at
	}
	if bare > 0 && bare < len(items) {
		return nil, fmt.Errorf("the server returned %d vectors without an index", bare)
	}
	return order, nil
}

// parseVector reads an array of numbers, an array that holds one such array,
// or base64 of little-endian float32.
func parseVector(raw json.RawMessage) ([]float64, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
		return nil, errors.New("the server returned no vector")
	case raw[0] == '"':
		return parseBase64(raw)
	case raw[0] != '[':
		return nil, errors.New("the server returned something that is no vector")
	}
	inner := bytes.TrimSpace(raw[1 : len(raw)-1])
	if len(inner) == 0 {
		return nil, errors.New("the server returned an empty vector")
	}
	if inner[0] == '[' {
		var rows []json.RawMessage
		if err := json.Unmarshal(raw, &rows); err != nil || len(rows) != 1 {
			return nil, errors.New("the server returned a vector for each token, not one for the text; it needs a pooling setting")
		}
		return parseVector(rows[0])
	}
	return parseNumbers(inner)
}

func parseNumbers(list []byte) ([]float64, error) {
	out := make([]float64, 0, 1+bytes.Count(list, []byte(",")))
	for field := range bytes.SplitSeq(list, []byte(",")) {
		x, err := strconv.ParseFloat(string(bytes.TrimSpace(field)), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // beyond float64 is infinite, see unit
			return nil, fmt.Errorf("the server returned a vector whose element %d is null or no number", len(out))
		}
		out = append(out, x)
	}
	return out, nil
}

func parseBase64(raw json.RawMessage) ([]float64, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, errors.New("the server returned something that is no vector")
	}
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the server returned a vector that is not base64: %w", err)
	}
	v, err := record.VectorFromBytes(packed)
	if err != nil {
		return nil, fmt.Errorf("the server returned a vector of base64: %w", err)
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out, nil
}

// unit scales a vector to length 1, computed in float64. An element that no
// float32 can hold counts as infinite.
func unit(v []float64) ([]float64, error) {
	if len(v) == 0 {
		return nil, errors.New("the server returned an empty vector")
	}
	sum := 0.0
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(float64(float32(x)), 0) {
			return nil, fmt.Errorf("the server returned a vector whose element %d is %v", i, x)
		}
		sum += x * x
	}
	if sum == 0 {
		return nil, errors.New("the server returned a vector of zeros")
	}
	norm := math.Sqrt(sum)
	for i := range v {
		v[i] /= norm
	}
	return v, nil
}

func toFloat32(v []float64) record.Vector {
	if v == nil {
		return nil
	}
	out := make(record.Vector, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}
