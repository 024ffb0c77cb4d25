package simulate

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// countingDetector counts how often it searches an event.
type countingDetector struct {
	found    string
	searched int
}

func (d *countingDetector) Detect(engine.Event) map[string]int64 {
	d.searched++
	return map[string]int64{d.found: 1}
}

// Policies with the same detectors search an event once; others search it themselves.
func TestSameDetectorsSearchOnce(t *testing.T) {
	one, other := &countingDetector{found: "shop.token"}, &countingDetector{found: "shop.order"}
	policy, same := &review.Policy{Detector: one, Detectors: "a"}, &review.Policy{Detector: one, Detectors: "a"}
	different := &review.Policy{Detector: other, Detectors: "b"}
	for range 2 { // each event again
		found := detections{}
		for _, p := range []*review.Policy{policy, same, different, policy} {
			want := p.Detector.(*countingDetector).found
			if got := found.of(p, engine.Event{}); len(got) != 1 || got[want] != 1 {
				t.Errorf("found %v, want %s", got, want)
			}
		}
	}
	if one.searched != 2 || other.searched != 2 {
		t.Errorf("%d and %d searches of two events", one.searched, other.searched)
	}
}
