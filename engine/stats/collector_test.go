package stats

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

func TestDocument(t *testing.T) {
	got := told("", 0, eventful())
	want := Document{
		First: 1769860800000, Last: 1769860800000,
		Sessions: Sessions{Total: 1, Stopped: 1},
		Records:  []Kind{{engine.KindPre, 9}, {engine.KindAct, 3}, {engine.KindControl, 2}, {engine.KindNote, 2}, {engine.KindOpen, 1}, {engine.KindPost, 1}},
		Calls:    Verdicts{Total: 9, Allow: 3, Warn: 1, Modify: 1, Ask: 1, Block: 3},
		Policy:   Verdicts{Total: 9, Allow: 2, Warn: 1, Modify: 1, Ask: 1, Block: 4}, Prefiltered: 1,
		Decisions: []Decision{
			{"pre", "allow", "allow", "enforced", 2},
			{"pre", "block", "block", "enforced", 2},
			{"post", "allow", "allow", "enforced", 1},
			{"pre", "", "block", "degraded", 1},
			{"pre", "ask", "ask", "enforced", 1},
			{"pre", "block", "allow", "observe", 1},
			{"pre", "modify", "modify", "enforced", 1},
			{"pre", "warn", "warn", "enforced", 1},
		},
		Questions: Questions{Asked: 1, Approved: 1, ApprovedShare: &Rate{1, 0.2065, 1}},
		Tools:     []Group{{"Bash", Verdicts{8, 3, 1, 1, 1, 2}}, {"Write", Verdicts{Total: 1, Block: 1}}},
		Rules: []Rule{
			{"credential_access", "ask", 1}, {"exfiltration", "block", 1}, {"git_force_push", "modify", 1},
			{"loop", "block", 1}, {"loop", "warn", 1}, {"remote_code", "block", 1}, {"workspace", "block", 1},
		},
		Patterns: []Pattern{{"loop", "medium", 1, 1}},
		Interventions: []Intervention{
			{"ask", "credential_access", Open, 1}, {"emergency_stop", "exfiltration", Open, 1}, {"modify", "git_force_push", Open, 1},
			{"block", "loop", Open, 1}, {"warn", "loop", Returned, 1},
		},
		Escalations: []Escalation{{"loop", 1}},
		Controls:    []Control{{"stop", 1}},
		Errors:      []Error{{ErrorCondition, "broken", 1}, {ErrorDegraded, "", 1}, {ErrorRecovered, "", 1}, {ErrorRewrite, "", 1}, {ErrorRule, "mine", 1}},
		Damaged:     []DamagedSession{},
	}
	want.CPUTime, want.Slow = got.CPUTime, 1
	want.Async = Async{Answered: 1, Reviews: Verdicts{Total: 2, Warn: 1, Block: 1}, Failed: 1}
	want.ReviewTime, want.Checkpoints, want.Observed = got.ReviewTime, got.Checkpoints, []ObservedProgram{}
	want.Fatigue = Fatigue{Policy: 1, Granted: map[string]int64{}, Waited: map[string]int64{"timeout": 1}, Open: 1, AnswerTime: newTimes().document()}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if r := got.ReviewTime; r.Count != 9 || r.SumMS != 60 || r.Max != 30 {
		t.Errorf("review time is %+v", r)
	}
	if r := got.CPUTime; r.Count != 2 || r.SumMS != 125 || r.Max != 120 {
		t.Errorf("CPU time is %+v", r)
	}
}

func TestNothing(t *testing.T) {
	b, err := json.Marshal(told("", 0))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	for name, value := range doc {
		if value == nil {
			t.Errorf("%s is null", name)
		}
	}
}

