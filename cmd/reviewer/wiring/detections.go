package wiring

import (
	"slices"
	"sync"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/rego"
)

// DetectionReaders returns a function that lists what reads the result of a detector in a policy: the ids of conditions that
// it can only let fire (match.detected), and other readers, which are conditions and files of Rego. Several goroutines may
// call it at once.
func DetectionReaders(e *bundles.Effective) func(id string) (conditions, others []string) {
	var mu sync.Mutex
	known := map[string][2][]string{}
	policy := sync.OnceValues(func() ([]cel.Condition, *rego.Detections) {
		return AllConditions(e), rego.DetectionsIn(e.Modules())
	})
	return func(id string) (conditions, others []string) {
		mu.Lock()
		defer mu.Unlock()
		r, there := known[id]
		if !there {
			list, modules := policy()
			r = readersOf(id, list, modules)
			known[id] = r
		}
		return r[0], r[1]
	}
}

func readersOf(id string, list []cel.Condition, modules *rego.Detections) (r [2][]string) {
	r[1] = modules.Readers(id)
	for i := range list {
		c := &list[i]
		listed := slices.Contains(c.Match.Detected, id)
		switch reads, some := c.ReadsDetection(id); {
		case reads, listed && some:
			r[1] = append(r[1], c.ID)
		case listed:
			r[0] = append(r[0], c.ID)
		}
	}
	return r
}
