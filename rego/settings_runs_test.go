package rego

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

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

// The questions are answered at all, and in more than one way.
func TestQuestions(t *testing.T) {
	e, _ := shipped(t)
	compiler, err := compileModules(e.Modules())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[engine.Verdict]int{}
	for i, d := range answers(t, compiler, e.Data) {
		if d.Decision == "" {
			t.Errorf("question %d has no answer", i)
		}
		seen[d.Decision]++
	}
	for _, v := range []engine.Verdict{engine.Allow, engine.Warn, engine.Ask, engine.Block} {
		if seen[v] == 0 {
			t.Errorf("no answer is %s", v)
		}
	}
}
