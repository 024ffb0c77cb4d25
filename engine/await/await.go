// Package await lets tests wait for what other processes do.
//
// Out of scope: anything that ships. Only tests import it.
package await

import (
	"testing"
	"time"
)

// Holds reports whether a condition comes to hold within minutes: far longer than anything
// takes, however busy the machine is.
func Holds(condition func() bool) bool {
	for range 20_000 {
		if condition() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// Until waits for a condition, or fails the test.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !Holds(condition) {
		t.Fatalf("waited in vain until %s", what)
	}
}
