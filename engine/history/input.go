package history

import (
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

func timeFacts(ms int64) engine.TimeFacts {
	t := time.UnixMilli(ms).UTC()
	return engine.TimeFacts{MS: ms, Hour: int64(t.Hour()), Minute: int64(t.Minute()), Weekday: engine.Weekdays()[t.Weekday()]}
}

// NewInput joins a record's facts with the history before it. The record needs
// its facts, phase and time; history is not changed.
func NewInput(r *engine.Record, h *State, view engine.View) engine.Input {
	in := engine.Input{
		Phase: r.Phase, Harness: r.Harness, Agent: agentOf(r),
		Time: timeFacts(r.T), Action: emptyAction(),
	}
	if r.Event != nil {
		in.Event = *r.Event
	}
	if r.Action != nil {
		in.Action = h.join(*r.Action)
	}
	in.Session = h.sessionFacts(r)
	in.Goal = h.goalFacts(&in.Action)
	in.History = h.facts(r, in.Action, view)
	if r.Phase == engine.PhaseRequest {
		in.Request = h.requestFacts(r)
	}
	in.Facts = FactsOf(&in)
	in.Kinds = distinct(in.Action.Effects, func(e *engine.Effect) string { return string(e.Kind) })
	in.Verbs = distinct(in.Action.Effects, func(e *engine.Effect) string { return e.Verb })
	return in
}

// distinct lists the words that effects have, sorted.
func distinct(effects []engine.Effect, word func(*engine.Effect) string) []string {
	words := make([]string, 0, len(effects))
	for i := range effects {
		if w := word(&effects[i]); w != "" {
			words = append(words, w)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// emptyAction is an action without nil lists: policy can count and iterate
// without checking.
func emptyAction() engine.Action {
	return engine.Action{
		Types: []engine.Type{}, Commands: []engine.Command{}, Paths: []string{}, Hosts: []string{},
		Effects: []engine.Effect{}, Signals: []engine.Signal{}, Opaque: []engine.Opaque{},
	}
}