func TestGroupings(t *testing.T) {
	late := newTale()
	late.t += 24 * 3600 * second
	late.call(engine.Warn, "loop").Agent = "reader"
	for by, want := range map[Grouping][]Group{
		"":        nil,
		ByTool:    {{"Bash", Verdicts{9, 3, 2, 1, 1, 2}}, {"Write", Verdicts{Total: 1, Block: 1}}},
		BySession: {{"session-0", Verdicts{9, 3, 1, 1, 1, 3}}, {"session-1", Verdicts{Total: 1, Warn: 1}}},
		ByAgent:   {{"main", Verdicts{9, 3, 1, 1, 1, 3}}, {"reader", Verdicts{Total: 1, Warn: 1}}},
		ByDay:     {{"2026-01-31", Verdicts{9, 3, 1, 1, 1, 3}}, {"2026-02-01", Verdicts{Total: 1, Warn: 1}}},
		ByPattern: {{"loop", Verdicts{Total: 1, Warn: 1}}},
		ByRule: {
			{"loop", Verdicts{Total: 3, Warn: 2, Block: 1}}, {"credential_access", Verdicts{Total: 1, Ask: 1}},
			{"exfiltration", Verdicts{Total: 1, Block: 1}}, {"git_force_push", Verdicts{Total: 1, Modify: 1}},
			{"remote_code", Verdicts{Total: 1, Allow: 1}}, {"workspace", Verdicts{Total: 1, Block: 1}},
		},
	} {
		if d := cmp.Diff(want, told(by, 0, eventful(), late).Groups); d != "" {
			t.Errorf("by %q: %s", by, d)
		}
	}
	if _, err := NewCollector(0, "moon", soon); err == nil {
		t.Error("a grouping that there is not is accepted")
	}
}

// What happened before is not counted, and neither is a session without anything else.
func TestSince(t *testing.T) {
	s := newTale()
	asked := s.call(engine.Ask, "r")
	s.t += 10
	s.other(engine.KindStop, engine.PhaseStop, engine.Allow).Answer.Approvals = []engine.Approval{{Of: asked.ID()}}
	from := s.t
	got := told(ByTool, from, s, eventful())
	if got.Sessions.Total != 1 || got.Calls.Total != 0 || got.First != from || got.Questions.Asked != 0 {
		t.Errorf("%+v", got)
	}
	if d := cmp.Diff([]Kind{{engine.KindStop, 1}}, got.Records); d != "" {
		t.Error(d)
	}
}

// An agent that names a tool after each call fills no memory, and no call is lost.
func TestNamesAreBounded(t *testing.T) {
	s := newTale()
	const calls = 12000
	for i := range calls {
		r := s.call(engine.Warn, fmt.Sprint("rule-", i))
		r.Event.Tool, r.Agent = fmt.Sprint("tool-", i), fmt.Sprint("agent-", i)
		r.Findings = []engine.Finding{{ID: fmt.Sprint("pattern-", i), Level: "low"}}
		r.Decision.Errors = []engine.RuleError{{Rule: fmt.Sprint("rule-", i)}}
	}
	d := told(ByAgent, 0, s)
	for what, n := range map[string][2]int{
		"tools": {len(d.Tools), maxNames}, "rules": {len(d.Rules), maxNames}, "patterns": {len(d.Patterns), maxNames},
		"errors": {len(d.Errors), maxNames}, "interventions": {len(d.Interventions), maxNames}, "agents": {len(d.Groups), maxGroups},
	} {
		if n[0] != n[1]+1 {
			t.Errorf("%d %s, want %d and the others", n[0], what, n[1])
		}
	}
	var sum, acts int64
	for _, g := range d.Tools {
		sum += g.Total
	}
	for _, i := range d.Interventions {
		acts += i.Count
	}
	if sum != calls || acts != calls || d.Tools[0].Key != Other {
		t.Errorf("%d calls of tools, %d interventions, want %d; first is %s", sum, acts, calls, d.Tools[0].Key)
	}
}

func TestDamaged(t *testing.T) {
	c, err := NewCollector(0, "", soon)
	if err != nil {
		t.Fatal(err)
	}
	c.Damaged("s", "line 3")
	c.Damaged("", "line 4")
	c.Ledger(&engine.Record{Kind: engine.KindNote, Note: &engine.Note{What: "undecodable"}})
	c.Ledger(&engine.Record{Kind: engine.KindNote, Note: &engine.Note{What: "doctor"}})
	got := c.Document()
	if d := cmp.Diff([]DamagedSession{{"s", "line 3"}, {"", "line 4"}}, got.Damaged); d != "" || got.Sessions.Damaged != 1 {
		t.Error(got.Sessions, d)
	}
	if d := cmp.Diff([]Error{{ErrorUndecodable, "", 1}}, got.Errors); d != "" {
		t.Error(d)
	}
}
