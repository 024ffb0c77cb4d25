package incident

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

const start = 1_795_442_000_000

// log builds the records of a session, a second apart.
type log struct{ records []*engine.Record }

func newLog() *log {
	l := &log{}
	l.add(&engine.Record{Kind: engine.KindOpen, Open: &engine.Open{Workspace: "/srv/shop"}})
	return l
}

func (l *log) add(r *engine.Record) *engine.Record {
	n := int64(len(l.records) + 1)
	r.N, r.T, r.Chain, r.Session, r.Harness = n, start+n*1000, "0123456789abcdef0123456789abcdef", "shop-1", "claude-code"
	l.records = append(l.records, r)
	return r
}

// call adds a call with an answer; rules are ID or ID=severity.
func (l *log) call(what string, answer engine.Verdict, rules ...string) *engine.Record {
	d := &engine.Decision{Decision: answer, Enforced: answer}
	for _, r := range rules {
		id, severity, _ := strings.Cut(r, "=")
		d.Rules = append(d.Rules, engine.RuleResult{ID: id, Decision: answer, Severity: severity, Message: "about " + what, Harm: engine.HarmLoss})
	}
	return l.add(&engine.Record{
		Kind: engine.KindPre, Phase: engine.PhasePre, Agent: engine.MainAgent, Call: fmt.Sprint("c", len(l.records)),
		Event: &engine.EventFacts{Tool: "Bash"}, Action: &engine.Action{Resource: what}, Decision: d,
		Answer: &engine.AnswerFacts{Effect: answer, Mode: engine.ModeEnforced},
	})
}

// post ends the latest call.
func (l *log) post(outcome engine.Outcome, findings ...engine.Finding) *engine.Record {
	last := l.records[len(l.records)-1]
	return l.add(&engine.Record{
		Kind: engine.KindPost, Phase: engine.PhasePost, Agent: last.Agent, Call: last.Call, Findings: findings,
		Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: outcome, MS: 10}},
	})
}

func (l *log) intervene(r *engine.Record, kind, issue string) *engine.Record {
	r.Decision.Intervention = &engine.Intervention{Kind: kind, Issue: issue, Reason: "because of " + issue}
	return r
}

func (l *log) stop(issue string) *engine.Record {
	r := l.intervene(l.call("rm -rf /", engine.Block, issue+"=critical"), engine.EmergencyStop, issue)
	l.add(&engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.EmergencyStop, Of: r.ID()}})
	return r
}

func (l *log) control(do, record string) {
	l.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: do, By: "ann", Reason: "looked at it", Record: record}})
}

