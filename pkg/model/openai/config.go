package openai

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Config says where a model is and how to talk to it. Only BaseURL is always
// needed; the zero value of everything else is a sensible default.
type Config struct {
	BaseURL string // as people write it, see [NormalizeURL]
	APIKey  string // "" for a server that wants none
	Model   string // as the server calls it; needed for embeddings

	// Batch is how many texts or documents one request carries; 0 is the
	// provider's limit. Either way it shrinks to what the server takes.
	Batch int
	// The prefixes are put before questions and passages; nil is what the
	// model was trained with, by its name. Point to "" for none, as for a
	// server that adds them itself.
	QueryPrefix, DocumentPrefix *string
	Dimensions                  int // asked of the server; 0 asks for nothing

	Temperature *float64 // of chat; nil leaves it to the server
	MaxTokens   int      // of an answer; 0 leaves it to the server
	// HoldThinking keeps text back until </think>, for models whose template
	// writes the opening <think> into the prompt; nil decides by the model's
	// name.
	HoldThinking *bool

	// Style is the shape of rerank calls: cohere (also jina, siliconflow,
	// vllm, llama.cpp), dashscope, tei, vllm-score, voyage; "" decides by the
	// URL.
	Style string
	// DocumentTokens is what documents are cut to, in estimated tokens, after
	// the reranker refused one as too long; 0 is 400.
	DocumentTokens int

	// ExtraBody is merged into the body of each request; null takes a field
	// away.
	ExtraBody map[string]json.RawMessage

	Timeouts      Timeouts
	Tries         int           // of one request; 0 is 5, 1 never repeats
	Backoff       time.Duration // before the first repetition, doubled for each; 0 is 500 ms
	MaxRetryAfter time.Duration // the longest wait a server may ask for; 0 is a minute

	UserAgent string
	Proxy     func(*http.Request) (*url.URL, error) // http.ProxyFromEnvironment; nil for none
	Transport http.RoundTripper                     // instead of a transport of the client's own

	Warn func(msg string) // nil drops warnings
}

// Timeouts limit silence, not duration: a long answer that keeps coming is
// never cut. Each has a default for 0.
type Timeouts struct {
	Connect   time.Duration // for the connection, TLS included: 10 s
	FirstByte time.Duration // from request to response header: 5 min
	Idle      time.Duration // between two pieces of a response: 5 min
}

const (
	defaultTries         = 5
	defaultBackoff       = 500 * time.Millisecond
	maxBackoff           = 20 * time.Second
	defaultMaxRetryAfter = time.Minute
	defaultConnect       = 10 * time.Second
	defaultSilence       = 5 * time.Minute
)

func (c Config) withDefaults() Config {
	c.Tries = or(c.Tries, defaultTries)
	c.Backoff = or(c.Backoff, defaultBackoff)
	c.MaxRetryAfter = or(c.MaxRetryAfter, defaultMaxRetryAfter)
	c.Timeouts.Connect = or(c.Timeouts.Connect, defaultConnect)
	c.Timeouts.FirstByte = or(c.Timeouts.FirstByte, defaultSilence)
	c.Timeouts.Idle = or(c.Timeouts.Idle, defaultSilence)
	if c.UserAgent == "" {
		c.UserAgent = "kb"
	}
	c.Warn = oneAtATime(c.Warn)
	return c
}

// oneAtATime spares the caller a lock: requests run side by side.
func oneAtATime(warn func(string)) func(string) {
	var mu sync.Mutex
	return func(msg string) {
		mu.Lock()
		defer mu.Unlock()
		if warn != nil {
			warn(msg)
		}
	}
}

func or[T int | time.Duration](v, fallback T) T {
	if v > 0 {
		return v
	}
	return fallback
}

// cleanKey takes away what is copied along with a key and refuses what no
// header can carry.
func cleanKey(key string) (string, error) {
	key = strings.TrimSpace(key)
	if len(key) > 7 && strings.EqualFold(key[:7], "Bearer ") {
		key = strings.TrimSpace(key[7:])
	}
	for _, c := range []byte(key) {
		if c < 0x20 || c > 0x7e {
			return "", errors.New("API key holds a character that no HTTP header can carry")
		}
	}
	return key, nil
}

func newTransport(c Config) http.RoundTripper {
	if c.Transport != nil {
		return c.Transport
	}
	return &http.Transport{
		Proxy:               c.Proxy,
		DialContext:         dialer(c.Timeouts.Connect),
		TLSHandshakeTimeout: c.Timeouts.Connect,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     time.Minute,
	}
}
