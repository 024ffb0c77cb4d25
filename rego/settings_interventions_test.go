package rego

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// interventionQuestions are questions about what is done when a run goes wrong.
func interventionQuestions() []question {
	const issue = "repetitive_errors"
	made := func(id, kind string, seconds int64, back engine.Return) engine.InterventionFacts {
		return engine.InterventionFacts{Kind: kind, Issue: id, Agent: engine.MainAgent, Ago: 20, MS: seconds * 1000, Run: true, Factor: 0.5, Back: &back}
	}
	soft := func(seconds int64) engine.InterventionFacts {
		return made(issue, engine.SoftCorrection, seconds, engine.Return{Actions: 2, MS: 2000})
	}
	helped := engine.Return{Actions: 200, MS: 200_000}
	past := func(list ...engine.InterventionFacts) func(*question) {
		return func(q *question) { q.in.Session.Interventions = list }
	}
	grows := func(ratio float64) func(*question) {
		return func(q *question) {
			q.in.Session.Growing = []engine.Growth{{Resource: "files", Ratios: []float64{ratio}}}
		}
	}
	found := func(id string, confidence float64) func(*question) {
		return func(q *question) {
			q.findings = append(q.findings, engine.Finding{ID: id, Level: "medium", Confidence: confidence})
		}
	}
	about := func(id string, change ...func(*question)) question {
		return ask(engine.Action{Types: []engine.Type{engine.TypeFileRead}}, append([]func(*question){found(id, 1)}, change...)...)
	}
	reminded := func(change func(*question)) question {
		return about(issue, past(soft(130)), change)
	}
	all := []question{
		about(issue), about(issue, func(q *question) { q.in.Event.Result = &engine.ResultFacts{Trouble: engine.TroubleMissing} }),
		about(issue, past(soft(20))), about(issue, past(soft(100))),
		about(issue, past(made(issue, engine.SoftCorrection, 400, helped), soft(130))),
		about(issue, past(made(issue, engine.SoftCorrection, 130, engine.Return{Actions: 8, MS: 100_000}))),
		about(issue, past(made(issue, engine.SoftCorrection, 130, engine.Return{Actions: 20, MS: 30_000}))),
		about(issue, past(made(issue, engine.ContextReinforcement, 130, engine.Return{Actions: 2, MS: 2000}))),
		reminded(func(q *question) { q.in.Goal.Intents = []engine.Intent{engine.IntentFix} }),
		reminded(func(q *question) { q.in.Session.TasksDone, q.in.Session.TasksOpen = 1, 2 }),
		reminded(func(q *question) {
			q.in.Goal.Statements = []engine.StatementFacts{{Kind: engine.Forbids, Act: "delete", Objects: []string{"billing/"},
				Later: []engine.Intent{}}}
		}),
		about(issue, past(soft(2000), soft(1800), soft(1600), soft(1400), soft(1200), soft(1000), soft(800), soft(600), soft(400), soft(200))),
		about("resource_spiral"), about("resource_spiral", grows(1.3)), about("resource_spiral", grows(1.6)), about("resource_spiral", grows(2.5)),
		about("resource_spiral", past(made(issue, engine.ResourceThrottling, 400, helped))),
		about("scope_creep", past(made("scope_creep", engine.ResourceThrottling, 130, engine.Return{Actions: 2, MS: 2000}))),
		about("scope_creep", past(made("scope_creep", engine.ResourceThrottling, 130, engine.Return{Actions: 2, MS: 2000})), func(q *question) {
			q.findings[0].Level = "high"
		}),
		about("", func(q *question) {
			q.in.Session.Tokens, q.in.Event.Usage = 2, &engine.Usage{Tokens: 2}
		}),
		about("", func(q *question) {
			q.in.Phase, q.in.Session.Busy, q.in.Event.Result = engine.PhasePost, 2500, &engine.ResultFacts{MS: 2500}
		}),
		about("deny_workaround"), about("deny_workaround", past(made("deny_workaround", engine.SoftCorrection, 130, helped))),
		about("exfiltration", func(q *question) { q.in.Session.DeniedHarms = []string{engine.HarmExposure, engine.HarmExposure} }),
		about("exfiltration", func(q *question) { q.in.Session.Denials = 19 }),
	}
	resumed := func(mode, tool string, a engine.Action) question {
		return ask(a, func(q *question) { q.in.Session.Resumed, q.in.Event.Tool = mode, tool })
	}
	read := engine.Action{Types: []engine.Type{engine.TypeFileRead}}
	all = append(all, resumed(engine.ResumeLimits, "Agent", read), resumed(engine.ResumeLimits, "Read", read),
		ask(read, func(q *question) {
			q.in.Session.Resumed, q.in.History.Windows["metrics"] = engine.ResumeLimits, engine.WindowFacts{Events: 40}
		}),
		ask(read, withFact(engine.FactStopped), func(q *question) { q.in.Session.Stopped, q.in.Session.Aborted = true, true }))
	all = append(all, spendingQuestions()...)
	all = append(all, rollbackQuestions(about, past)...)
	for _, t := range engine.Types() {
		all = append(all, resumed(engine.ResumeSupervise, "Read", engine.Action{Types: []engine.Type{engine.Type(t)}}))
	}
	for _, kind := range engine.EffectKinds() {
		a := effect(engine.EffectKind(kind), nil)
		a.Types = []engine.Type{engine.TypeFileRead}
		all = append(all, ask(a, found(issue, 0.95)), ask(a, found(issue, 0.85)))
	}
	return all
}

