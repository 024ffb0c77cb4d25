package history

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// answered returns the verdict that the agent was told, which decides
// whether a call runs; a record without an answer (an imported one) counts
// as its decision.
func answered(r *engine.Record) engine.Verdict {
	if r.Answer != nil {
		return knownVerdict(r.Answer.Effect)
	}
	if r.Decision != nil {
		return knownVerdict(r.Decision.Enforced)
	}
	return engine.Allow
}

// knownVerdict turns a word that is not a verdict into block, which it counts
// as.
func knownVerdict(v engine.Verdict) engine.Verdict {
	return engine.Verdict(engine.Verdicts()[v.Strictness()])
}

// outcomeOf returns the outcome of a call from its post record.
func outcomeOf(r *engine.Record) engine.Outcome {
	if res := resultOf(r); res != nil && slices.Contains(engine.Outcomes(), string(res.Outcome)) {
		return res.Outcome
	}
	return engine.OutcomeUnknown
}

func knownTrouble(t engine.Trouble) engine.Trouble {
	if slices.Contains(engine.Troubles(), string(t)) {
		return t
	}
	return ""
}

func resultOf(r *engine.Record) *engine.ResultFacts {
	if r.Event == nil {
		return nil
	}
	return r.Event.Result
}

// toolLength is the length of a tool's name that an action keeps.
const toolLength = 24

// sketch keeps the first sketchSize tokens as 4 digits each.
func sketch(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens[:min(len(tokens), sketchSize)] {
		if len(t) >= 4 && plainASCII(t[:4]) {
			b.WriteString(t[:4])
		}
	}
	return b.String()
}

// turns returns the content that an action gives its target, and the content that it replaces,
// if the call contains them: an edit contains both, a write only the new one.
func turns(a *engine.Action) (from, into string) {
	if old, ok := a.Contents["old_string"]; ok {
		return prefix(old.MAC, hashDigits), prefix(a.Contents["new_string"].MAC, hashDigits)
	}
	return "", prefix(a.Contents["content"].MAC, hashDigits)
}
