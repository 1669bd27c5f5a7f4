// Package sessiontest is the conformance suite of session stores.
package sessiontest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kb/pkg/record"
	"kb/pkg/session"
)

// Run holds an empty store, which forgets after ttl, against what
// [session.Store] promises. wait lets time pass for the store; now is its clock.
func Run(t *testing.T, s session.Store, ttl time.Duration, now func() time.Time, wait func(time.Duration)) {
	ctx := context.Background()
	turns := func(name string) []session.Turn {
		t.Helper()
		got, err := s.Turns(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	appendTurn := func(name string, turn session.Turn) {
		t.Helper()
		if err := s.Append(ctx, name, turn); err != nil {
			t.Error(err)
		}
	}
	numbered := func(n int) session.Turn {
		return session.Turn{Question: strconv.Itoa(n), Answer: strings.Repeat("字\n", 1000), Time: now()}
	}

	if len(turns("a")) != 0 {
		t.Error("a session that nobody began has turns")
	}
	whole := session.Turn{
		Question: "它 \"怎么\" 用?\r\n", Standalone: "rotate_keys 怎么用?", Answer: "<b>\u2028 [1]", Refused: true,
		Citations: []record.Passage{{N: 1, Path: "a.md", Title: "A", Headings: []string{"B"}, Line: 3, Score: 0.5}},
		Claims:    []record.Claim{{Text: "<b>", Cites: []int{1}, Why: "no"}},
		Time:      now().UTC().Round(time.Millisecond),
	}
	appendTurn("a", whole)
	appendTurn("名字", numbered(1))
	if got := turns("a"); len(got) != 1 || !reflect.DeepEqual(got[0], whole) {
		t.Errorf("turns of a: %+v", got)
	}
	if got := turns("名字"); len(got) != 1 || got[0].Question != "1" {
		t.Errorf("turns of another session: %+v", got)
	}

	for name := range slices.Values([]string{"a", "a", "nobody"}) {
		if err := s.Delete(ctx, name); err != nil {
			t.Error(err)
		}
	}
	if len(turns("a")) != 0 || len(turns("名字")) != 1 {
		t.Error("delete forgot the wrong session")
	}

	for i := range session.Keep + 3 {
		appendTurn("long", numbered(i))
	}
	if got := turns("long"); len(got) != session.Keep || got[0].Question != "3" || got[len(got)-1].Question != fmt.Sprint(session.Keep+2) {
		t.Errorf("%d turns of a long session", len(got))
	}

	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { appendTurn("shared", numbered(i)) })
	}
	all.Wait()
	if got := turns("shared"); len(got) != 20 {
		t.Errorf("%d of 20 turns that came at once", len(got))
	}

	wait(ttl + ttl/2)
	for _, name := range []string{"名字", "long", "shared"} {
		if got := turns(name); len(got) != 0 {
			t.Errorf("session %s has %d turns after its time", name, len(got))
		}
	}
	appendTurn("long", numbered(7))
	if got := turns("long"); len(got) != 1 {
		t.Errorf("%d turns of a session that began again", len(got))
	}
}