// spendingQuestions are about the limits of a session that was throttled.
func spendingQuestions() []question {
	command := engine.Action{Types: []engine.Type{engine.TypeUnknown}, Commands: []engine.Command{{Name: "make"}}}
	spent := func(a engine.Action, use func(*engine.Input)) question {
		return ask(a, func(q *question) {
			q.in.Session.Interventions = []engine.InterventionFacts{{Kind: engine.ResourceThrottling, Issue: "loop", Run: true, Factor: 1}}
			use(&q.in)
		})
	}
	write := effect(engine.EffectFileWrite, nil)
	return []question{
		spent(command, func(in *engine.Input) { in.History.Windows["metrics"] = engine.WindowFacts{Runs: 39} }),
		spent(command, func(in *engine.Input) { in.History.Windows["metrics"] = engine.WindowFacts{Runs: 40} }),
		spent(command, func(in *engine.Input) { in.History.Turn = 8 }),
		spent(command, func(in *engine.Input) { in.History.Turn = 9 }),
		spent(command, func(in *engine.Input) { in.Session.Interventions[0].Tokens = 100_000 }),
		spent(command, func(in *engine.Input) { in.Session.Interventions[0].Tokens = 100_001 }),
		spent(command, func(in *engine.Input) { in.Session.Interventions[0].Busy = 300_000 }),
		spent(command, func(in *engine.Input) { in.Session.Interventions[0].Busy = 300_001 }),
		spent(write, func(in *engine.Input) { in.Session.Bytes = 50_000_000 }),
		spent(write, func(in *engine.Input) { in.Session.Bytes = 50_000_001 }),
	}
}

// underInterventions holds what else must be so for a setting of interventions to matter.
func underInterventions(path string, reviewer map[string]any) (undo func()) {
	other := map[string]any{
		"interventions.progressive":             []any{"repetitive_errors"},
		"interventions.severity.base":           []any{"repetitive_errors"},
		"interventions.severity.impact":         []any{"repetitive_errors"},
		"interventions.severity.escalation":     []any{"repetitive_errors"},
		"interventions.severity.window_seconds": []any{"repetitive_errors"},
		"interventions.severity.below":          []any{"repetitive_errors"},
		"interventions.texts.strong":            "strong",
	}[path]
	if !strings.HasPrefix(path, "interventions.") || path == "interventions.enabled" {
		return func() {}
	}
	settings, _ := reviewer["interventions"].(map[string]any)
	was := maps.Clone(settings)
	now := maps.Clone(settings)
	if now == nil {
		now = map[string]any{}
	}
	now["enabled"] = true
	if path == "interventions.texts.own" {
		now["kinds"], now["ladders"] = map[string]any{"page": map[string]any{}}, map[string]any{"repetitive_errors": []any{"page"}}
	}
	if path == "interventions.texts.checkpoint_rollback" {
		now["auto_rollback"] = true
	}
	switch other.(type) {
	case string:
		now["reinforcement_strength"] = other
	case []any:
		now["immediate"] = other
	}
	reviewer["interventions"] = now
	return func() { reviewer["interventions"] = was }
}

// stoppedQuestions are prompts in stopped sessions, and a read after one.
func stoppedQuestions() []question {
	in := func(phase engine.Phase, change func(*engine.SessionFacts)) question {
		return ask(effect(engine.EffectFileRead, nil), withFact(engine.FactStopped), withFact(engine.FactReadsOnly), func(q *question) {
			q.in.Phase, q.in.Action.Types = phase, []engine.Type{engine.TypeFileRead}
			q.in.Session.Stopped = true
			change(&q.in.Session)
		})
	}
	list := []question{
		in(engine.PhasePrompt, func(s *engine.SessionFacts) {}),
		in(engine.PhasePrompt, func(s *engine.SessionFacts) { s.StopRule, s.StopMS = "loop", 600_000 }),
		in(engine.PhasePrompt, func(s *engine.SessionFacts) { s.StopMS = 86_400_000 }),
		in(engine.PhasePrompt, func(s *engine.SessionFacts) { s.StopHeard = true }),
		in(engine.PhasePrompt, func(s *engine.SessionFacts) { s.Aborted = true }),
		in(engine.PhasePre, func(s *engine.SessionFacts) { s.StopHeard = true }),
	}
	for _, harm := range slices.Concat(engine.Harms(), []string{engine.HarmLimit, engine.HarmNone}, engine.FormerHarms()) {
		list = append(list, in(engine.PhasePrompt, func(s *engine.SessionFacts) { s.StopRule, s.StopHarm = "says_block", harm }))
	}
	return list
}
