package impact_test

import (
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

const (
	march = 1_772_355_600_000 // 2026-03-01 09:00 UTC
	hour  = 3_600_000
)

// empty is the Impact of no session.
func empty() *simulate.Impact {
	none := func() simulate.Tally {
		t := simulate.Tally{States: map[simulate.State]int64{}, After: map[simulate.State]int64{}, Matrix: []simulate.Cell{}}
		for _, s := range simulate.States() {
			t.States[simulate.State(s)], t.After[simulate.State(s)] = 0, 0
		}
		return t
	}
	side := func(name, digest string) simulate.Named {
		return simulate.Named{Name: name, Digest: digest, Rules: []string{}, Patterns: []string{}}
	}
	return &simulate.Impact{
		Version: simulate.ImpactVersion, Env: "5f3a90",
		Baseline: side("git:main:policy", "a41f0c9be2d7aa01"), Candidate: side("team/policy", "09c7be5513f0e2bb"),
		Selection: simulate.Selection{Sessions: []string{}, Tools: []string{}},
		Sources:   simulate.Sources{Formats: map[string]int64{}, Troubles: []simulate.Trouble{}},
		Calls:     none(), Events: none(), Kinds: []simulate.Kind{}, Rules: []simulate.RuleCounts{}, Interventions: []simulate.Group{}, Tools: []simulate.Group{},
		Workspaces: []simulate.Group{}, Changed: []simulate.SessionChange{}, NeverFired: []string{}, Errors: []simulate.StepError{},
	}
}

// calm is a comparison in which nothing changes.
func calm() *simulate.Impact {
	m := empty()
	m.First, m.Last = march, march+30*hour
	m.Sources.Files, m.Sources.Lines, m.Sources.Formats["audit"] = 3, 412, 3
	m.Sessions.Total = 3
	m.Calls.Total, m.Calls.States[simulate.Unchanged] = 128, 128
	m.Calls.Matrix = []simulate.Cell{{From: engine.Allow, To: engine.Allow, Count: 126}, {From: engine.Ask, To: engine.Ask, Count: 2}}
	m.Fidelity = &simulate.Report{Records: 412, Decisions: 131, Same: 131, Keyframes: 4, Missing: map[string]int64{}, Why: map[string]string{}}
	return m
}

// busy is a comparison with something of everything.
func busy() *simulate.Impact {
	m := empty()
	m.First, m.Last = march, march+200*hour
	m.Baseline.Rules = []string{"fs.delete_outside", "git.push", "net.upload", "secrets.leave"}
	m.Candidate.Rules = []string{"fs.delete_outside", "git.push", "net.unknown_host", "secrets.leave"}
	m.Baseline.Patterns, m.Candidate.Patterns = []string{"loop.same_error"}, []string{"loop.same_error", "scope.drift"}
	m.Sources = simulate.Sources{
		Files: 61, Formats: map[string]int64{"claude-code": 50, "codex": 4}, Lines: 90210, Bad: 312, Failed: 1, Copied: 14, Unpaired: 20, Unasked: 2,
		Troubles: []simulate.Trouble{
			{Path: "logs/a/31.jsonl", Line: 77, Why: "not JSON: unexpected end of input", Count: 311},
			{Path: "logs/b.jsonl.gz", Line: 12000, Why: "the archive ends early", Count: 1, Failed: true},
		},
	}
	m.Sessions = simulate.Sessions{Total: 54, Changed: 4}
	m.Work = simulate.Work{Milliseconds: 26 * hour, Baseline: 91, Candidate: 104}
	m.Calls, m.Events = busyCalls(m.Calls), busyEvents(m.Events)
	m.Kinds = busyKinds()
	m.Causes = busyCauses()
	m.Rules = []simulate.RuleCounts{
		{ID: simulate.ByScores, Maybe: 2},
		{ID: "fs.delete_outside", Baseline: 8, Candidate: 8},
		{ID: "git.push", Baseline: 45, Candidate: 42, Lost: 3, Loosened: 3},
		{ID: "loop.same_error", Pattern: true, Baseline: 2, Candidate: 4, Gained: 2, Tightened: 2},
		{ID: "net.unknown_host", Candidate: 14, Gained: 14, Tightened: 14},
	}
	m.Interventions = []simulate.Group{{Name: "emergency_stop", Total: 1, Tightened: 1, Candidate: 1}}
	m.Unclear = []simulate.Unclear{{
		Phase: engine.PhasePre, State: simulate.Unknown, Tool: "Bash", Missing: "contents were not searched for acme.number, which this policy detects",
		Rules: []string{"net.upload", "secrets.leave"}, Count: 8, Example: simulate.Step{
			ID: "1f2e3d4c-21", Session: "5e551000-0000-4000-8000-000000000001", Index: 9, Phase: engine.PhasePre, Tool: "Bash", Resource: "./import.sh", FromRules: []string{}, ToRules: []string{},
			State: simulate.Unknown},
	}}
	m.Duties = []simulate.SessionDuty{
		{Session: "5e551000-0000-4000-8000-000000000001", What: "restore", Kind: "checkpoint_rollback", Baseline: 1},
		{Session: "5e551000-0000-4000-8000-000000000001", What: "wait", Baseline: 2, Candidate: 2},
		{Session: "5e551000-0000-4000-8000-000000000002", What: "stop", Kind: "emergency_stop", Candidate: 1},
	}
	m.Files = &simulate.FileChanges{
		Checkpoints: simulate.Asked{Baseline: 410, Candidate: 409, Changed: 1}, Rollbacks: simulate.Asked{Baseline: 1, Candidate: 1, Changed: 1},
		Steps: []simulate.FileStep{
			{ID: "1f2e3d4c-15", Session: "5e551000-0000-4000-8000-000000000001", Index: 7, Phase: engine.PhasePre, Tool: "Bash", Resource: "./build.sh",
				What: "checkpoint", From: "taken", To: "none"},
			{ID: "1f2e3d4c-17", Session: "5e551000-0000-4000-8000-000000000001", Index: 8, Phase: engine.PhasePost, Tool: "Bash",
				What: "rollback", From: "to 9a8b7c6d-3", To: "offered to 9a8b7c6d-2"},
		},
	}
	m.Tools = []simulate.Group{
		{Name: "Bash", Total: 1900, Tightened: 8, Loosened: 3, Maybe: 2, Baseline: 88, Candidate: 95},
		{Name: "Read", Total: 700, Baseline: 3, Candidate: 3},
		{Name: "WebFetch", Total: 320, Tightened: 6, Candidate: 6},
	}
	m.Workspaces = []simulate.Group{
		{Name: "/home/u/shop", Total: 2000, Tightened: 10, Loosened: 3, Maybe: 2, Baseline: 70, Candidate: 79},
		{Name: "/home/u/site", Total: 920, Tightened: 4, Baseline: 21, Candidate: 25},
	}
	for i := range 16 { // from a Sunday
		day := time.UnixMilli(march).UTC().AddDate(0, 0, i).Format(time.DateOnly)
		m.Days = append(m.Days, simulate.Group{Name: day, Total: 100 + int64(i), Tightened: int64(i % 2), Baseline: 5, Candidate: 5 + int64(i%2)})
	}
	m.Changed = busySessions()
	m.NeverFired = []string{"fs.delete_outside", "scope.drift", "secrets.leave"}
	m.Alarms = simulate.Alarms{Approved: 12, Overruled: 3, Refused: 4, Lost: 5, Missed: 1, New: 9, Gained: 7}
	m.Fidelity = &simulate.Report{Records: 4100, Decisions: 1500, Same: 1400, Incomparable: 70, Keyframes: 12, Degraded: 2,
		Missing: map[string]int64{"77aa00bb11cc22": 30}, Why: map[string]string{"77aa00bb11cc22": "its bytes are not kept here"}}
	return m
}

func busyCalls(t simulate.Tally) simulate.Tally {
	t.Total = 2920
	t.States = map[simulate.State]int64{simulate.Unchanged: 2888, simulate.Tightened: 9, simulate.Loosened: 3, simulate.Maybe: 2, simulate.Unknown: 8, simulate.Incomparable: 0}
	t.After = map[simulate.State]int64{simulate.Unchanged: 5, simulate.Tightened: 5, simulate.Loosened: 0, simulate.Maybe: 0, simulate.Unknown: 0, simulate.Incomparable: 0}
	t.Matrix = []simulate.Cell{
		{From: engine.Allow, To: engine.Allow, Count: 2800, After: 5}, {From: engine.Allow, To: engine.Ask, Count: 9, After: 5}, {From: engine.Allow, To: engine.Block, Count: 2},
		{From: engine.Ask, To: engine.Allow, Count: 3}, {From: engine.Ask, To: engine.Ask, Count: 40}, {From: engine.Block, To: engine.Block, Count: 48},
	}
	return t
}

func busyEvents(t simulate.Tally) simulate.Tally {
	t.Total, t.States[simulate.Unchanged], t.States[simulate.Tightened] = 3100, 3099, 1
	t.Matrix = []simulate.Cell{{From: engine.Allow, To: engine.Allow, Count: 3099}, {From: engine.Allow, To: engine.Warn, Count: 1}}
	return t
}

func step(id string, index int64, state simulate.State, from, to engine.Verdict, tool, resource string) simulate.Step {
	return simulate.Step{
		ID: id, Session: "0d3f8a51-77aa-4c1e-9d10-2f64b8b1c0de", Index: index, Time: march + index*60_000, Phase: engine.PhasePre, Call: "toolu_" + id,
		Tool: tool, Resource: resource, State: state, From: from, To: to, FromRules: []string{}, ToRules: []string{},
	}
}

func busyKinds() []simulate.Kind {
	push := step("ab12cd34-57", 17, simulate.Loosened, engine.Ask, engine.Allow, "Bash", "git push origin main")
	push.FromRules, push.Reason = []string{"git.push"}, "Pushing publishes work, and cannot be undone."
	push.Example = &simulate.Example{Before: 17, Reason: push.Reason, Events: []simulate.ExampleEvent{
		{Phase: engine.PhasePrompt, Text: "name1 the branch"}, {Phase: engine.PhasePre, Tool: "Bash", Text: "git push origin name2"}}}
	fetch := step("ab12cd34-90", 31, simulate.Tightened, engine.Allow, engine.Ask, "WebFetch", "https://example.test/install.sh")
	fetch.ToRules, fetch.Reason, fetch.Agent = []string{"net.unknown_host"}, "Nothing in this session named this host before, and what it sends may be anything at all.", "helper-2"
	loop := step("ab12cd34-200", 80, simulate.Tightened, engine.Allow, engine.Warn, "Bash", "make test")
	loop.Phase, loop.ToRules = engine.PhasePost, []string{"loop.same_error"}
	some := step("99ff0011-3", 2, simulate.Maybe, engine.Allow, engine.Block, "Bash", "curl -d @notes.txt https://example.test/a/very/long/path/that/does/not/fit/into/a/line/of/a/terminal")
	some.Missing = "the destination of a redirect"
	return []simulate.Kind{
		{Phase: engine.PhasePre, State: simulate.Tightened, From: engine.Allow, To: engine.Ask, Rule: "net.unknown_host", Due: "rule net.unknown_host", Count: 9, After: 5, Example: fetch},
		{Phase: engine.PhasePost, State: simulate.Tightened, From: engine.Allow, To: engine.Warn, Rule: "loop.same_error", Due: "setting risk.high_threshold", Count: 1, Example: loop},
		{Phase: engine.PhasePre, State: simulate.Loosened, From: engine.Ask, To: engine.Allow, Rule: "git.push", Due: "rule git.push", Count: 3, Example: push},
		{Phase: engine.PhasePre, State: simulate.Maybe, From: engine.Allow, To: engine.Block, Rule: simulate.ByScores, Due: "setting risk.high_threshold", Count: 2, Example: some},
	}
}

func busySessions() []simulate.SessionChange {
	first := busyKinds()[0].Example
	again := first
	again.ID, again.Index, again.After, again.Resource = "ab12cd34-99", 40, true, "https://example.test/again"
	return []simulate.SessionChange{
		{Session: first.Session, Harness: "claude-code", Format: "claude-code", Workspace: "/home/u/shop", Calls: 410, Tightened: 10, Loosened: 3, Maybe: 2, First: first, Steps: []simulate.Step{first, again}, More: 13},
		{Session: "1b", Harness: "codex", Format: "codex", Workspace: "/home/u/site", Calls: 12, Tightened: 4, First: first, Steps: []simulate.Step{first}},
	}
}

// partial is what a person left who had seen enough.
func partial() *simulate.Impact {
	m := calm()
	m.Partial = "interrupted after 2 of 3 files"
	m.Shard = &simulate.Shard{Index: 2, Of: 7}
	m.Selection = simulate.Selection{Since: march, Sessions: []string{}, Tools: []string{"Bash"}, Sample: "10%"}
	m.Calls.States[simulate.Unchanged], m.Calls.States[simulate.Unknown] = 120, 8
	m.Calls.Failed = 1
	m.Errors = []simulate.StepError{{ID: "ab12cd34-9", Side: "candidate", Error: "data.reviewer.decision is undefined"}}
	m.Fidelity.Same, m.Fidelity.Different = 130, 1
	m.Fidelity.First = &simulate.Difference{ID: "ab12cd34-57", Field: "decision.risk.score", Recorded: "0.4", Computed: "0.5"}
	return m
}

// sweep is a threshold at four values.
func sweep() *simulate.Sweep {
	s := &simulate.Sweep{Version: simulate.ImpactVersion, Key: "risk.levels.high", Rows: []simulate.SweepRow{}}
	for i, value := range []float64{0.6, 0.65, 0.7, 0.75} {
		m := calm()
		m.Candidate.Name = "git:main:policy with risk.levels.high=" + []string{"0.6", "0.65", "0.7", "0.75"}[i]
		if n := int64(2 - i); n != 0 {
			state, to := simulate.Tightened, engine.Ask
			if n < 0 {
				n, state, to = -n, simulate.Loosened, engine.Allow
			}
			m.Calls.States[simulate.Unchanged] -= n
			m.Calls.States[state] = n
			m.Calls.Matrix = []simulate.Cell{{From: engine.Allow, To: engine.Allow, Count: 126 - n}, {From: engine.Allow, To: to, Count: n}, {From: engine.Ask, To: engine.Ask, Count: 2}}
			m.Sessions.Changed, m.Alarms = 1, simulate.Alarms{Approved: 2, Refused: 1, Lost: m.Calls.States[simulate.Loosened]}
		}
		s.Rows = append(s.Rows, simulate.SweepRow{Value: value, Impact: m})
	}
	return s
}

// busyCauses are changes of policy of each sort, by kind and name; what is due to
// them sums up to what has changed.
func busyCauses() []simulate.Cause {
	return []simulate.Cause{
		{Kind: "pattern", Name: "scope.drift", Did: "added", Direction: "tightened"},
		{Kind: "row", Name: "programs/acme-sync", Did: "changed", Direction: "undecided", Parts: []string{"cases"}, Met: 12},
		{Kind: "rule", Name: "git.push", Did: "changed", Direction: "loosened", Parts: []string{"when"}, Loosened: 3, Met: 45},
		{Kind: "rule", Name: "net.unknown_host", Did: "added", Direction: "tightened", Tightened: 14, After: 5, Met: 14},
		{Kind: "setting", Name: "hosts.drops", Did: "changed", Direction: "tightened", Was: `[]`, Is: `["drop.test"]`},
		{Kind: "setting", Name: "risk.high_threshold", Did: "changed", Direction: "mixed", Was: "0.8", Is: "0.7", Maybe: 2, Tightened: 1},
	}
}
