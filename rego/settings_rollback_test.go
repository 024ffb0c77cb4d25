package rego

import "github.com/agent-reviewer/reviewer/engine"

// rollbackQuestions are about which checkpoint a session returns to.
func rollbackQuestions(about func(string, ...func(*question)) question,
	past func(...engine.InterventionFacts) func(*question)) []question {
	const issue = "repetitive_errors"
	reminded := func(n int) []engine.InterventionFacts {
		list := make([]engine.InterventionFacts, n)
		for i := range list {
			list[i] = engine.InterventionFacts{Kind: engine.CheckpointRollback, Issue: issue, Agent: engine.MainAgent, Ago: 20, MS: 130_000,
				Run: true, Back: &engine.Return{Actions: 2, MS: 2000}}
		}
		return list
	}
	last := func(n int, list ...engine.CheckpointState) question {
		return about(issue, past(reminded(n)...), func(q *question) { q.in.Session.Checkpoints = list })
	}
	safe := engine.CheckpointState{ID: "1f2e3d4c-2", CallMS: 91_000, MS: 90_000, Ran: 10}
	rate := engine.CheckpointState{ID: "1f2e3d4c-3", CallMS: 81_000, MS: 80_000, Ran: 8, Failed: 2, CleanMS: 60_000}
	late := engine.CheckpointState{ID: "1f2e3d4c-4", CallMS: 71_000, MS: 70_000, Ran: 1, Failed: 9, CleanMS: 1000}
	soon := engine.CheckpointState{ID: "1f2e3d4c-5", CallMS: 71_000, MS: 70_000, Ran: 9, Failed: 1, CleanMS: 2000}
	return []question{
		last(1), last(1, safe, soon), last(1, safe), last(1, safe, rate), last(1, safe, late, late), last(1, safe, late, late, late), last(2, safe), last(3, safe),
		about("resource_spiral", past(engine.InterventionFacts{Kind: engine.CheckpointRollback, Issue: "resource_spiral", Agent: engine.MainAgent,
			Ago: 20, MS: 130_000, Run: true, Back: &engine.Return{Actions: 2, MS: 2000}})),
	}
}
