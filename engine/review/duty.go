package review

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Kind is a kind of duty.
type Kind string

// The kinds of duties that reviewer knows. An obligation of a decision is a duty of the same name, so a base policy can ask for others.
const (
	Stop       Kind = "stop"                      // end the session
	Remind     Kind = "remind"                    // quote the person's words, and the agent's own list, in the text for the agent
	ReviewLate Kind = "review_late"               // make the review of a call that is answered before it
	Wait       Kind = "wait"                      // wait until a person answers the question about the call
	Observe    Kind = "observe"                   // compare what a call changed with what it was expected to change
	Restore    Kind = "restore"                   // restore files to a checkpoint
	Checkpoint Kind = engine.ObligationCheckpoint // store the files of the workspace before the call runs
	Save       Kind = engine.ObligationSave       // the same, and deny or ask about the call unless what it destroys is stored whole
)

// Duty is something that follows from the record of an event: it is carried out before the agent gets its answer, is recorded,
// and can make the answer stricter.
type Duty struct {
	Kind   Kind
	Of     int64 // number of the record with the decision that asks for it
	Result int64 // number of the record of its result, if a hook before this one has carried it out; 0: none has
	Saved  int64 // number of the record of the checkpoint that was taken before the call; 0: none
	First  bool  // the session has no checkpoint yet
	Busy   bool  // another call of the session is running, and may be changing files
}

// Duties lists what must be done about a record that was just appended to the history. It is a pure function, like Review.
func Duties(rec *engine.Record, h *history.State) []Duty {
	var list []Duty
	d := rec.Decision
	if d != nil && d.Stops() && h.Stop != nil && h.Stop.N == rec.N { // no other stop came before
		list = append(list, Duty{Kind: Stop, Of: rec.N})
	}
	if d != nil && d.Intervention != nil {
		list = append(list, Duty{Kind: Remind, Of: rec.N})
	}
	if d != nil && d.Source == engine.SourceAsync {
		list = append(list, Duty{Kind: ReviewLate, Of: rec.N})
	}
	if rec.Answer != nil && rec.Answer.Pending != nil {
		list = append(list, Duty{Kind: Wait, Of: rec.N})
	}
	switch rec.Phase {
	case engine.PhasePre:
		list = append(append(list, restoration(rec, h)...), obligations(rec, h)...)
	case engine.PhasePost:
		if saved := h.Kept(rec.Agent, rec.Call); saved > 0 {
			of := h.Recorded(rec.Agent, rec.Call, engine.PhasePre)
			list = append(list, Duty{Kind: Observe, Of: of, Saved: saved, First: !h.HasCheckpoint(), Busy: h.HasUnfinished(of)})
		}
		list = append(list, restoration(rec, h)...)
	}
	return list
}

// restoration returns the rollback that the answer to a record waits for: its own, or one that a hook did not finish.
func restoration(rec *engine.Record, h *history.State) []Duty {
	of, result := h.Rollback()
	if of == 0 || result > 0 && of != rec.N {
		return nil
	}
	return []Duty{{Kind: Restore, Of: of, Result: result, Busy: h.HasUnfinished(rec.N)}}
}

// obligations are what a decision asks for before the call runs. A call that does not run needs none.
func obligations(rec *engine.Record, h *history.State) []Duty {
	if rec.Decision == nil || rec.Answer == nil || rec.Answer.Effect.Strictness() >= engine.Block.Strictness() {
		return nil
	}
	var list []Duty
	for i, what := range rec.Decision.Obligations {
		if slices.Contains(rec.Decision.Obligations[:i], what) {
			continue
		}
		duty := Duty{Kind: Kind(what), Of: rec.N, Busy: h.HasUnfinished(rec.N)}
		if duty.Kind == Checkpoint || duty.Kind == Save {
			duty.Result, duty.First = h.Kept(rec.Agent, rec.Call), !h.HasCheckpoint()
		}
		list = append(list, duty)
	}
	return list
}
