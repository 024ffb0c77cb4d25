package signed

import (
	"bytes"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// lockedMemory returns the line of /proc about the memory that may not be swapped out.
func lockedMemory(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := bytes.Cut(status, []byte("\nVmLck:"))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	return string(bytes.TrimSpace(line))
}

func TestKeyIsLocked(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil || limit.Cur < 64<<10 {
		t.Skipf("this process may lock %d bytes, %v", limit.Cur, err)
	}
	before := lockedMemory(t)
	w := Window{Limit: time.Hour, Clock: Now}
	w.Open(newAct(t))
	if open := lockedMemory(t); open == before {
		t.Errorf("with a key: %s, before: %s", open, before)
	}
	w.Wipe()
	if after := lockedMemory(t); after != before {
		t.Errorf("after the key was wiped: %s, before: %s", after, before)
	}
}

func TestHarden(t *testing.T) {
	if err := Harden(); err != nil {
		t.Fatal(err)
	}
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		t.Errorf("dumpable is %d, %v", dumpable, err)
	}
	var core unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &core); err != nil || core.Cur != 0 || core.Max != 0 {
		t.Errorf("the limit of core dumps is %+v, %v", core, err)
	}
}
