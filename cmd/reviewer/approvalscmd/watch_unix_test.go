//go:build !windows

package approvalscmd

import (
	"syscall"
	"testing"
)

// A program that was stopped by a signal that nobody can catch learns of it when it is continued.
func TestContinuedProgramHasNoKey(t *testing.T) {
	w, _ := watcherWithKey(t)
	if err := w.interrupted(syscall.SIGCONT, nil); err != nil {
		t.Fatal(err)
	}
	if act, _ := w.window.Act(); act != nil {
		t.Error("the key is kept")
	}
}
