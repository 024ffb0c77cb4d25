package simulate

import (
	"encoding/json"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
)

// folding is the history of chains that are read one after the other.
type folding struct {
	chain   string
	history *engine.History
	foreign bool // the state was folded by another version: nothing here can be compared
}

// begin makes the history ready for the next record, which is then to be looked
// at and folded. Where the records before a keyframe are gone, its state is
// taken over; kept says that they were there, so that it can be compared.
func (f *folding) begin(rec *engine.Record) (kept bool, err error) {
	if rec.Chain != f.chain {
		f.chain, f.history, f.foreign = rec.Chain, engine.NewHistory(), false
	}
	if rec.Kind != engine.KindKeyframe || rec.State == nil {
		return false, nil
	}
	ours := rec.State.Fold == engine.FoldVersion
	if !f.foreign && !f.history.Empty() {
		return ours, nil // all that came before was folded here
	}
	if f.foreign = !ours; f.foreign {
		return false, nil
	}
	own, err := clone(rec.State)
	if err == nil {
		f.history = own
	}
	return false, err
}

// clone keeps folding from changing the caller's record.
func clone(h *engine.History) (*engine.History, error) {
	raw, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("copy state: %w", err)
	}
	own := engine.NewHistory()
	if err := json.Unmarshal(raw, own); err != nil {
		return nil, fmt.Errorf("copy state: %w", err)
	}
	return own, nil
}
