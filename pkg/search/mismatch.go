package search

import (
	"fmt"
	"strings"

	"kb/pkg/model"
	"kb/pkg/store"
)

// MismatchError says that the index was built with another model than the
// questions would be embedded with: the vectors do not compare.
type MismatchError struct {
	Name   string     // of the index; "" where the caller does not know it
	Index  model.Info // what the index was built with
	Config model.Info // what would embed the question
}

func (e *MismatchError) Error() string {
	name := e.Name
	if name == "" {
		name = "the index"
	}
	if e.Index.Model != e.Config.Model || e.Index.BaseURL != e.Config.BaseURL {
		return fmt.Sprintf("%s was built with model %s, but the configured model is %s", name,
			model.Describe(e.Index.Model, e.Index.BaseURL), model.Describe(e.Config.Model, e.Config.BaseURL))
	}
	var parts []string
	differ := func(what, index, config string) {
		if index != config {
			parts = append(parts, fmt.Sprintf("%s prefix %q, but %q is configured", what, index, config))
		}
	}
	differ("query", e.Index.QueryPrefix, e.Config.QueryPrefix)
	differ("document", e.Index.DocumentPrefix, e.Config.DocumentPrefix)
	return name + " was built with " + strings.Join(parts, ", and with ")
}

// Fingerprint is the model that an index was built with.
func Fingerprint(s store.Settings) model.Info {
	return model.Info{Model: s.Model, BaseURL: s.BaseURL, QueryPrefix: s.QueryPrefix, DocumentPrefix: s.DocumentPrefix}
}

// Check says in advance whether questions without a vector of their own can
// be searched: nil, or the [*MismatchError] or other error that every one of
// them would end with.
func (s *Searcher) Check(p Params) error {
	if err := p.Validate(); err != nil {
		return err
	}
	needs, _, err := s.needsVector(p.withDefaults().Mode, s.embedder != nil)
	if err != nil || !needs {
		return err
	}
	return s.guard()
}

func (s *Searcher) guard() error {
	if index, config := Fingerprint(s.info.Settings), s.embedder.Info(); index != config {
		return &MismatchError{Index: index, Config: config}
	}
	return nil
}

// needsVector says whether the vector leg is to run, and why it is not.
// possible is whether there is anything to get a question's vector from.
func (s *Searcher) needsVector(mode string, possible bool) (needs bool, why string, err error) {
	asked := mode == ModeVector || mode == ModeHybrid
	switch {
	case mode == ModeBM25:
		return false, "mode bm25", nil
	case s.info.Chunks == 0:
		return false, "the index is empty", nil
	case s.info.Vectors == 0 && asked:
		return false, "", ErrNoVectors
	case s.info.Vectors == 0:
		return false, "the index has no vectors", nil
	case !possible && asked:
		return false, "", fmt.Errorf("mode %s needs an embedder, and none is configured", mode)
	case !possible:
		return false, "no embedder is configured", nil
	}
	return true, "", nil
}
