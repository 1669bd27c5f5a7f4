// Package cachetest is the conformance suite of caches.
package cachetest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"kb/pkg/cache"
)

// Run holds a cache against what [cache.Cache] promises. wait lets time pass
// for the cache. The cache is empty at first.
func Run(t *testing.T, c cache.Cache, wait func(time.Duration)) {
	ctx := context.Background()
	set := func(ttl time.Duration, entries ...cache.Entry) {
		t.Helper()
		if err := c.Set(ctx, entries, ttl); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want map[string][]byte) {
		t.Helper()
		var keys []string
		for k := range want {
			keys = append(keys, k)
		}
		got, err := c.Get(ctx, keys)
		if err != nil || len(got) != len(keys) {
			t.Fatalf("%d values of %d, %v", len(got), len(keys), err)
		}
		for i, k := range keys {
			if (got[i] == nil) != (want[k] == nil) || !bytes.Equal(got[i], want[k]) {
				t.Errorf("%q is %q, want %q", k, got[i], want[k])
			}
		}
	}

	check(map[string][]byte{"a": nil})
	binary := []byte{0, 0xff, '\r', '\n', '$', 0}
	set(time.Hour, cache.Entry{Key: "a", Value: []byte("one")}, cache.Entry{Key: "binär 键\r\n", Value: binary}, cache.Entry{Key: "empty", Value: []byte{}})
	check(map[string][]byte{"a": []byte("one"), "b": nil, "binär 键\r\n": binary, "empty": {}})
	set(time.Hour, cache.Entry{Key: "a", Value: []byte("two")})
	check(map[string][]byte{"a": []byte("two")})
	set(time.Hour)
	check(nil)

	set(20*time.Millisecond, cache.Entry{Key: "short", Value: []byte("x")}, cache.Entry{Key: "a", Value: []byte("y")})
	wait(60 * time.Millisecond)
	check(map[string][]byte{"short": nil, "a": nil})

	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 50 {
				key := fmt.Sprintf("%d-%d", g, i)
				set(time.Hour, cache.Entry{Key: key, Value: []byte(key)})
				check(map[string][]byte{key: []byte(key)})
			}
		})
	}
	all.Wait()
}
