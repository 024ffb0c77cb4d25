package overview

import (
	"fmt"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

const hour = 3600 * 1000

var key = engine.SessionKey{Harness: "claude-code", Session: "s"}

// made numbers records as a chain does.
func made(list ...*engine.Record) []*engine.Record {
	for i, r := range list {
		r.N, r.Chain = int64(i+1), "f8dc9b3bf8dc9b3bf8dc9b3bf8dc9b3b"
		if r.T == 0 {
			r.T = 100*hour + int64(i)*1000
		}
	}
	return list
}

func call(id, what string, effect engine.Verdict, rules ...engine.RuleResult) *engine.Record {
	return &engine.Record{Kind: engine.KindPre, Call: id, Event: &engine.EventFacts{Tool: "Bash"}, Action: &engine.Action{Resource: what},
		Decision: &engine.Decision{Decision: effect, Enforced: effect, Rules: rules}, Answer: &engine.AnswerFacts{Effect: effect}}
}

func add2(records []*engine.Record) (*Index, *Session) {
	x := NewIndex()
	s := x.Session(key)
	for _, r := range records {
		s.Add(r)
		s.Add(r) // a second time: it counts once
	}
	return x, s
}

func story() []*engine.Record {
	loss := engine.RuleResult{ID: "delete", Decision: engine.Block, Severity: "high", Harm: engine.HarmLoss, Message: "deletes it"}
	ask := engine.RuleResult{ID: "push", Decision: engine.Ask, Severity: "medium", Harm: engine.HarmOutward}
	saved := call("d", "rm b", engine.Allow)
	saved.Decision.Obligations = []string{engine.ObligationSave}
	list := made(
		&engine.Record{Kind: engine.KindOpen, Open: &engine.Open{Workspace: "/srv/shop"}},
		&engine.Record{Kind: engine.KindPrompt},
		call("a", "ls", engine.Allow),
		call("b", "rm a", engine.Block, loss),
		call("c", "git push", engine.Ask, ask),
		&engine.Record{Kind: engine.KindPost, Call: "c", Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.OutcomeRan}},
			Answer: &engine.AnswerFacts{Approvals: []engine.Approval{{Of: "f8dc9b3b-5", Approved: true}}}},
		saved,
		&engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.ActCheckpoint, Of: "f8dc9b3b-7",
			Checkpoint: &engine.CheckpointFacts{ID: "0badcafe-1", Saved: &engine.Saved{Files: 3, Bytes: 40}}}},
		&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlAllowOnce, Record: "f8dc9b3b-4"}},
	)
	return list
}

func TestCounts(t *testing.T) {
	x, s := add2(story())
	want := Tally{Calls: 4, Allowed: 2, Asked: 1, Denied: 1, Saved: 1, Prompts: 1}
	if got := s.Total(); got != want {
		t.Errorf("the session has %+v; want %+v", got, want)
	}
	d := x.Day(100*hour, 0, 10)
	if d.Tally != want || d.Sessions != 1 || len(d.Agents) != 1 || d.Projects[0].Name != "/srv/shop" || d.Quiet() {
		t.Errorf("the day is %+v", d)
	}
	if early := x.Day(0, 100*hour, 10); early.Calls != 0 || !early.Quiet() || len(early.Notable) != 0 {
		t.Errorf("before, there is %+v", early)
	}
	var harms []string
	for _, h := range d.Harms {
		harms = append(harms, h.Name)
	}
	if got := fmt.Sprintf("%q", harms); got != `["" "loss" "outward"]` {
		t.Errorf("harms are %s", got)
	}
}

func TestWhatFollowed(t *testing.T) {
	x, s := add2(story())
	var got []string
	for _, e := range s.Events() {
		got = append(got, fmt.Sprint(e.What, " ", e.Answer, " ", e.Outcome, " ", e.Person, " ", e.Point))
	}
	want := "[rm a block denied overruled  git push ask ran approved  rm b allow pending  0badcafe-1]"
	if fmt.Sprint(got) != want {
		t.Errorf("events are %v; want %s", got, want)
	}
	rules := map[string]Rule{}
	for _, r := range x.Rules() {
		rules[r.ID] = r
	}
	if r := rules["delete"]; r != (Rule{ID: "delete", Fired: 1, Denied: 1, Overruled: 1}) {
		t.Errorf("the rule that was overruled has %+v", r)
	}
	if r := rules["push"]; r != (Rule{ID: "push", Fired: 1, Asked: 1, Approved: 1}) {
		t.Errorf("the rule that asked has %+v", r)
	}
}

