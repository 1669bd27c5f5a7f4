package remote

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"kb/pkg/store"
)

const (
	leaseTime  = time.Minute // that a lease holds without being renewed
	renewEvery = 15 * time.Second
	leasePoll  = 250 * time.Millisecond
	// Grace is how long rows stay that a change has replaced.
	Grace = 10 * time.Minute
)

// lease is the right to write, for a while. The first writer claims lease-1;
// who finds it run out claims lease-2, and so on, until all are freed.
type lease struct {
	s     *Store
	group string
	n     int
	stop  context.CancelFunc
	done  sync.WaitGroup
}

func newGroup() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func leaseName(n int) string        { return fmt.Sprintf("lease-%d", n) }
func leaseKey(n int) string         { return fmt.Sprintf("%s/%d", kindLease, n) }
func changeKey(group string) string { return kindChange + "/" + group }

// commitName is the name that a change must claim to be committed, with its
// group as the holder, or to be given up for good, with any other.
func commitName(group string) string { return "change-" + group }

const givenUp = "given-up"

// lock waits for the lease, or fails with [store.ErrLocked].
func (s *Store) lock(ctx context.Context, wait bool) (*lease, error) {
	if err := s.engine.Create(ctx); err != nil {
		return nil, err
	}
	group := newGroup()
	for {
		l, err := s.tryLock(ctx, group)
		if err != nil || l != nil {
			return l, err
		}
		if !wait {
			return nil, fmt.Errorf("%s: %w", s.Name(), store.ErrLocked)
		}
		if err := pause(ctx, leasePoll); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// tryLock returns nil if another writer has the lease.
func (s *Store) tryLock(ctx context.Context, group string) (*lease, error) {
	for n := 1; ; n++ {
		holder, err := s.engine.Claim(ctx, leaseName(n), fmt.Sprintf("%s-%d", group, s.now().Add(leaseTime).Unix()))
		if err != nil {
			return nil, err
		}
		other, until, _ := strings.Cut(holder, "-")
		if other == group {
			return s.held(ctx, group, n)
		}
		alive, err := s.alive(ctx, n, until)
		if err != nil || alive {
			return nil, err
		}
		if err := s.giveUp(ctx, other); err != nil {
			return nil, err
		}
	}
}

// held begins to renew a lease.
func (s *Store) held(ctx context.Context, group string, n int) (*lease, error) {
	l := &lease{s: s, group: group, n: n, stop: func() {}}
	if err := l.renew(ctx); err != nil {
		l.release()
		return nil, err
	}
	renewing, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.done.Go(func() {
		for pause(renewing, renewEvery) == nil {
			_ = l.renew(renewing) // if it fails for a minute, the lease is lost, and Commit says so
		}
	})
	return l, nil
}

func (l *lease) renew(ctx context.Context) error {
	until := strconv.FormatInt(l.s.now().Add(leaseTime).Unix(), 10)
	return l.s.engine.Put(ctx, []Row{{Key: leaseKey(l.n), Kind: kindLease, Group: l.group, Data: l.group + "-" + until}})
}

// alive says whether the lease holds that ran, when it was claimed, until then.
func (s *Store) alive(ctx context.Context, n int, until string) (bool, error) {
	row, err := s.newestRow(ctx, kindLease, leaseKey(n))
	if err != nil {
		return false, err
	}
	if _, renewed, ok := strings.Cut(row, "-"); ok {
		until = max(until, renewed) // of the same number of digits until 2286
	}
	end, err := strconv.ParseInt(until, 10, 64)
	return err == nil && s.now().Unix() < end, nil
}

// newestRow returns the data of a row of a kind as it is now, "" if there is
// none.
func (s *Store) newestRow(ctx context.Context, kind, key string) (string, error) {
	rows, err := s.engine.List(ctx, kind)
	for _, r := range rows {
		if r.Key == key {
			return r.Data, err
		}
	}
	return "", err
}

// giveUp takes from a writer whose lease has run out the right to commit. If
// it has committed already, what is missing for others to see that is done.
func (s *Store) giveUp(ctx context.Context, group string) error {
	holder, err := s.engine.Claim(ctx, commitName(group), givenUp)
	if err != nil || holder != group {
		return err
	}
	note, err := s.newestRow(ctx, kindChange, changeKey(group))
	if err != nil || note == "" {
		return err // its head was written before this row was deleted
	}
	m, err := s.parseManifest(note)
	if err != nil {
		return err
	}
	row, err := m.row()
	if err != nil {
		return err
	}
	return s.engine.Put(ctx, []Row{row})
}

// release frees the lease, and those of dead writers before it, in the order in
// which they are claimed.
func (l *lease) release() {
	l.stop()
	l.done.Wait()
	ctx, cancel := cleanup()
	defer cancel()
	for n := 1; n <= l.n; n++ {
		if err := errors.Join(l.s.engine.Delete(ctx, []string{leaseKey(n)}), l.s.engine.Unclaim(ctx, leaseName(n))); err != nil {
			return // it runs out by itself
		}
	}
}

// cleanup is a context for what should still be done when the caller's has
// ended.
func cleanup() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 20*time.Second)
}
