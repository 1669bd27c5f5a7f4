package watch

import (
	"context"
	"time"
)

// settle waits, after a first hint, until there was none for the time quiet,
// but no longer than the time most. A save is several events within
// milliseconds, a copied folder is thousands within seconds, and a log that is
// written to never comes to an end.
func settle(ctx context.Context, hints <-chan struct{}, quiet, most time.Duration) {
	end := time.NewTimer(most)
	defer end.Stop()
	calm := time.NewTimer(quiet)
	defer calm.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			return
		case <-calm.C:
			return
		case <-hints:
			calm.Reset(quiet)
		}
	}
}