// A question that waits outside the agent has an answer and a time; one that nobody answers is neither approved nor refused.
func TestAnswersOutsideTheAgent(t *testing.T) {
	ask := engine.RuleResult{ID: "push", Decision: engine.Ask}
	person := &engine.Decided{Who: engine.DecidedPerson, Channel: "terminal"}
	list := made(call("a", "x", engine.Ask, ask), call("b", "y", engine.Ask, ask), call("c", "z", engine.Ask, ask),
		&engine.Record{Kind: engine.KindControl, T: 100*hour + 60_000, Control: &engine.Control{Do: engine.ControlApprove, Record: "f8dc9b3b-1", Decided: person}},
		&engine.Record{Kind: engine.KindControl, T: 100*hour + 61_000, Control: &engine.Control{Do: engine.ControlDeny, Record: "f8dc9b3b-2", Decided: person}},
		&engine.Record{Kind: engine.KindControl, T: 100*hour + 62_000, Control: &engine.Control{Do: engine.ControlDeny, Record: "f8dc9b3b-3",
			Decided: &engine.Decided{Who: engine.DecidedTimeout}}})
	x, s := add2(list)
	if r := x.Rules()[0]; r.Approved != 1 || r.Refused != 1 || r.Waited != 2 || r.WaitMS != 120_000 {
		t.Errorf("the rule has %+v", r)
	}
	if last := s.Events()[2]; last.Person != Expired || last.Outcome != engine.OutcomeDenied {
		t.Errorf("the question that nobody answered is %+v", last)
	}
}

// Stops come first, then the worst severity and harm; what may have happened comes before what was denied; similar calls are one.
func TestRanked(t *testing.T) {
	e := func(id, rule, severity, harm string, answer engine.Verdict, stop bool) *Event {
		outcome := engine.OutcomeRan
		if answer == engine.Block {
			outcome = engine.OutcomeDenied
		}
		return &Event{ID: id, Rule: rule, Severity: severity, Harm: harm, Answer: answer, Outcome: outcome, Stop: stop}
	}
	var got string
	for _, n := range Ranked([]*Event{
		e("1", "low", "low", engine.HarmLoss, engine.Warn, false), e("2", "a", "high", engine.HarmOutward, engine.Block, false),
		e("3", "b", "high", engine.HarmLoss, engine.Block, false), e("4", "c", "high", engine.HarmLoss, engine.Warn, false),
		e("5", "d", "medium", engine.HarmGuard, engine.Block, true), e("6", "a", "high", engine.HarmOutward, engine.Block, false), e("7", "", "", "", engine.Warn, false),
	}) {
		got += fmt.Sprint(n.ID, "x", n.Times, " ")
	}
	if want := "5x1 4x1 3x1 2x2 1x1 7x1 "; got != want {
		t.Errorf("the order is %q; want %q", got, want)
	}
}

// The events that an index keeps are bounded; the counts are not.
func TestBoundOfEvents(t *testing.T) {
	var list []*engine.Record
	for range MaxEvents + 10 {
		list = append(list, call("", "x", engine.Block, engine.RuleResult{ID: "r", Decision: engine.Block}))
	}
	x, s := add2(made(list...))
	if len(s.Events()) != MaxEvents || s.Total().Denied != MaxEvents+10 || x.Rules()[0].Fired != MaxEvents+10 {
		t.Errorf("%d events, %+v", len(s.Events()), s.Total())
	}
}

// What retention deleted is not listed any more.
func TestKeep(t *testing.T) {
	x, _ := add2(story())
	x.Keep(func(engine.SessionKey) bool { return false })
	if len(x.Sessions()) != 0 {
		t.Error("the session is still listed")
	}
}
