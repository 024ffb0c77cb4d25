package explaincmd

import (
	"iter"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
)

// Chosen describes who made a choice: a person and, for a question that waited, how they
// answered; or what else decided it.
func Chosen(c *engine.Control) string {
	if c.Decided == nil {
		return "by " + c.By
	}
	switch c.Decided.Who {
	case engine.DecidedTimeout:
		return "nobody answered in time"
	case engine.DecidedStop:
		return "the session was stopped first"
	case engine.DecidedRule:
		return "the approval no longer applied"
	}
	return "by " + c.By + " (" + c.Decided.Channel + ")"
}

// Asked describes a call that waited for a person outside the agent, by its record and those after
// it; empty: it did not wait.
func Asked(r *engine.Record, later iter.Seq2[*engine.Record, error]) (string, error) {
	if r.Answer == nil || r.Answer.Pending == nil {
		return "", nil
	}
	text := "no answer yet"
	for next, err := range later {
		if err != nil {
			return text, err
		}
		if said := aboutQuestion(next, r.ID()); said != "" {
			text = said
		}
	}
	return text, nil
}

// aboutQuestion describes what a record says about the question of a call; empty: nothing.
func aboutQuestion(r *engine.Record, id string) string {
	switch c := r.Control; {
	case r.Act != nil && r.Act.Kind == engine.ActResumed && r.Act.Of == id:
		return "the call ran"
	case c == nil || c.Record != id || c.Decided == nil:
		return ""
	case c.Do == engine.ControlApprove:
		return "approved " + Chosen(c) + term.After(": ", c.Reason)
	case c.Do == engine.ControlDeny && c.Decided.Who == engine.DecidedPerson:
		return "denied " + Chosen(c) + term.After(": ", c.Reason)
	case c.Do == engine.ControlDeny:
		return Chosen(c) + ", so it did not run" + term.After(": ", c.Reason)
	}
	return ""
}

func clockOf(ms int64) string { return time.UnixMilli(ms).Format("15:04:05") }
