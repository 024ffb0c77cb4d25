// Package sweep chooses which part of a long sweep a test checks, and notes in the test's output
// what was checked.
//
// With REVIEWER_EVERY=1 (make fidelity) a sweep is complete. Else a sample of it is checked, which
// REVIEWER_SAMPLE selects: any text. Without it the sample is always the same.
//
// Out of scope: anything that ships. Only tests import it.
package sweep

import (
	"fmt"
	"hash/fnv"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Every reports whether sweeps are complete.
func Every() bool { return os.Getenv("REVIEWER_EVERY") != "" }

// Some is few, or all if sweeps are complete.
func Some(few, all int) int {
	if Every() {
		return all
	}
	return few
}

// Has reports whether an item, by its index, is checked if one of n is.
func Has(i, n int) bool { return Every() || i%n == first(n) }

// Nth returns the items of a list that are checked if one of n is; all with n = 1.
func Nth[T any](list []T, n int) []T {
	var part []T
	for i := first(n); i < len(list); i += n {
		part = append(part, list[i])
	}
	return part
}

// first is the index of the first item of the sample.
func first(n int) int {
	sample := os.Getenv("REVIEWER_SAMPLE")
	if sample == "" {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(sample))
	return int(h.Sum32() % uint32(n))
}

// Count returns a counter of what a test checks. When the test ends, the count and the processor
// time of the process meanwhile become an attribute of the test; a count of 0 fails it.
func Count(t testing.TB, what string) *atomic.Int64 {
	var n atomic.Int64
	start := osfile.ProcessTime()
	t.Cleanup(func() {
		if n.Load() == 0 && !t.Failed() && !t.Skipped() {
			t.Errorf("no %s were checked; REVIEWER_SAMPLE is %q", what, os.Getenv("REVIEWER_SAMPLE"))
		}
		t.Attr("sweep", fmt.Sprintf("%d %s in %s", n.Load(), what, (osfile.ProcessTime()-start).Round(100*time.Millisecond)))
	})
	return &n
}
