package main

import (
	"fmt"
	"strings"
	"sync"

	"kb/pkg/cache"
	"kb/pkg/model"
	"kb/pkg/store"
)

// Where a setting's value came from, strongest first.
const (
	fromFlag    = "flag"
	fromEnv     = "environment"
	fromDotenv  = ".env"
	fromDefault = "default"
)

// setting is one value and where it came from.
type setting struct {
	value, source string
}

func (s setting) set() bool { return s.value != "" }

// settingKeys are all settings, in the order in which kb config shows them.
var settingKeys = []struct{ key, help string }{
	{"KB_INDEX", "the index: a path or a URL"},
	{"KB_ANALYZER", "of a new index: ngram or gse"},
	{"KB_EMBED_BASE_URL", "embedding endpoint"},
	{"KB_EMBED_API_KEY", "its key"},
	{"KB_EMBED_MODEL", "embedding model"},
	{"KB_EMBED_BATCH", "texts a request"},
	{"KB_EMBED_QUERY_PREFIX", "before questions"},
	{"KB_EMBED_DOCUMENT_PREFIX", "before passages"},
	{"KB_CHAT_BASE_URL", "chat endpoint"},
	{"KB_CHAT_API_KEY", "its key"},
	{"KB_CHAT_MODEL", "chat model"},
	{"KB_RERANK_BASE_URL", "rerank endpoint"},
	{"KB_RERANK_API_KEY", "its key"},
	{"KB_RERANK_MODEL", "rerank model"},
	{"KB_RERANK_STYLE", "shape of rerank requests"},
	{"KB_EMBED_EXTRA_BODY", "fields added to requests: a JSON object"},
	{"KB_CHAT_EXTRA_BODY", "the same, of the chat endpoint"},
	{"KB_RERANK_EXTRA_BODY", "the same, of the rerank endpoint"},
	{"KB_API_KEY", "where none of its own is set"},
	{"KB_REDIS_URL", "caches and sessions: redis://…"},
	{"KB_TOKEN", "what clients of kb serve must send"},
}

const defaultIndex = "index.jsonl.zst"

// settings resolves flags, the environment and .env, in this order.
type settings struct {
	flags  map[string]string // by key, only those given
	env    *env
	dotenv map[string]string
	read   bool
	err    error

	stores    map[string]store.Store // that are open, by URL
	longLived bool                   // the command answers many questions, so that memory is a cache
	memory    *cache.Memory
	overRedis *overRedis
	resident  int64 // bytes of an index that may be kept in memory

	embedderOnce  sync.Once
	embedderMade  model.Embedder
	embedderError error
}

func newSettings(e *env) *settings { return &settings{env: e, flags: map[string]string{}} }

// load reads .env once; a setting in it that cannot be read is an error that
// names the line.
func (s *settings) load() error {
	if s.read {
		return s.err
	}
	s.read = true
	var warning string
	if s.dotenv, warning, s.err = readDotenv(".env"); warning != "" {
		fmt.Fprintf(s.env.stderr, "kb: %s\n", warning)
	}
	return s.err
}

func (s *settings) get(key string) setting {
	if v, ok := s.flags[key]; ok {
		return setting{v, fromFlag}
	}
	if v, ok := s.env.lookup(key); ok && v != "" {
		return setting{v, fromEnv}
	}
	if v := s.dotenv[key]; v != "" {
		return setting{v, fromDotenv}
	}
	if key == "KB_INDEX" {
		return setting{defaultIndex, fromDefault}
	}
	return setting{"", fromDefault}
}

// has tells a prefix set to nothing from one that is not set.
func (s *settings) has(key string) (string, bool) {
	if v, ok := s.env.lookup(key); ok {
		return v, true
	}
	v, ok := s.dotenv[key]
	return v, ok
}

// provider is one of the three endpoints.
type provider struct {
	name      string // EMBED, CHAT or RERANK
	baseURL   setting
	key       setting
	model     setting
	extraBody setting
	withheld  string // why a key that is set is not sent
}

func (s *settings) provider(name string) provider {
	p := provider{
		name:      name,
		baseURL:   s.get("KB_" + name + "_BASE_URL"),
		model:     s.get("KB_" + name + "_MODEL"),
		key:       s.get("KB_" + name + "_API_KEY"),
		extraBody: s.get("KB_" + name + "_EXTRA_BODY"),
	}
	if !p.key.set() {
		p.key = s.get("KB_API_KEY")
	}
	// A folder's .env must not be able to send the user's own key to a host
	// of its choice.
	if p.baseURL.source == fromDotenv && p.key.source == fromEnv {
		p.withheld = fmt.Sprintf("the key from the environment is not sent to KB_%s_BASE_URL from .env; put both in one place", name)
		p.key = setting{}
	}
	return p
}

// endpoints names the models of the endpoints that are configured, for people;
// "" where none is.
func (s *settings) endpoints(names ...string) string {
	var out []string
	for _, name := range names {
		p := s.provider(name)
		switch {
		case !p.baseURL.set():
		case p.model.set():
			out = append(out, p.model.value)
		default:
			out = append(out, displayURL(p.baseURL.value))
		}
	}
	return strings.Join(out, " and ")
}

// mask shows that a key is set, and no more.
func mask(key string) string {
	if key == "" {
		return ""
	}
	return strings.Repeat("*", 8)
}
