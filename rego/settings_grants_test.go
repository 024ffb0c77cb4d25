package rego

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// day is one day in milliseconds.
const day = 24 * 60 * 60 * 1000

// grantQuestions are about calls that an agent is about to ask a person about.
func grantQuestions() []question {
	request := func(a engine.Action, change ...func(*question)) question {
		q := ask(a, func(q *question) {
			q.in.Phase, q.in.Event.Mode = engine.PhaseRequest, "default"
			q.in.Request = &engine.RequestFacts{Decision: engine.Allow, Enforced: engine.Allow, Checkpoint: true, Denied: engine.NeverHappened,
				Answers: []engine.FormAnswerFacts{}}
		})
		for _, fn := range change {
			fn(&q)
		}
		return q
	}
	edits := func(q *question) { q.in.Event.Mode = "acceptEdits" }
	read := reads(engine.Command{Name: "cat"})
	wrapped := reads(engine.Command{Name: "cat", Wrappers: []string{"nice"}})
	signal := reads(engine.Command{Name: "cat"})
	signal.Signals = []engine.Signal{engine.SignalPackageURL}
	edit := effect(engine.EffectFileWrite, nil)
	edit.Types = []engine.Type{engine.TypeFileModification}
	runs := effect(engine.EffectProcess, func(e *engine.Effect) { e.Verb, e.Target, e.Short, e.Location = "exec", "make", "", "" })
	runs.Types, runs.Commands, runs.Loads = []engine.Type{engine.TypeSystemCommand}, []engine.Command{{Name: "make"}}, []string{"make:test"}
	listed := runs
	listed.Commands = []engine.Command{{Name: "make"}, {Name: "cat"}}
	all := []question{
		request(read), request(wrapped), request(signal), request(edit, edits), request(runs, edits), request(listed, edits),
		request(read, func(q *question) { q.in.Request.Denied = 2 }),
		request(read, func(q *question) { q.in.Session.Labels = []engine.Label{engine.LabelSecret} }),
	}
	return append(all, approvedQuestions(request, runs)...)
}

// reads is a call that reads a file of the workspace.
func reads(c engine.Command) engine.Action {
	a := commanded(c, engine.EffectFileRead, nil)
	a.Types = []engine.Type{engine.TypeFileRead}
	return a
}

// approvedQuestions are about calls of a form that people approved, as often as each number of the settings needs.
func approvedQuestions(request func(engine.Action, ...func(*question)) question, runs engine.Action) []question {
	const old = 20 * day
	answered := func(list ...engine.FormAnswerFacts) func(*question) {
		return func(q *question) { q.in.Request.Answers = list }
	}
	in := func(session string, person, inferred int64) engine.FormAnswerFacts {
		return engine.FormAnswerFacts{Session: session, Mode: "default", Person: person, Inferred: inferred, MS: old, RefusedMS: old}
	}
	refused := in("c", 0, 0)
	refused.Refused = 1
	backup := runs
	backup.Effects = append(backup.Effects[:1:1], engine.Effect{Kind: engine.EffectFileRead, Verb: "read", Short: "./a",
		Certainty: engine.CertaintyExact, Location: engine.LocationInside, Class: engine.ClassCredential})
	system := effect(engine.EffectSystemCall, func(e *engine.Effect) {
		e.Verb, e.Target, e.Short, e.Location, e.Reversibility = "set", "volume", "", "", engine.R2
	})
	system.Types, system.Commands = runs.Types, runs.Commands
	enough := []engine.FormAnswerFacts{in("a", 3, 0), in("b", 2, 0)}
	return []question{
		request(runs, answered(enough...)),
		request(runs, answered(in("a", 2, 0), in("b", 2, 0))),
		request(runs, answered(in("a", 9, 0))),
		request(runs, answered(in("a", 5, 5), in("b", 0, 1))),
		request(runs, answered(in("a", 0, 5), in("b", 0, 5))),
		request(runs, answered(append(enough, refused)...)),
		request(backup, answered(enough...)),
		request(system, answered(enough...)),
	}
}

// otherGrants returns what a list of grants might be instead.
func otherGrants(path string) (list []any, ok bool) {
	switch path {
	case "grants.signals":
		return []any{string(engine.SignalPackageURL)}, true
	case "grants.undo.programs":
		return []any{"make"}, true
	}
	return []any{}, strings.HasPrefix(path, "grants.")
}

// underGrants turns grants on where a setting of theirs is tried, and trusts a program where it
// matters which others run.
func underGrants(path string, reviewer map[string]any) (undo func()) {
	was := reviewer["grant"]
	reviewer["grant"] = "proven"
	grants, _ := reviewer["grants"].(map[string]any)
	undone, _ := grants["undo"].(map[string]any)
	if path != "grants.client.programs" || undone == nil {
		return func() { reviewer["grant"] = was }
	}
	programs := undone["programs"]
	undone["programs"] = []any{"make"}
	return func() { reviewer["grant"], undone["programs"] = was, programs }
}
