package cases

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// undecided is a session as a transcript tells it: nothing in it was decided.
func undecided() []*engine.Record {
	pre := func(n int64, call, command string) *engine.Record {
		return &engine.Record{Chain: "0123456789", N: n, T: 1000 * n, Kind: engine.KindPre, Phase: engine.PhasePre, Call: call,
			Event: &engine.EventFacts{Tool: "Bash", CWD: "/home/kim/shop", Args: map[string]any{"command": command}}}
	}
	post := func(n int64, call string, outcome engine.Outcome) *engine.Record {
		return &engine.Record{Chain: "0123456789", N: n, T: 1000 * n, Kind: engine.KindPost, Phase: engine.PhasePost, Call: call,
			Event: &engine.EventFacts{Tool: "Bash", CWD: "/home/kim/shop", Result: &engine.ResultFacts{Outcome: outcome}}}
	}
	return []*engine.Record{
		{Chain: "0123456789", N: 1, T: 1000, Kind: engine.KindOpen, Open: &engine.Open{Workspace: "/home/kim/shop"}},
		pre(2, "a", "make"), post(3, "a", engine.OutcomeFailed),
		pre(4, "b", "ls"), pre(5, "c", "pwd"), post(6, "b", engine.OutcomeRan), post(7, "c", engine.OutcomeRan),
	}
}

// How long a call took counts for some rules.
func TestCutKeepsDurations(t *testing.T) {
	for ms, want := range map[int64]string{0: "{result: ok,", 40: "{result: ok,", 350_000: "{result: {ms: 350000},"} {
		records := undecided()
		records[6].Event.Result.MS = ms
		x, err := CutExpecting("a run", "/home/kim", records, 7, Expect{Decision: engine.Allow})
		if err != nil {
			t.Fatal(err)
		}
		if text, err := Write(nil, x.Case); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%d ms: %v\n%s", ms, err, text)
		}
	}
}

// What is expected is said by who cuts, and a result goes with its call where it
// follows it.
func TestCutExpecting(t *testing.T) {
	x, err := CutExpecting("a run", "/home/kim", undecided(), 7, Expect{Decision: engine.Block, RulesExactly: []string{"a.rule"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := Write(nil, x.Case)
	if err != nil {
		t.Fatal(err)
	}
	const want = `- name: a run
  workspace: /home/kim/shop
  home: /home/kim
  now: "1970-01-01T00:00:01Z"
  events:
    - {Bash: make, result: failed}
    - {Bash: ls, at: +1.999s}
    - {Bash: pwd, at: +999ms}
    - {result: ok, call: 1, at: +999ms}
    - {result: ok, expect: {decision: block, rules_exactly: [a.rule]}}
`
	if got := string(text); got != strings.Replace(want, "call: 1", "call: 2", 1) {
		t.Errorf("got\n%s", got)
	}
	if again, err := Parse("a.yaml", text); err != nil || len(again) != 1 {
		t.Errorf("it cannot be read again: %v", err)
	}
}

// Of a session's end nothing is expected that is not its last event.
func TestCutRefuses(t *testing.T) {
	records := undecided()
	unknown := *records[2]
	unknown.N, unknown.Call = 8, "z"
	records = append(records, &unknown)
	for n, want := range map[int64]string{1: "01234567-1", 8: "01234567-8", 9: "no record 9"} {
		if _, err := CutExpecting("a run", "", records, n, Expect{Decision: engine.Block}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("up to %d: got %v, want an error with %q", n, err, want)
		}
	}
	for n, want := range map[int64]string{4: "01234567-4 contains no decision", 9: "no record 9"} {
		if _, err := Cut("a run", "", records, n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("as it was decided, up to %d: got %v, want an error with %q", n, err, want)
		}
	}
}
