package simulate

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// folding is the history of chains that are read one after another.
type folding struct {
	chain   string
	history *history.State
	foreign bool // the state was folded by another version: nothing here can be compared
}

// begin prepares the history for the next record, which is then to be examined
// and folded. If the records before a keyframe are missing, its state is
// adopted; kept is the state if they were present, so that it can be compared.
func (f *folding) begin(rec *engine.Record) (kept *history.State, err error) {
	if rec.Chain != f.chain {
		f.chain, f.history, f.foreign = rec.Chain, lenient(), false
	}
	if rec.Kind != engine.KindKeyframe || rec.State == nil {
		return nil, nil
	}
	state, err := history.Decode(rec.State)
	if err != nil {
		return nil, err
	}
	ours := state.Fold == history.FoldVersion
	switch {
	case !f.foreign && !f.history.Empty() && ours:
		return state, nil // everything before it was folded here
	case !f.foreign && !f.history.Empty():
		return nil, nil
	}
	if f.foreign = !ours; ours {
		f.history = state
		f.history.Lenient = true
	}
	return nil, nil
}
