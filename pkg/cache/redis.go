package cache

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisPrefix begins the keys of this cache in Redis; its number changes with
// the form of the values.
const redisPrefix = "kb:1:"

// Redis is a cache that processes share. Redis expires and, where it is
// configured with a memory policy, evicts the entries.
type Redis struct{ client *redis.Client }

// NewRedis returns a cache in Redis. Closing it leaves the client open.
func NewRedis(client *redis.Client) *Redis { return &Redis{client} }

// Get implements [Cache].
func (r *Redis) Get(ctx context.Context, keys []string) ([][]byte, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = redisPrefix + k
	}
	values, err := r.client.MGet(ctx, names...).Result()
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	for i, v := range values {
		if s, ok := v.(string); ok {
			out[i] = []byte(s)
		}
	}
	return out, nil
}

// Set implements [Cache].
func (r *Redis) Set(ctx context.Context, entries []Entry, ttl time.Duration) error {
	if len(entries) == 0 {
		return nil
	}
	_, err := r.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, e := range entries {
			p.Set(ctx, redisPrefix+e.Key, e.Value, ttl)
		}
		return nil
	})
	return err
}

// Close implements [Cache].
func (r *Redis) Close() error { return nil }
