package osfile

import (
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