func (l *log) all() iter.Seq2[*engine.Record, error] {
	return func(yield func(*engine.Record, error) bool) {
		for _, r := range l.records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (l *log) incidents(t *testing.T) []*Incident {
	t.Helper()
	list, err := Read(l.all())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func texts(list []Factor) []string {
	var out []string
	for _, f := range list {
		out = append(out, string(f.Kind)+": "+f.Text)
	}
	return out
}

func effect(kind engine.EffectKind, place string, undo engine.Reversibility) engine.Effect {
	return engine.Effect{Kind: kind, Short: place, Certainty: engine.CertaintyExact, Location: engine.LocationInside, Reversibility: undo}
}

// TestALateStop: a review that is made after its answer can stop the session.
func TestALateStop(t *testing.T) {
	l := newLog()
	l.call("rm -rf /", engine.Allow)
	d := &engine.Decision{Decision: engine.Block, Enforced: engine.Block, Rules: []engine.RuleResult{{ID: "disk_write", Decision: engine.Block, Severity: "critical"}},
		Intervention: &engine.Intervention{Kind: engine.EmergencyStop, Issue: "disk_write", Reason: "enough"}}
	late := l.add(&engine.Record{Kind: engine.KindAct, Agent: engine.MainAgent, Act: &engine.Act{Kind: engine.ActLateReview, Of: "x-2", Late: &engine.LateReview{Decision: d}}})
	l.add(&engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.ActLateReview, Late: &engine.LateReview{Failure: "purged"}}})
	list := l.incidents(t)
	if len(list) != 1 || list[0].ID != late.ID() || list[0].Cause.Issue != "disk_write" || !list[0].Stopped {
		t.Errorf("%+v", list)
	}
}

func TestDenialsInARow(t *testing.T) {
	l := newLog()
	w := l.call("make dist", engine.Allow)
	w.Action.Effects = []engine.Effect{effect(engine.EffectFileWrite, "./dist/a", engine.R3), effect(engine.EffectFileWrite, "./dist/b", engine.R1)}
	w.Action.Types, w.Action.Hosts = []engine.Type{engine.TypeNetworkRequest}, []string{"example.com"}
	l.post(engine.OutcomeRan)
	asked := l.call("rm dist/b", engine.Ask)
	asked.Action.Effects = []engine.Effect{effect(engine.EffectFileDelete, "./dist/b", engine.R4)}
	l.post(engine.OutcomeRan)
	never := l.call("rm dist/c", engine.Ask)
	never.Action.Effects = []engine.Effect{effect(engine.EffectFileDelete, "./dist/c", engine.R4)}
	first := l.call("rm -rf /srv", engine.Block, "delete_broad=high")
	l.call("mkfs /dev/sda", engine.Block, "disk_write=critical")
	stop := l.stop("disk_write")
	l.call("ls", engine.Block, "session_stopped")
	list := l.incidents(t)
	if len(list) != 1 {
		t.Fatalf("%d incidents", len(list))
	}
	i := list[0]
	if i.ID != stop.ID() || i.State != Open || !i.Stopped || i.Severity != "critical" || i.Workspace != "/srv/shop" || i.Agent != "main" {
		t.Errorf("incident is %+v", i)
	}
	if i.Duration != stop.T-first.T {
		t.Errorf("it took %d ms, want %d", i.Duration, stop.T-first.T)
	}
	want := Cause{Issue: "disk_write", Reason: "because of disk_write", Message: "about rm -rf /", Harm: "loss", Call: "Bash rm -rf /",
		Evidence: []string{first.ID(), "01234567-8", stop.ID()}}
	if d := cmp.Diff(want, i.Cause); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"denials: 3 calls in a row were denied before the stop."}, texts(i.Factors)); d != "" {
		t.Error(d)
	}
	impact := Impact{Calls: 6, Denied: 3, Asked: 2, Requests: 1, Busy: 20, Span: stop.T - l.records[0].T, Written: 2, Deleted: 1,
		Files: []Path{{Path: "./dist/a", Written: 1, Undo: engine.R3}, {Path: "./dist/b", Written: 1, Deleted: 1, Undo: engine.R4}},
		Hosts: []string{"example.com"}, Processes: []string{}}
	if d := cmp.Diff(impact, i.Impact); d != "" {
		t.Error(d)
	}
	if m := i.Timeline[len(i.Timeline)-1]; m.ID != stop.ID() || m.Before != 0 || m.Done != engine.EmergencyStop {
		t.Errorf("the timeline ends with %+v", m)
	}
	if m := i.Timeline[0]; m.Outcome != engine.OutcomeRan || m.What != "Bash make dist" {
		t.Errorf("the timeline begins with %+v", m)
	}
}

func TestWhatDidNotHelp(t *testing.T) {
	l := newLog()
	drift := engine.Finding{ID: "goal_drift", Level: "medium"}
	for n := range 4 {
		r := l.call("npm test", engine.Warn, "repetitive_errors=low")
		if n == 1 {
			l.intervene(r, engine.SoftCorrection, "repetitive_errors")
		}
		if n == 2 {
			l.intervene(r, engine.ContextReinforcement, "repetitive_errors")
		}
		l.post(engine.OutcomeFailed, drift)
	}
	l.stop("repetitive_errors")
	i := l.incidents(t)[0]
	want := []string{
		"intervention: soft_correction about repetitive_errors was tried once and did not help.",
		"intervention: context_reinforcement about repetitive_errors was tried once and did not help.",
		"errors: 4 calls in a row failed before the stop.",
		"pattern: The pattern goal_drift was found 4 times.",
		"warnings: The rule repetitive_errors warned 4 times, and the agent went on.",
	}
	if d := cmp.Diff(want, texts(i.Factors)); d != "" {
		t.Error(d)
	}
	if n := len(i.Cause.Evidence); n != 5 || i.Cause.Evidence[0] != "01234567-2" {
		t.Errorf("evidence is %s", i.Cause.Evidence)
	}
	if !slices.Equal(i.Rules, []string{"repetitive_errors", "goal_drift"}) {
		t.Errorf("rules are %s", i.Rules)
	}
}

