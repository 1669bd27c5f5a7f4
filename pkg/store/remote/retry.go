package remote

import (
	"context"
	"time"
)

// Retry calls f up to four times, as long as it says that it may be called
// again, with pauses of 0.1, 0.4 and 1.6 seconds. All calls of an [Engine] may
// be repeated: keys are never given out twice, and who claims a name again is
// told that he has it.
func Retry(ctx context.Context, f func() (again bool, err error)) error {
	pauses := []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1600 * time.Millisecond}
	for i := 0; ; i++ {
		again, err := f()
		if err == nil || !again || i == len(pauses) || ctx.Err() != nil {
			return err
		}
		if err := pause(ctx, pauses[i]); err != nil {
			return err
		}
	}
}
