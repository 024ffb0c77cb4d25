package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/await"
)

// The heap may grow further only until garbage was collected for the first time.
func TestCollectLater(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	collectLater()
	if got := gcPercent(); got != 1600 {
		t.Errorf("at the start: %d percent", got)
	}
	await.Until(t, "the heap may grow less", func() bool {
		runtime.GC()
		return gcPercent() == 400
	})
}

func gcPercent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