func TestAnIncidentIsClosedByAPerson(t *testing.T) {
	l := newLog()
	stop := l.stop("guard_tampering")
	l.stop("guard_tampering") // two processes, or a process that was killed between the two records
	l.control(engine.ControlResume, "")
	l.control(engine.ControlClose, "01234567-99")
	l.control(engine.ControlClose, stop.ID())
	second := l.stop("deny_workaround")
	list := l.incidents(t)
	if len(list) != 2 || list[0].ID != stop.ID() || list[1].ID != second.ID() {
		t.Fatalf("incidents are %v", list)
	}
	if a := list[0]; a.State != Closed || a.Stopped || a.Resumed.By != "ann" || a.Closed.Reason != "looked at it" {
		t.Errorf("the first one is %+v", a)
	}
	if b := list[1]; b.State != Open || !b.Stopped || b.Closed != nil {
		t.Errorf("the second one is %+v", b)
	}
}

func TestNotAnIncident(t *testing.T) {
	l := newLog()
	l.control(engine.ControlStop, "")
	r := l.stop("disk_write")
	r.Decision.Enforced = engine.Allow // the policy only observes
	l.intervene(l.call("ls", engine.Block), engine.EmergencyStop, "").Decision.Intervention.Issue = ""
	if list := l.incidents(t); len(list) != 0 {
		t.Errorf("%d incidents", len(list))
	}
}

func TestTheTimelineIsBounded(t *testing.T) {
	l := newLog()
	for n := range 20_000 {
		r := l.call("touch", engine.Allow, fmt.Sprintf("rule_%d", n%500))
		r.Action.Effects = []engine.Effect{effect(engine.EffectFileWrite, fmt.Sprintf("./%d", n), engine.R1)}
	}
	l.stop("rule_1")
	i := l.incidents(t)[0]
	if len(i.Timeline) != maxTimeline || i.Earlier != 20_001-maxTimeline || len(i.Impact.Files) != maxFiles || i.Impact.Written != maxTracked ||
		len(i.Cause.Evidence) != maxRecords || len(i.Rules) != maxRules {
		t.Errorf("timeline %d, earlier %d, files %d of %d, evidence %d, rules %d", len(i.Timeline), i.Earlier, len(i.Impact.Files), i.Impact.Written,
			len(i.Cause.Evidence), len(i.Rules))
	}
}

func TestADamagedLogHasWhatIsBeforeTheDamage(t *testing.T) {
	l := newLog()
	l.stop("disk_write")
	broken := errors.New("line 3 is not JSON")
	list, err := Read(func(yield func(*engine.Record, error) bool) {
		for _, r := range l.records {
			if !yield(r, nil) {
				return
			}
		}
		yield(nil, broken)
	})
	if len(list) != 1 || !errors.Is(err, broken) {
		t.Errorf("%d incidents, %v", len(list), err)
	}
}

// A log whose first files are gone begins with a keyframe, and records may lack every
// part.
func TestRecordsWithoutTheirParts(t *testing.T) {
	l := &log{}
	for _, kind := range engine.Kinds() {
		l.add(&engine.Record{Kind: engine.Kind(kind)})
	}
	l.add(&engine.Record{Kind: engine.KindPre, Decision: &engine.Decision{Enforced: engine.Block,
		Intervention: &engine.Intervention{Kind: engine.EmergencyStop, Issue: "x"}}})
	if i := l.incidents(t)[0]; i.Severity != "high" || i.Cause.Issue != "x" || i.Timeline == nil {
		t.Errorf("incident is %+v", i)
	}
}

func TestAdvise(t *testing.T) {
	rows := map[string]settings.Recommendation{
		"*":          {Immediate: []string{"resume {session}"}, Configuration: map[string]any{"repeated": []any{"{rule}"}, "limits": map[string]any{"a": 1.0}}},
		"disk_write": {Immediate: []string{"look at {id}"}, Preventive: []string{"later"}},
	}
	for issue, want := range map[string]Recommendation{
		"other": {Immediate: []string{"resume s"}, Preventive: []string{},
			Configuration: map[string]any{"repeated": []any{"other"}, "limits": map[string]any{"a": 1.0}}},
		"disk_write": {Immediate: []string{"look at i-1", "resume s"}, Preventive: []string{"later"}, Configuration: map[string]any{}},
	} {
		i := Incident{ID: "i-1", Session: "s", Cause: Cause{Issue: issue}}
		i.Advise(rows)
		if d := cmp.Diff(want, i.Advice); d != "" {
			t.Errorf("%s: %s", issue, d)
		}
	}
}
