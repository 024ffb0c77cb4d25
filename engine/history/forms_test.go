package history

import (
	"fmt"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

func readsAt(program, path, class string) *engine.Action {
	return &engine.Action{Name: "code.exec", Commands: []engine.Command{{Name: program, Flags: []string{"-n"}, Operands: []string{path}}},
		Effects: []engine.Effect{{Kind: engine.EffectFileRead, Verb: "read", Short: "./" + path, Target: "/w/" + path, Certainty: engine.CertaintyExact,
			Location: engine.LocationInside, Class: engine.Class(class)}}}
}

func TestFormOf(t *testing.T) {
	base := FormOf("Bash", readsAt("sed", "a.go", ""))
	runs := readsAt("sed", "a.go", "")
	runs.Effects[0].Run = true
	other := readsAt("sed", "b.go", "")
	other.Effects[0].Run = true
	opaque := readsAt("sed", "a.go", "")
	opaque.Opaque = []engine.Opaque{{Reason: "syntax"}}
	for name, c := range map[string]struct {
		form string
		same bool
	}{
		"another path":         {FormOf("Bash", readsAt("sed", "b.go", "")), true},
		"another class":        {FormOf("Bash", readsAt("sed", "a.go", "credential")), false},
		"another program":      {FormOf("Bash", readsAt("awk", "a.go", "")), false},
		"another tool":         {FormOf("Monitor", readsAt("sed", "a.go", "")), false},
		"a script that is run": {FormOf("Bash", runs), false},
	} {
		if c.form == "" || (c.form == base) != c.same {
			t.Errorf("%s: form %q, base %q, want same: %v", name, c.form, base, c.same)
		}
	}
	if FormOf("Bash", runs) == FormOf("Bash", other) {
		t.Error("two scripts that are run have the same form")
	}
	if f := FormOf("Bash", opaque); f != "" {
		t.Errorf("a call that is not understood has the form %q", f)
	}
}

// askedSession folds calls: each is asked about by the agent and then ends as given.
func askedSession(ends ...string) *State { return asksIn(lenient(), ends...) }

func asksIn(h *State, ends ...string) *State {
	n := int64(0)
	add := func(r *engine.Record) {
		n++
		r.N, r.T, r.Chain = n, 1000*n, "0123456789abcdef"
		h.Append(r)
	}
	add(&engine.Record{Kind: engine.KindOpen, Open: &engine.Open{Workspace: "/w"}})
	for i, end := range ends {
		call, e := fmt.Sprint(i), &engine.EventFacts{Tool: "Bash", Mode: "default"}
		args := &engine.SHA{Args: fmt.Sprintf("%032d", i)}
		add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Call: call, Event: e, Action: readsAt("sed", "a.go", ""), SHA: args,
			Decision: &engine.Decision{Decision: engine.Allow, Enforced: engine.Allow}, Answer: &engine.AnswerFacts{Effect: engine.Allow}})
		answer := &engine.AnswerFacts{Effect: engine.Allow}
		if end == "granted" {
			answer.Granted = &engine.Granted{}
		}
		if found, _ := h.Requested(engine.MainAgent, "Bash", args.Args); found != call {
			panic("the request is about another call: " + found)
		}
		add(&engine.Record{Kind: engine.KindNote, Phase: engine.PhaseRequest, Call: call, Event: e, Action: readsAt("sed", "a.go", ""), Answer: answer})
		if end == "prompt" {
			add(&engine.Record{Kind: engine.KindPrompt, Phase: engine.PhasePrompt, Event: &engine.EventFacts{}})
			continue
		}
		outcome := engine.OutcomeRan
		switch end {
		case "failed":
			outcome = engine.OutcomeFailed
		case "refused":
			outcome = engine.OutcomeDenied
		}
		add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: call,
			Event: &engine.EventFacts{Tool: "Bash", Result: &engine.ResultFacts{Outcome: outcome}}})
	}
	return h
}

func TestAnswers(t *testing.T) {
	form := FormOf("Bash", readsAt("sed", "a.go", ""))
	for name, c := range map[string]struct {
		ends              []string
		approved, refused int64
	}{
		"ran":     {[]string{"ran", "ran"}, 2, 0},
		"failed":  {[]string{"failed"}, 0, 0},
		"refused": {[]string{"ran", "prompt"}, 1, 1},
		"granted": {[]string{"granted", "granted"}, 0, 0},
	} {
		h := askedSession(c.ends...)
		var approved, refused int64
		for _, a := range h.Answers(form) {
			approved, refused = approved+a.Inferred, refused+a.Refused
		}
		if approved != c.approved || refused != c.refused || (h.DeniedAt > 0) != (c.refused > 0) {
			t.Errorf("%s: %d approved, %d refused, denied at %d; want %d and %d", name, approved, refused, h.DeniedAt, c.approved, c.refused)
		}
	}
}

// Nobody is known to have approved what ran in a session whose client is not a person's; what was refused counts.
func TestAnswersWithoutAPerson(t *testing.T) {
	form := FormOf("Bash", readsAt("sed", "a.go", ""))
	for name, test := range map[string]struct {
		client   *engine.Client
		inferred int64
	}{
		"no client is recorded": {nil, 2}, "a person's": {&engine.Client{Pid: 7}, 2},
		"a program's": {&engine.Client{Pid: 7, Missing: "it runs below an agent"}, 0},
	} {
		h := lenient()
		h.Client = test.client
		if got := asksIn(h, "ran", "ran", "refused").Answers(form); len(got) != 1 || got[0].Inferred != test.inferred || got[0].Refused != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestFormsBound: approvals are forgotten before refusals, and forgotten refusals are known.
func TestFormsBound(t *testing.T) {
	h := lenient()
	h.countForm(&callEntry{Form: "refused"}, 1, formEntry{Approved: 0, Refused: 1})
	for i := range 3 * maxForms {
		h.countForm(&callEntry{Form: fmt.Sprint("approved", i)}, 2, formEntry{Approved: 1, Refused: 0})
	}
	if len(h.Forms) != maxForms || len(h.Answers("refused")) != 1 || h.FormsLost {
		t.Errorf("%d forms, refusals of the first: %v, lost: %v", len(h.Forms), h.Answers("refused"), h.FormsLost)
	}
	for i := range maxForms + 1 {
		h.countForm(&callEntry{Form: fmt.Sprint("refused", i)}, 3, formEntry{Approved: 0, Refused: 1})
	}
	if a := h.Answers("new"); !h.FormsLost || len(a) != 1 || a[0].Refused == 0 {
		t.Errorf("a session that forgot refusals answers %v", a)
	}
}
