package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kb/pkg/model"
	"kb/pkg/model/offline"
	"kb/pkg/model/openai"
	"kb/pkg/store"
	"kb/pkg/store/chroma"
	"kb/pkg/store/flat"
	"kb/pkg/store/milvus"
	"kb/pkg/store/pgvector"
	"kb/pkg/text"
)

// This file is the one switch from settings to implementations.

func indexFlag(cmd *cobra.Command, s *settings) {
	bind(cmd, s, "index", "KB_INDEX", "the index: a path or a store's URL (default "+defaultIndex+")")
}

func analyzerFlag(cmd *cobra.Command, s *settings) {
	bind(cmd, s, "analyzer", "KB_ANALYZER", "words of the index: ngram or gse (default: as it is, ngram for a new one)")
}

func embedFlags(cmd *cobra.Command, s *settings) {
	bind(cmd, s, "embed-base-url", "KB_EMBED_BASE_URL", "embedding endpoint")
	bind(cmd, s, "embed-model", "KB_EMBED_MODEL", "embedding model")
}

func chatFlags(cmd *cobra.Command, s *settings) {
	bind(cmd, s, "chat-base-url", "KB_CHAT_BASE_URL", "chat endpoint")
	bind(cmd, s, "chat-model", "KB_CHAT_MODEL", "chat model")
}

func rerankFlags(cmd *cobra.Command, s *settings) {
	bind(cmd, s, "rerank-base-url", "KB_RERANK_BASE_URL", "rerank endpoint")
	bind(cmd, s, "rerank-model", "KB_RERANK_MODEL", "rerank model")
}

// settingFlag is a flag whose value goes into the settings.
type settingFlag struct {
	s   *settings
	key string
}

func (f *settingFlag) String() string     { return "" }
func (f *settingFlag) Type() string       { return "string" }
func (f *settingFlag) Set(v string) error { f.s.flags[f.key] = v; return nil }

func bind(cmd *cobra.Command, s *settings, flag, key, help string) {
	cmd.Flags().Var(&settingFlag{s, key}, flag, help+"; "+key)
}

// openStore opens the store that --index or KB_INDEX names.
func (s *settings) openStore() (store.Store, error) {
	if err := s.load(); err != nil {
		return nil, err
	}
	index := s.get("KB_INDEX")
	if !isURL(index.value) {
		return flat.New(index.value, flat.Resident(s.resident)), nil
	}
	if st := s.stores[index.value]; st != nil {
		return st, nil
	}
	st, err := s.remoteStore(index)
	if err != nil {
		return nil, err
	}
	if s.stores == nil {
		s.stores = map[string]store.Store{}
	}
	s.stores[index.value] = st
	if c, ok := st.(io.Closer); ok {
		s.env.atExit(func() { c.Close() })
	}
	return st, nil
}

// remoteStore opens the store at a URL.
func (s *settings) remoteStore(index setting) (store.Store, error) {
	scheme, _, _ := strings.Cut(index.value, "://")
	var st store.Store
	var err error
	switch scheme {
	case "postgres", "postgresql":
		if err := s.guardPassword(index); err != nil {
			return nil, err
		}
		st, err = pgvector.New(index.value)
	case "chroma", "chromas":
		st, err = chroma.New(index.value, chroma.Options{Now: s.env.now, Proxy: http.ProxyFromEnvironment})
	case "milvus", "milvuss":
		st, err = milvus.New(index.value, milvus.Options{Now: s.env.now, Proxy: http.ProxyFromEnvironment})
	default:
		return nil, withHint(usagef("no store for %s:// in this kb", scheme),
			"--index takes a path, or a URL that begins with postgres://, milvus:// or chroma://")
	}
	if err != nil {
		return nil, usagef("KB_INDEX (%s): %w", index.source, err)
	}
	return st, nil
}

// guardPassword keeps a folder's .env from sending the user's own password to
// a server of its choice, as with keys.
func (s *settings) guardPassword(index setting) error {
	_, ours := s.env.lookup("PGPASSWORD")
	u, err := url.Parse(index.value)
	if index.source != fromDotenv || !ours || err != nil {
		return nil
	}
	if _, own := u.User.Password(); own || u.Query().Has("password") {
		return nil
	}
	return withHint(usagef("PGPASSWORD of the environment is not sent to a server that .env names"), "put KB_INDEX into the environment, too, or the password into .env")
}

// isURL tells a store's URL from a path.
func isURL(index string) bool { return strings.Contains(index, "://") }

// shownStore is a store's URL without what only its owner should know.
func shownStore(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(not a URL)"
	}
	if _, password := u.User.Password(); u.User != nil && !password && !strings.HasPrefix(u.Scheme, "postgres") {
		u.User = url.User("xxxxx") // a token
	}
	q := u.Query()
	for name := range q {
		for _, secret := range []string{"password", "token", "secret", "key"} {
			if strings.Contains(strings.ToLower(name), secret) {
				q.Set(name, "xxxxx")
			}
		}
	}
	u.RawQuery = q.Encode()
	return u.Redacted()
}

// analyzer names the analyzer that is asked for, with its version; "" leaves
// an index as it is.
func (s *settings) analyzer() (string, error) {
	v := s.get("KB_ANALYZER")
	if !v.set() {
		return "", nil
	}
	a, err := text.NewAnalyzer(v.value)
	if err != nil {
		return "", &usageError{fmt.Errorf("KB_ANALYZER (%s): %w", v.source, err)}
	}
	return a.Name(), nil
}

