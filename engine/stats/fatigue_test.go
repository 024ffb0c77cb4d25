package stats

import (
	"reflect"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// asked is a session in which people are asked: a record a second.
func asked(c *Collector, list ...*engine.Record) Fatigue {
	c.Begin("s")
	for i, r := range list {
		r.N, r.T, r.Chain = int64(i+1), 1000*int64(i+1), "0123456789abcdef"
		c.Add(r)
	}
	c.End(false)
	return c.Document().Fatigue
}

func pre(call string, effect engine.Verdict, effects ...engine.Effect) *engine.Record {
	return &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Call: call, Action: &engine.Action{Effects: effects},
		Answer: &engine.AnswerFacts{Effect: effect}}
}

func post(call string, o engine.Outcome) *engine.Record {
	return &engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: call, Answer: &engine.AnswerFacts{Effect: engine.Allow},
		Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: o, MS: 400}}}
}

func request(call string, g *engine.Granted) *engine.Record {
	return &engine.Record{Kind: engine.KindNote, Phase: engine.PhaseRequest, Call: call, Note: &engine.Note{What: engine.NoteRequest},
		Answer: &engine.AnswerFacts{Effect: engine.Allow, Granted: g}}
}

func write(short string) engine.Effect {
	return engine.Effect{Kind: engine.EffectFileWrite, Verb: "write", Short: short}
}

func TestFatigue(t *testing.T) {
	taken := &engine.Record{Kind: engine.KindAct, Call: "a", Act: &engine.Act{Kind: engine.ActCheckpoint,
		Checkpoint: &engine.CheckpointFacts{ID: "c1"}}}
	back := &engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.CheckpointRollback,
		Rollback: &engine.RollbackFacts{Checkpoint: "c1", Restored: 1}}}
	discard := pre("d", engine.Allow, engine.Effect{Kind: engine.EffectFileWrite, Verb: "discard", Short: "./src"})
	granted := &engine.Granted{Proof: engine.Proof{By: engine.ProofReads}}
	for name, c := range map[string]struct {
		list []*engine.Record
		want [7]int64 // policy, agent, granted, approved, refused, open, undone
	}{
		"approved":            {[]*engine.Record{pre("a", engine.Ask), post("a", engine.OutcomeRan)}, [7]int64{1, 0, 0, 1, 0, 0, 0}},
		"asked by the agent":  {[]*engine.Record{pre("a", engine.Allow), request("a", nil), post("a", engine.OutcomeRan)}, [7]int64{0, 1, 0, 1, 0, 0, 0}},
		"asked once":          {[]*engine.Record{pre("a", engine.Ask), request("a", nil), post("a", engine.OutcomeRan)}, [7]int64{1, 0, 0, 1, 0, 0, 0}},
		"granted":             {[]*engine.Record{pre("a", engine.Allow), request("a", granted), post("a", engine.OutcomeRan)}, [7]int64{0, 0, 1, 0, 0, 0, 0}},
		"refused":             {[]*engine.Record{pre("a", engine.Ask), {Kind: engine.KindPrompt}}, [7]int64{1, 0, 0, 0, 1, 0, 0}},
		"open":                {[]*engine.Record{pre("a", engine.Ask)}, [7]int64{1, 0, 0, 0, 0, 1, 0}},
		"not asked":           {[]*engine.Record{pre("a", engine.Allow), post("a", engine.OutcomeRan)}, [7]int64{}},
		"discarded later":     {[]*engine.Record{pre("a", engine.Ask, write("./src/a.go")), post("a", engine.OutcomeRan), discard}, [7]int64{1, 0, 0, 1, 0, 0, 1}},
		"other files":         {[]*engine.Record{pre("a", engine.Ask, write("./srcs")), post("a", engine.OutcomeRan), discard}, [7]int64{1, 0, 0, 1, 0, 0, 0}},
		"rolled back":         {[]*engine.Record{pre("a", engine.Ask, write("./a")), taken, post("a", engine.OutcomeRan), back}, [7]int64{1, 0, 0, 1, 0, 0, 1}},
		"rolled back, a read": {[]*engine.Record{pre("a", engine.Ask), taken, post("a", engine.OutcomeRan), back}, [7]int64{1, 0, 0, 1, 0, 0, 0}},
	} {
		collector, err := NewCollector(0, "", soon)
		if err != nil {
			t.Fatal(err)
		}
		d := asked(collector, c.list...)
		if got := [7]int64{d.Policy, d.Agent, d.Granted[engine.ProofReads], d.Approved, d.Refused, d.Open, d.Undone}; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// TestFatigueTimes: a question is answered in the time to the result, without that of the call.
func TestFatigueTimes(t *testing.T) {
	collector, err := NewCollector(0, "", soon)
	if err != nil {
		t.Fatal(err)
	}
	d := asked(collector, pre("a", engine.Ask), post("a", engine.OutcomeRan), pre("b", engine.Allow), post("b", engine.OutcomeRan))
	if d.AnswerTime.Max != 600 || d.PerHour != 1200 {
		t.Errorf("answered in %v ms, %v questions per hour; want 600 and 1200", d.AnswerTime.Max, d.PerHour)
	}
}

// decision is how a question that waited ended: the first record of the session.
func decision(do, who, channel string) *engine.Record {
	return &engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: do, Record: "01234567-1",
		Decided: &engine.Decided{Who: who, Channel: channel}}}
}

