package explaincmd

import (
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
)

// Summary describes a record in three texts: a label, its subject, the reason.
func Summary(r *engine.Record) (word, what, why string) {
	switch r.Kind {
	case engine.KindControl:
		c := r.Control
		return c.Do, Chosen(c) + term.After(", of ", c.Record) + term.After(", checkpoint ", c.Checkpoint), c.Reason
	case engine.KindAct:
		if c := r.Act.Checkpoint; r.Act.Unsaved() {
			return string(c.Effect), r.Act.Of, c.Failure
		} else if c != nil && c.Saved != nil {
			return "save", r.Act.Of, Saved(c)
		}
		if t := r.Act.Taken; t != nil {
			return r.Act.Kind, t.From(), strings.TrimPrefix(r.Act.Result+"; "+t.Text(), "; ")
		}
		return r.Act.Kind, r.Act.Of, r.Act.Result
	case engine.KindPre, engine.KindPost:
		return callSummary(r)
	case engine.KindNote:
		if r.Note != nil {
			return string(r.Kind), r.Note.What, r.Note.Detail
		}
	}
	name := ""
	if r.Event != nil {
		name = r.Event.Name
	}
	return string(r.Kind), name, ""
}

// Saved says where the files are that a call destroys.
func Saved(c *engine.CheckpointFacts) string {
	return fmt.Sprintf("saved %s, %d bytes, in checkpoint %s", term.Counted(int(c.Saved.Files), "file", "files"), c.Saved.Bytes, c.ID)
}

func callSummary(r *engine.Record) (word, what, why string) {
	word = string(engine.AnswerOf(r).Effect)
	if r.Event != nil {
		what = r.Event.Tool
	}
	if r.Action != nil {
		what += " " + r.Action.Resource
	}
	switch {
	case r.Answer != nil && r.Answer.Mode == engine.ModeDegraded:
		return word, what, r.Answer.Failure
	case r.Decision == nil || r.Decision.Decision == engine.Allow:
		return word, what, ""
	}
	why = r.Decision.Reason
	if len(r.Decision.Rules) > 0 {
		why = strings.Join(r.Decision.RuleIDs(), ", ") + ": " + r.Decision.Rules[0].Message
	}
	if r.Decision.Decision != r.Decision.Enforced {
		why = "policy says " + string(r.Decision.Decision) + " (only observed): " + why
	}
	return word, what, why
}

// OtherForm describes the outcome of a call that was to be modified.
func OtherForm(r *engine.Record) string {
	switch form := r.Rewritten; {
	case form == nil:
		return ""
	case form.Action != nil:
		return fmt.Sprintf("as %s (%s)", form.Action.Resource, form.Decision)
	default:
		return "not modified: " + form.Failure
	}
}
