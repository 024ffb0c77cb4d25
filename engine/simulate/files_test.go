package simulate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// What another policy would have stored and restored is compared by what it is, not only by
// its kind.
func TestCompareFiles(t *testing.T) {
	back := func(id string, asks bool) *engine.Intervention {
		return &engine.Intervention{Kind: engine.CheckpointRollback, Checkpoint: id, Asks: asks}
	}
	for name, c := range map[string]struct {
		was, is policy
		want    string
	}{
		"neither asks for anything": {policy{patience: 9}, policy{patience: 9}, "nil"},
		"the same": {policy{patience: 9, stores: true, back: back("a-1", false)}, policy{patience: 9, stores: true, back: back("a-1", false)},
			"{1 1 0} {1 1 0}"},
		"no checkpoints": {policy{patience: 9, stores: true}, policy{patience: 9}, "{1 0 1} {0 0 0} checkpoint: taken -> none"},
		"another checkpoint": {policy{patience: 9, back: back("a-2", false)}, policy{patience: 9, back: back("a-1", false)},
			"{0 0 0} {1 1 1} rollback: to a-2 -> to a-1"},
		"a person is asked": {policy{patience: 9, back: back("a-2", false)}, policy{patience: 9, back: back("a-2", true)},
			"{0 0 0} {1 1 1} rollback: to a-2 -> offered to a-2"},
		"none is suitable": {policy{patience: 9, back: back("a-2", true)}, policy{patience: 9, back: back("", false)},
			"{0 0 0} {1 1 1} rollback: offered to a-2 -> none can be restored"},
	} {
		s := recordedStory(t, "a", c.was, "Read")
		m := compareAll(t, Comparison{Baseline: recordedSide(), Candidates: []Side{side("new", c.is)}}, s)
		if got := toldFiles(m.Files); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func toldFiles(f *FileChanges) string {
	if f == nil {
		return "nil"
	}
	text := fmt.Sprint(f.Checkpoints, " ", f.Rollbacks)
	for _, s := range f.Steps {
		text += fmt.Sprintf(" %s: %s -> %s", s.What, s.From, s.To)
	}
	return text
}

// The sum of sessions does not depend on their order.
func TestMergeFiles(t *testing.T) {
	back := &engine.Intervention{Kind: engine.CheckpointRollback, Checkpoint: "a-1"}
	stories := []RecordedSession{
		recordedStory(t, "a", policy{patience: 9, stores: true}, "Read", "Write"),
		recordedStory(t, "b", policy{patience: 9, stores: true}, "Read"),
		recordedStory(t, "c", policy{patience: 9}, "Read"),
	}
	c := Comparison{Baseline: recordedSide(), Candidates: []Side{side("new", policy{patience: 9, back: back})}}
	one := toldFiles(compareAll(t, c, stories...).Files)
	slices.Reverse(stories)
	if other := toldFiles(compareAll(t, c, stories...).Files); one != other {
		t.Errorf("%s, and in reverse %s", one, other)
	}
}