// TestWaited counts questions that waited outside the agent by what ended them. Only a person's
// answer is an approval or a refusal, and only a person's choice is a control.
func TestWaited(t *testing.T) {
	by := func(do, channel string) *engine.Record { return decision(do, engine.DecidedPerson, channel) }
	approve, deny := by(engine.ControlApprove, "http"), by(engine.ControlDeny, "terminal")
	for name, c := range map[string]struct {
		list     []*engine.Record
		waited   string
		answers  Questions // without the share
		tired    [3]int64  // approved, refused, open
		longest  float64   // milliseconds to the answer
		controls int
	}{
		"approved and run": {[]*engine.Record{approve, post("a", engine.OutcomeRan)}, "http", Questions{Asked: 1, Approved: 1}, [3]int64{1, 0, 0}, 1000, 1},
		"approved":         {[]*engine.Record{approve}, "http", Questions{Asked: 1, Approved: 1}, [3]int64{0, 0, 1}, 1000, 1},
		"denied":           {[]*engine.Record{deny, {Kind: engine.KindPrompt}}, "terminal", Questions{Asked: 1, Refused: 1}, [3]int64{0, 1, 0}, 1000, 1},
		"nobody answered": {[]*engine.Record{decision(engine.ControlDeny, engine.DecidedTimeout, ""), {Kind: engine.KindPrompt}}, "timeout",
			Questions{Asked: 1, Ended: 1}, [3]int64{}, 0, 0},
		"stopped": {[]*engine.Record{decision(engine.ControlDeny, engine.DecidedStop, "")}, "stop", Questions{Asked: 1, Ended: 1}, [3]int64{}, 0, 0},
		"changed after the approval": {[]*engine.Record{approve, decision(engine.ControlDeny, engine.DecidedRule, "")}, "rule",
			Questions{Asked: 1, Approved: 1}, [3]int64{}, 1000, 1},
		"of another call": {[]*engine.Record{{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlDeny, Record: "01234567-9",
			Decided: &engine.Decided{Who: engine.DecidedPerson, Channel: "http"}}}}, "http", Questions{Asked: 1, Open: 1}, [3]int64{0, 0, 1}, 0, 1},
	} {
		collector, err := NewCollector(0, "", soon)
		if err != nil {
			t.Fatal(err)
		}
		d := asked(collector, slices.Insert(c.list, 0, pre("a", engine.Ask))...)
		all := collector.Document()
		all.Questions.ApprovedShare = nil
		if got := [3]int64{d.Approved, d.Refused, d.Open}; got != c.tired || all.Questions != c.answers || d.AnswerTime.Max != c.longest || len(all.Controls) != c.controls {
			t.Errorf("%s: %v, %+v, %v ms, %d controls; want %v, %+v, %v ms, %d", name, got, all.Questions, d.AnswerTime.Max, len(all.Controls),
				c.tired, c.answers, c.longest, c.controls)
		}
		for by, n := range d.Waited {
			if (by == c.waited) != (n == 1) {
				t.Errorf("%s: %s ended %d", name, by, n)
			}
		}
		if d.Waited[c.waited] != 1 {
			t.Errorf("%s: %v, want one by %s", name, d.Waited, c.waited)
		}
	}
}
