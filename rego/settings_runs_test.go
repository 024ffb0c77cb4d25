package rego

import "github.com/agent-reviewer/reviewer/engine"

// runs are questions about how a run goes, and about what people asked for.
func runs() []question {
	wanted := func(change func(*engine.GoalFacts)) func(*question) {
		return func(q *question) {
			q.in.Goal.Known = true
			q.in.Facts = append(q.in.Facts, engine.FactGoal, engine.FactChanges)
			change(&q.in.Goal)
		}
	}
	intent := func(list ...engine.Intent) func(*question) {
		return wanted(func(g *engine.GoalFacts) { g.Intents = list })
	}
	fired := func(id, level string, ago int64) func(*question) {
		return func(q *question) {
			q.in.History.Fired = map[string]engine.FiredFacts{id: {Ago: ago, Level: level, Times: 1}}
		}
	}
	drastic := effect(engine.EffectSystemCall, nil)
	drastic.Types, drastic.Signals = []engine.Type{engine.TypeSystemCommand}, []engine.Signal{"publish"}
	all := []question{
		ask(types(engine.TypeFileModification), wanted(func(g *engine.GoalFacts) { g.Named = true })),
		ask(types(engine.TypeFileModification), wanted(func(g *engine.GoalFacts) { g.Words = 0.1 })),
		ask(drastic, intent(engine.IntentExplain)),
		ask(drastic, intent(engine.IntentDeploy)),
		ask(effect(engine.EffectFileRead, nil), rational("medium"), withFact(engine.FactReadsOnly), withFinding("environment_dump", ""), intent(engine.IntentRead)),
		ask(types(engine.TypeFileModification), withFinding("repetitive_errors", "medium"), fired("exploration_wandering", "low", 3)),
		ask(types(engine.TypeFileModification), withFinding("no_progress", "medium"), fired("no_progress", "medium", 9)),
		ask(effect(engine.EffectFileDelete, nil), withFact(engine.FactDeletes), func(q *question) { q.in.Session.Deleted = 25 }),
	}
	for _, i := range engine.Intents() {
		for _, t := range engine.Types() {
			all = append(all, ask(types(engine.Type(t)), rational("low"), intent(engine.Intent(i))))
		}
	}
	return all
}
