package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// The heap may grow further only until garbage was collected for the first time.
func TestCollectLater(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	collectLater()
	if got := gcPercent(); got != 1600 {
		t.Errorf("at the start: %d percent", got)
	}
	for i := 0; gcPercent() != 400; i++ {
		if i == 500 {
			t.Fatalf("later: %d percent", gcPercent())
		}
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
}

func gcPercent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
