package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"kb/pkg/model"
)

// scoredItem has its score as a number, or as some gateways write it, as a
// string that holds one.
type scoredItem struct {
	Index     *int         `json:"index"`
	Relevance *json.Number `json:"relevance_score"`
	Score     *json.Number `json:"score"`
}

// score is NaN where there is none.
func (it scoredItem) score() float64 {
	written := it.Relevance
	if written == nil {
		written = it.Score
	}
	if written == nil {
		return math.NaN()
	}
	score, err := written.Float64()
	if err != nil {
		return math.NaN()
	}
	return score
}

// parseScores reads the scores of n documents from any of the shapes: a list
// that stands bare, in results, in data or in output.results, of objects with
// an index and a relevance_score or score. Texts that come back are not looked
// at.
func parseScores(body []byte, n int) ([]model.Score, error) {
	items, err := scoredItems(body)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("the server returned no scores for %d documents", n)
	}
	out := make([]model.Score, len(items))
	seen := make([]bool, n)
	for i, item := range items {
		score := item.score()
		switch {
		case item.Index == nil:
			return nil, errors.New("the server returned a score without an index")
		case *item.Index < 0 || *item.Index >= n:
			return nil, fmt.Errorf("the server returned a score for document %d of %d", *item.Index, n)
		case seen[*item.Index]:
			return nil, fmt.Errorf("the server returned two scores for document %d", *item.Index)
		case math.IsNaN(score):
			return nil, fmt.Errorf("the server returned no score for document %d", *item.Index)
		}
		seen[*item.Index] = true
		out[i] = model.Score{Index: *item.Index, Score: score}
	}
	return out, nil
}

func scoredItems(body []byte) ([]scoredItem, error) {
	body = bytes.TrimSpace(body)
	list := json.RawMessage(body)
	if len(body) > 0 && body[0] == '{' {
		var answer struct {
			Results json.RawMessage `json:"results"`
			Data    json.RawMessage `json:"data"`
			Output  struct {
				Results json.RawMessage `json:"results"`
			} `json:"output"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return nil, badScores(body)
		}
		for _, list = range []json.RawMessage{answer.Results, answer.Data, answer.Output.Results} {
			if len(list) > 0 && list[0] == '[' {
				break
			}
		}
	}
	var items []scoredItem
	if len(list) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(list, &items); err != nil {
		return nil, badScores(body)
	}
	return items, nil
}

func badScores(body []byte) error {
	if hasBareNumbers(body) {
		return errors.New("the server returned a score that is NaN or infinite")
	}
	return fmt.Errorf("the answer is not what a rerank server sends: %s", body)
}
