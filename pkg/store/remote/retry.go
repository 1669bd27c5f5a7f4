package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Patience is how long one call may take by default: one that builds an index of
// what was written before takes seconds.
const Patience = 2 * time.Minute

// Connection says how the server of an engine is called.
type Connection struct {
	Now   func() time.Time                      // the clock; nil is time.Now
	Proxy func(*http.Request) (*url.URL, error) // nil for none
	// Patience is how long one call may take; 0 is [Patience].
	Patience time.Duration
}

// SlowError is a call that was given up. It is not made again: a server that is
// overloaded would only have more to do.
type SlowError struct{ After time.Duration }

func (e *SlowError) Error() string {
	return fmt.Sprintf("no whole answer within %v (is the server overloaded, or does the network lose what is sent?)", e.After)
}

// Within makes a call that may take no longer than a time.
func Within(ctx context.Context, limit time.Duration, call func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := call(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return &SlowError{limit}
	}
	return err
}

// Retry calls f up to four times, as long as it says that it may be called
// again and did not take too long, with pauses of 0.1, 0.4 and 1.6 seconds. All calls of an [Engine] may
// be repeated: keys are never given out twice, and who claims a name again is
// told that he has it.
func Retry(ctx context.Context, f func() (again bool, err error)) error {
	pauses := []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1600 * time.Millisecond}
	for i := 0; ; i++ {
		again, err := f()
		if slow := new(SlowError); err == nil || !again || errors.As(err, &slow) || i == len(pauses) || ctx.Err() != nil {
			return err
		}
		if err := pause(ctx, pauses[i]); err != nil {
			return err
		}
	}
}
