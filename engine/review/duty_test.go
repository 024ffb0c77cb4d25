package review

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/google/go-cmp/cmp"
)

// Which duties follow from a record, and about which records.
func TestDuties(t *testing.T) {
	says := func(v engine.Verdict, change func(*engine.Record)) *engine.Record {
		rec := &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Call: "c1", Event: &engine.EventFacts{}, Action: &engine.Action{},
			Decision: &engine.Decision{Decision: v, Enforced: v}, Answer: &engine.AnswerFacts{Effect: v}}
		if change != nil {
			change(rec)
		}
		return rec
	}
	saves := func(rec *engine.Record) { rec.Decision.Obligations = []string{engine.ObligationCheckpoint} }
	intervenes := func(kind string) func(*engine.Record) {
		return func(rec *engine.Record) {
			rec.Decision.Intervention = &engine.Intervention{Kind: kind, Checkpoint: "00000000-2"}
		}
	}
	does := func(what ...string) func(*engine.Record) {
		return func(rec *engine.Record) {
			rec.Decision.Intervention = &engine.Intervention{Kind: "own", Checkpoint: "00000000-2", Does: what}
		}
	}
	saved := &engine.Record{Kind: engine.KindAct, Call: "c1",
		Act: &engine.Act{Kind: engine.ActCheckpoint, Result: engine.CheckpointTaken, Checkpoint: &engine.CheckpointFacts{ID: "00000000-2"}}}
	ended := &engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: "c1", Action: &engine.Action{},
		Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.OutcomeRan}}}
	for _, c := range []struct {
		name    string
		records []*engine.Record // after the one that opens the chain, number 1; the last one has the duties
		want    []Duty
	}{
		{"a call that is allowed", []*engine.Record{says(engine.Allow, nil)}, nil},
		{"a call that changes files", []*engine.Record{says(engine.Allow, saves)}, []Duty{{Kind: Checkpoint, Of: 2, First: true}}},
		{"a call that does not run", []*engine.Record{says(engine.Block, saves)}, nil},
		{"an obligation of the policy's own", []*engine.Record{says(engine.Warn, func(rec *engine.Record) {
			rec.Decision.Obligations = []string{"line", "line"}
		})}, []Duty{{Kind: "line", Of: 2}}},
		{"a question that waits", []*engine.Record{says(engine.Ask, func(rec *engine.Record) { rec.Answer.Pending = &engine.Pending{} })},
			[]Duty{{Kind: Wait, Of: 2}}},
		{"a call that is answered before its review", []*engine.Record{says(engine.Allow, func(rec *engine.Record) {
			rec.Decision.Source = engine.SourceAsync
		})}, []Duty{{Kind: ReviewLate, Of: 2}}},
		{"a reminder", []*engine.Record{says(engine.Warn, intervenes(engine.ContextReinforcement))}, []Duty{{Kind: Remind, Of: 2}}},
		{"a stop", []*engine.Record{says(engine.Block, intervenes(engine.EmergencyStop))}, []Duty{{Kind: Stop, Of: 2}, {Kind: Remind, Of: 2}}},
		{"a stop of a session that is stopped", []*engine.Record{
			{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlStop}}, says(engine.Block, intervenes(engine.EmergencyStop))},
			[]Duty{{Kind: Remind, Of: 3}}},
		{"a rollback", []*engine.Record{says(engine.Warn, intervenes(engine.CheckpointRollback))},
			[]Duty{{Kind: Remind, Of: 2}, {Kind: Restore, Of: 2}}},
		{"a stop by a kind of the organisation's own", []*engine.Record{says(engine.Block, does(engine.DoesStop))},
			[]Duty{{Kind: Stop, Of: 2}, {Kind: Remind, Of: 2}}},
		{"a rollback, or else a question, by such a kind", []*engine.Record{says(engine.Ask, does(engine.DoesWait, engine.DoesRestore))},
			[]Duty{{Kind: Remind, Of: 2}, {Kind: Restore, Of: 2}}},
		{"limits by such a kind", []*engine.Record{says(engine.Warn, does(engine.DoesLimit))}, []Duty{{Kind: Remind, Of: 2}}},
		{"a rollback that a hook did not finish", []*engine.Record{says(engine.Warn, intervenes(engine.CheckpointRollback)),
			says(engine.Allow, func(rec *engine.Record) { rec.Call = "c2" })}, []Duty{{Kind: Restore, Of: 2}}},
		{"the end of a call whose files were stored", []*engine.Record{says(engine.Allow, saves), saved, ended},
			[]Duty{{Kind: Observe, Of: 2, Saved: 3}}},
		{"the end of a call", []*engine.Record{says(engine.Allow, nil), ended}, nil},
		{"a prompt", []*engine.Record{{Kind: engine.KindPrompt, Phase: engine.PhasePrompt}}, nil},
	} {
		h := history.New()
		h.Lenient = true
		h.Append(&engine.Record{N: 1, Kind: engine.KindOpen, Chain: strings.Repeat("0", 32), Open: &engine.Open{Workspace: "/w"}})
		var last *engine.Record
		for i, rec := range c.records {
			own := *rec
			own.N, own.Chain, own.Agent = int64(i+2), strings.Repeat("0", 32), engine.MainAgent
			h.Append(&own)
			last = &own
		}
		if d := cmp.Diff(c.want, Duties(last, h)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}
