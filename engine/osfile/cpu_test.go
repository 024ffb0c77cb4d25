package osfile

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// TestCPUTime: a thread that computes uses time, and one that waits uses none.
func TestCPUTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, process := ThreadTime(), ProcessTime()
	time.Sleep(30 * time.Millisecond)
	if used := ThreadTime() - thread; runtime.GOOS == "linux" && used > 15*time.Millisecond {
		t.Errorf("a thread that waited used %s", used)
	}
	n := 0
	for ThreadTime()-thread < 30*time.Millisecond && n < 1e9 {
		n++
	}
	if ThreadTime()-thread < 30*time.Millisecond || ProcessTime()-process < 20*time.Millisecond {
		t.Errorf("thread %s, process %s after %d rounds", ThreadTime()-thread, ProcessTime()-process, n)
	}
}

// TestWithCPUTime: only CPU time counts against the limit.
func TestWithCPUTime(t *testing.T) {
	start := ProcessTime()
	ctx, cancel := WithCPUTime(context.Background(), 50*time.Millisecond)
	defer cancel()
	for n := 0; ctx.Err() == nil && ProcessTime()-start < 30*time.Second; n++ {
	}
	if used := ProcessTime() - start; context.Cause(ctx) != context.DeadlineExceeded || used < 50*time.Millisecond {
		t.Errorf("%v after %s of CPU time", context.Cause(ctx), used)
	}
	ctx, cancel = WithCPUTime(context.Background(), time.Hour)
	if cancel(); context.Cause(ctx) != context.Canceled {
		t.Errorf("after the end of the work: %v", context.Cause(ctx))
	}
}
