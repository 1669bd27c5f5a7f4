package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisPrefix begins the keys of sessions in Redis; its number changes with
// the form of a turn.
const redisPrefix = "kb:1:session:"

// Redis keeps sessions as lists of JSON, which Redis expires.
type Redis struct {
	client *redis.Client
	ttl    time.Duration
}

// NewRedis returns a store that forgets a session ttl after its last turn.
func NewRedis(client *redis.Client, ttl time.Duration) *Redis { return &Redis{client, ttl} }

// Turns implements [Store].
func (r *Redis) Turns(ctx context.Context, name string) ([]Turn, error) {
	lines, err := r.client.LRange(ctx, redisPrefix+name, -Keep, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", name, err)
	}
	var turns []Turn
	for _, line := range lines {
		var t Turn
		if json.Unmarshal([]byte(line), &t) == nil {
			turns = append(turns, t)
		}
	}
	return turns, nil
}

// Append implements [Store].
func (r *Redis) Append(ctx context.Context, name string, t Turn) error {
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	key := redisPrefix + name
	_, err = r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.RPush(ctx, key, line)
		p.LTrim(ctx, key, -Keep, -1)
		p.PExpire(ctx, key, r.ttl)
		return nil
	})
	if err != nil {
		return fmt.Errorf("session %s: %w", name, err)
	}
	return nil
}

// Delete implements [Store].
func (r *Redis) Delete(ctx context.Context, name string) error {
	if err := r.client.Del(ctx, redisPrefix+name).Err(); err != nil {
		return fmt.Errorf("session %s: %w", name, err)
	}
	return nil
}
