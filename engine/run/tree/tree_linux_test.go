package tree

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A process adopts orphans as long as it has a tree that is open, and not afterwards: what is started later may belong to somebody else.
func TestAdoptsWhileOpen(t *testing.T) {
	adopts := func() bool {
		t.Helper()
		var on int32
		if err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		return on != 0
	}
	first, err := New(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := New(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tree *Tree
		want bool
	}{{first, true}, {second, false}} {
		if !adopts() {
			t.Error("the orphans of an open tree are not adopted")
		}
		if err := c.tree.Close(); err != nil {
			t.Error(err)
		}
		if adopts() != c.want {
			t.Errorf("orphans are adopted: %t, want %t", !c.want, c.want)
		}
	}
}
