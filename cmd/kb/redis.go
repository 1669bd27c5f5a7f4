package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"

	"kb/pkg/ask"
	"kb/pkg/cache"
	"kb/pkg/model"
	"kb/pkg/session"
)

// redisTimeout is how long Redis, which is there to save time, may take where
// its URL does not say.
const redisTimeout = 150 * time.Millisecond

// memoryCache is how many bytes a long-lived command without Redis keeps.
const memoryCache = 64 << 20

// overRedis is what processes share over one Redis.
type overRedis struct {
	client  *redis.Client
	breaker *cache.Breaker
}

// redis returns what KB_REDIS_URL names, nil where it names nothing. It makes
// no connection. Redis being down costs one warning.
func (s *settings) redis(warn func(string)) (*overRedis, error) {
	raw := s.get("KB_REDIS_URL")
	if !raw.set() || s.overRedis != nil {
		return s.overRedis, nil
	}
	opt, err := redis.ParseURL(raw.value)
	if err != nil {
		return nil, withHint(usagef("KB_REDIS_URL (%s) is not the URL of a Redis server", raw.source),
			"like redis://[user:password@]host:6379/0, rediss://… or unix:///path/to/socket")
	}
	for _, timeout := range []*time.Duration{&opt.DialTimeout, &opt.ReadTimeout, &opt.WriteTimeout, &opt.PoolTimeout} {
		*timeout = cmp.Or(*timeout, redisTimeout)
	}
	opt.MaxRetries, opt.DialerRetries = -1, 1
	redis.SetLogger(quiet{log.New(io.Discard, "", 0)})
	s.overRedis = &overRedis{
		client: redis.NewClient(opt),
		breaker: cache.NewBreaker(s.env.now, func(err error) {
			warn(fmt.Sprintf("going on without Redis at %s: %v", shown("KB_REDIS_URL", raw.value), err))
		}),
	}
	return s.overRedis, nil
}

// quiet keeps go-redis from writing to stderr by itself: kb warns once.
type quiet struct{ *log.Logger }

func (q quiet) Printf(_ context.Context, format string, v ...any) { q.Logger.Printf(format, v...) }

// cache returns the cache of what models were paid for: Redis, else for a
// long-lived command its memory, else none.
func (s *settings) cache(warn func(string)) (cache.Cache, error) {
	r, err := s.redis(warn)
	switch {
	case err != nil:
		return nil, err
	case r != nil:
		return cache.Guard(cache.NewRedis(r.client), r.breaker), nil
	case s.longLived && s.memory == nil:
		s.memory = cache.NewMemory(memoryCache, s.env.now)
	}
	if s.memory != nil {
		return s.memory, nil
	}
	return nil, nil
}

// cachedEmbedder puts the cache in front of an endpoint's embedder.
func (s *settings) cachedEmbedder(e model.Embedder, warn func(string)) (model.Embedder, error) {
	c, err := s.cache(warn)
	if err != nil || c == nil {
		return e, err
	}
	return cache.Embedder(e, c), nil
}

// answerCache returns the cache of whole answers; nil where none is
// configured, or where an answer asks no endpoint.
func (s *settings) answerCache(warn func(string)) (*ask.Cache, error) {
	asks := false
	described := "kb " + version
	for _, name := range []string{"EMBED", "CHAT", "RERANK"} {
		asks = asks || s.get("KB_"+name+"_BASE_URL").set()
		for _, key := range []string{"_BASE_URL", "_MODEL", "_STYLE", "_EXTRA_BODY"} {
			described += "\n" + s.get("KB_"+name+key).value
		}
	}
	if !asks {
		return nil, nil
	}
	c, err := s.cache(warn)
	if err != nil || c == nil {
		return nil, err
	}
	return &ask.Cache{Cache: c, Settings: described}, nil
}

// sessions returns the store of named sessions: Redis, else files of the user.
func (s *settings) sessions(warn func(string)) (session.Store, error) {
	r, err := s.redis(warn)
	if err != nil {
		return nil, err
	}
	if r != nil {
		return &sharedSessions{
			redis:   session.NewRedis(r.client, session.DefaultTTL),
			memory:  session.NewMemory(session.DefaultTTL, s.env.now),
			breaker: r.breaker,
		}, nil
	}
	dir, err := s.stateDir()
	if err != nil {
		return nil, err
	}
	return session.NewDir(filepath.Join(dir, "sessions"), session.DefaultTTL, s.env.now), nil
}

// stateDir is the folder for what is to outlive a command and cannot be made
// again: $XDG_STATE_HOME/kb, or ~/.local/state/kb.
func (s *settings) stateDir() (string, error) {
	if dir, ok := s.env.lookup("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "kb"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", withHint(fmt.Errorf("no folder for sessions: %w", err), "set XDG_STATE_HOME to a folder that can be written")
	}
	return filepath.Join(home, ".local", "state", "kb"), nil
}

// sharedSessions are those in Redis; while it is down, a command remembers
// its own turns.
type sharedSessions struct {
	redis, memory session.Store
	breaker       *cache.Breaker
}

func (s *sharedSessions) Turns(ctx context.Context, name string) ([]session.Turn, error) {
	if s.breaker.Usable() {
		turns, err := s.redis.Turns(ctx, name)
		if s.breaker.Note(ctx, err) {
			return turns, nil
		}
	}
	return s.memory.Turns(ctx, name)
}

func (s *sharedSessions) Append(ctx context.Context, name string, t session.Turn) error {
	if s.breaker.Usable() && s.breaker.Note(ctx, s.redis.Append(ctx, name, t)) {
		return nil
	}
	return s.memory.Append(ctx, name, t)
}

func (s *sharedSessions) Delete(ctx context.Context, name string) error {
	if s.breaker.Usable() && s.breaker.Note(ctx, s.redis.Delete(ctx, name)) {
		return nil
	}
	return s.memory.Delete(ctx, name)
}
