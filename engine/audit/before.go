package audit

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// before implements history.Tail.Before: it folds the records again, from the nearest
// keyframe on.
func (c *chain) before(n int64) (*history.State, error) {
	if n < 1 || n > c.state.N {
		return nil, fmt.Errorf("fold the records before %d of %d: no such record", n, c.state.N)
	}
	state, start := history.New(), int64(0)
	for r, err := range records(c.dir, max(c.near(n), 1)) {
		if err != nil {
			return nil, err
		}
		if r.N == n {
			break
		}
		if start == 0 {
			if start = r.N; r.N > 1 && r.State == nil {
				return nil, fmt.Errorf("fold the records before %d: %w", n, errPurged)
			}
		}
		if adopted := stateOf(r); adopted != nil {
			state = adopted
		}
		state.Append(r)
	}
	if state.N != n-1 {
		return nil, fmt.Errorf("fold the records before %d: %w", n, errPurged)
	}
	return state, nil
}

// near returns the number of the newest keyframe before a record; 0: there is none.
func (c *chain) near(n int64) int64 {
	if k := c.end.Keyframe; k < n {
		return k
	}
	near := int64(0)
	for r, err := range records(c.dir, 0) {
		if err != nil || r.N >= n {
			break
		}
		if r.Kind == engine.KindKeyframe {
			near = r.N
		}
	}
	return near
}
