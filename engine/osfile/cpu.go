package osfile

import (
	"context"
	"runtime"
	"time"
)

// WithCPUTime returns a context that ends, with the cause context.DeadlineExceeded, when this
// process has used so much more CPU time. A machine that is busy with other work does not end it
// sooner.
func WithCPUTime(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	end := ProcessTime() + limit
	wait := func() time.Duration { // not longer than until the limit can be reached
		return max((end-ProcessTime())/time.Duration(runtime.NumCPU()), time.Millisecond)
	}
	go func() {
		timer := time.NewTimer(wait())
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			if ProcessTime() >= end {
				cancel(context.DeadlineExceeded)
				return
			}
			timer.Reset(wait())
		}
	}()
	return ctx, func() { cancel(nil) }
}
