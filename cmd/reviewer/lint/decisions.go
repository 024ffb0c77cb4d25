package lint

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/rego"
)

// decisions finds rows whose decision has no effect, or one other than stated, and
// messages that cannot be filled in.
func (p *policy) decisions() {
	for _, l := range p.effective.Layers {
		for _, r := range l.Rules {
			switch {
			case r.Decision == string(engine.Modify) && !p.rules.HasForm(l.Layer, r.ID):
				p.warn(l.Layer, r.Spot, "decision", "rule.no_form", "%s", rego.NoForm(l.Layer, r.ID)+p.otherForm(l.Layer, r.ID))
			case r.Decision == string(engine.Allow):
				p.warn(l.Layer, r.Spot, "decision", "rule.allow", "%s", rego.Allows)
			}
			if r.Always && len(r.Overridable) > 0 {
				p.warn(l.Layer, r.Spot, "overridable", "row.meaning", "overridable: a rule with always: true permits no exceptions; "+
					"remove one of the two")
			}
			p.placeholders(l.Layer, r)
			p.late(l.Layer, r)
		}
	}
}

// otherForm names a modified form for a rule that does not exist, whose name is nearly that of one without any.
func (p *policy) otherForm(layer, id string) string {
	var others []string
	for _, form := range sortedKeys(p.rules.Forms) {
		other, is := strings.CutPrefix(form, layer+"/")
		if exists := slices.ContainsFunc(p.effective.Rules(), func(r bundles.Rule) bool { return r.ID == other }); is && !exists && other != "" {
			others = append(others, other)
		}
	}
	if near := engine.Nearest(id, others); near != "" {
		return "; no rule has the id of operations[\"" + near + "\"], which may have been meant"
	}
	return ""
}

// holds reports whether a decision denies a call, asks about it or changes it.
func holds(decision string) bool {
	return slices.Contains([]string{string(engine.Block), string(engine.Ask), string(engine.Modify)}, decision)
}

// holding returns the ids of the conditions whose rule denies a call or asks about it. In a list that denies by default,
// a call that a rule does not match is denied.
func (p *policy) holding() map[string]bool {
	ids := map[string]bool{}
	for _, r := range p.effective.Rules() {
		ids[r.ID] = holds(r.Decision)
	}
	for _, a := range p.effective.Access() {
		for _, r := range a.Rules {
			ids[a.FindingID(r.ID)] = r.Effect != bundles.EffectAllow && a.Default != bundles.EffectDeny
		}
	}
	return ids
}

// late warns about a rule that could only stop calls that have run.
func (p *policy) late(layer string, r bundles.Rule) {
	after := []string{string(engine.PhasePost), string(engine.PhaseBatch)}
	if holds(r.Decision) && len(r.Match.Phases) > 0 &&
		!slices.ContainsFunc(r.Match.Phases, func(phase string) bool { return !slices.Contains(after, phase) }) {
		p.warn(layer, r.Spot, "decision", cel.CodeLate, "%s", cel.Late)
	}
}

// placeholders warns about placeholders that no matching call can fill.
func (p *policy) placeholders(layer string, r bundles.Rule) {
	if !r.Conditional() {
		return // its Rego fills in the message
	}
	if r.Details != "" && r.Decision != "" && !strings.Contains(r.Message, "{details}") {
		p.warn(layer, r.Spot, "details", "rule.placeholder", "details: nobody reads it, since the message has no {details}")
	}
	for _, f := range []struct{ name, why string }{
		{"details", noDetails(r)}, {"host", noHost(r.Match)}, {"command", noCommand(r.Match)}, {"target", noTarget(r.Match)},
		{"place", noTarget(r.Match)}, {"tool", noCall(r.Match)}, {"operations", noCall(r.Match)},
	} {
		if f.why != "" && strings.Contains(r.Message, "{"+f.name+"}") {
			p.warn(layer, r.Spot, "message", "rule.placeholder", "message: {%s} can never be filled in: %s", f.name, f.why)
		}
	}
}

// noDetails explains why a row has no details; empty: it has some.
func noDetails(r bundles.Rule) string {
	if r.Details != "" {
		return ""
	}
	return "the row has no details: expression"
}

// noCall explains why the events that a match selects are not calls.
func noCall(m bundles.RuleMatch) string {
	calls := []string{string(engine.PhasePre), string(engine.PhasePost)}
	if len(m.Phases) == 0 || slices.ContainsFunc(m.Phases, func(phase string) bool { return slices.Contains(calls, phase) }) {
		return ""
	}
	return "match has phases without a call, " + strings.Join(m.Phases, ", ")
}

// noTarget explains why no call of a match has a target: files that are only read are
// not targets.
func noTarget(m bundles.RuleMatch) string {
	reads := func(t string) bool { return t == string(engine.TypeFileRead) }
	if len(m.Types) > 0 && !slices.ContainsFunc(m.Types, func(t string) bool { return !reads(t) }) {
		return "match has calls that only read"
	}
	return noCall(m)
}

// noHost explains why no call of a match contacts a host.
func noHost(m bundles.RuleMatch) string {
	files := []string{string(engine.TypeFileRead), string(engine.TypeFileCreation), string(engine.TypeFileModification),
		string(engine.TypeFileDeletion)}
	if len(m.Types) == 0 || slices.ContainsFunc(m.Types, func(t string) bool { return !slices.Contains(files, t) }) {
		return noCall(m)
	}
	return "match has types without a host, " + strings.Join(m.Types, ", ")
}

// noCommand explains why no call of a match has a command.
func noCommand(m bundles.RuleMatch) string {
	without := []string{"Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Glob", "Grep", "WebFetch", "WebSearch", "TodoWrite"}
	if len(m.Tools) == 0 || slices.ContainsFunc(m.Tools, func(t string) bool { return !slices.Contains(without, t) }) {
		return noCall(m)
	}
	return "match has tools without a command, " + strings.Join(m.Tools, ", ")
}