// openIndex opens the newest version of the index, and gives its name.
func (s *settings) openIndex(ctx context.Context) (string, store.Reader, error) {
	st, err := s.openStore()
	if err != nil {
		return "", nil, err
	}
	r, err := st.Open(ctx)
	return st.Name(), r, err
}

// embedder returns the embedder that is configured, one for the whole process.
// It makes no request.
func (s *settings) embedder(warn func(string)) (model.Embedder, error) {
	s.embedderOnce.Do(func() { s.embedderMade, s.embedderError = s.newEmbedder(warn) })
	return s.embedderMade, s.embedderError
}

func (s *settings) newEmbedder(warn func(string)) (model.Embedder, error) {
	if err := s.load(); err != nil {
		return nil, err
	}
	p := s.provider("EMBED")
	batch, err := s.positive("KB_EMBED_BATCH")
	if err != nil {
		return nil, err
	}
	if !p.baseURL.set() {
		if name := p.model.value; name != "" && name != offline.NewEmbedder().Info().Model {
			return nil, &halfConfigured{model: name, err: withHint(usagef("KB_EMBED_MODEL is %s, but KB_EMBED_BASE_URL is not set", name),
				"set the base URL of the endpoint that serves it, or unset KB_EMBED_MODEL to embed offline")}
		}
		return offline.NewEmbedder(), nil
	}
	if !p.model.set() {
		return nil, &halfConfigured{baseURL: displayURL(p.baseURL.value), err: withHint(usagef("KB_EMBED_BASE_URL is set, but KB_EMBED_MODEL is not"),
			"set KB_EMBED_MODEL; for a server with a single model any name will do")}
	}
	cfg, err := p.config(warn)
	if err != nil {
		return nil, err
	}
	cfg.Batch = batch
	cfg.QueryPrefix = s.prefix("KB_EMBED_QUERY_PREFIX")
	cfg.DocumentPrefix = s.prefix("KB_EMBED_DOCUMENT_PREFIX")
	e, err := openai.NewEmbedder(cfg)
	if err != nil {
		return nil, p.explain(err)
	}
	return s.cachedEmbedder(e, warn)
}

// questionEmbedder is the embedder for questions to an index. A model that is
// configured only by half makes no request here, but it must not pass for the
// one that built the index.
func (s *settings) questionEmbedder(name string, index store.Settings, warn func(string)) (model.Embedder, error) {
	e, err := s.embedder(warn)
	var half *halfConfigured
	if !errors.As(err, &half) || half.model == index.Model && half.baseURL == index.BaseURL {
		return e, err
	}
	return nil, withHint(&codeError{exitMismatch, fmt.Errorf("%s was built with model %s; %w", name, model.Describe(index.Model, index.BaseURL), err)},
		"%s, or search without vectors: kb search --mode bm25", hintFor(err))
}

// halfConfigured is an embedder of which only the model or only the base URL
// is set.
type halfConfigured struct {
	model, baseURL string
	err            error
}

func (e *halfConfigured) Error() string { return e.err.Error() }
func (e *halfConfigured) Unwrap() error { return e.err }

// reranker returns the reranker that is configured.
func (s *settings) reranker(warn func(string)) (model.Reranker, error) {
	if err := s.load(); err != nil {
		return nil, err
	}
	p := s.provider("RERANK")
	style := s.get("KB_RERANK_STYLE")
	if err := openai.ValidRerankStyle(style.value); err != nil {
		return nil, usagef("KB_RERANK_STYLE (%s): %w", style.source, err)
	}
	if !p.baseURL.set() {
		return offline.NewReranker(), nil
	}
	cfg, err := p.config(warn)
	if err != nil {
		return nil, err
	}
	cfg.Style = style.value
	r, err := openai.NewReranker(cfg)
	return r, p.explain(err)
}

// generator returns the generator that is configured.
func (s *settings) generator(warn func(string)) (model.Generator, error) {
	if err := s.load(); err != nil {
		return nil, err
	}
	p := s.provider("CHAT")
	if !p.baseURL.set() {
		return offline.NewExtractor(), nil
	}
	cfg, err := p.config(warn)
	if err != nil {
		return nil, err
	}
	g, err := openai.NewGenerator(cfg)
	return g, p.explain(err)
}

func (p provider) config(warn func(string)) (openai.Config, error) {
	if p.withheld != "" {
		warn(p.withheld)
	}
	cfg := openai.Config{BaseURL: p.baseURL.value, APIKey: p.key.value, Model: p.model.value, Warn: warn,
		Proxy: http.ProxyFromEnvironment}
	if p.extraBody.set() {
		if err := json.Unmarshal([]byte(p.extraBody.value), &cfg.ExtraBody); err != nil {
			return cfg, withHint(usagef("KB_%s_EXTRA_BODY (%s) is not a JSON object", p.name, p.extraBody.source), `like {"temperature":0.2}`)
		}
	}
	return cfg, nil
}

func (p provider) explain(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{fmt.Errorf("KB_%s_BASE_URL (%s): %w", p.name, p.baseURL.source, err)}
}

// displayURL is a base URL without its secrets.
func displayURL(raw string) string {
	u, err := openai.NormalizeURL(raw)
	if err != nil {
		return "(not a URL)"
	}
	return u.String()
}

func (s *settings) positive(key string) (int, error) {
	v := s.get(key)
	if !v.set() {
		return 0, nil
	}
	n, err := strconv.Atoi(v.value)
	if err != nil || n < 1 {
		return 0, usagef("%s is %q; it must be a number of at least 1", key, v.value)
	}
	return n, nil
}

func (s *settings) prefix(key string) *string {
	if v, ok := s.has(key); ok {
		return &v
	}
	return nil
}
