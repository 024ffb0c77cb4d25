package lint

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// programRows warns about parts of rows about programs that never apply.
func (p *policy) programRows() {
	for _, l := range p.effective.RowLayers() {
		for _, file := range sortedKeys(l.Files) {
			if !p.layers[l.Name].Given || p.rule != "" || !strings.HasPrefix(file, "programs/") {
				continue
			}
			for _, r := range classify.Unreached(l.Files[file]) {
				p.add(&engine.Problem{File: l.Name + "/" + file, Line: r.Line, Col: r.Col, Code: "row.never", Warning: true, Message: r.Message})
			}
		}
	}
}

// access warns about access lists without an effect, and rules in them that never apply.
func (p *policy) access() {
	for _, l := range p.effective.Layers {
		for _, a := range l.Access {
			restricts := func(r bundles.AccessRule) bool { return r.Effect != bundles.EffectAllow }
			if a.Default == bundles.EffectAllow && len(a.Rules) > 0 && !slices.ContainsFunc(a.Rules, restricts) {
				p.warn(l.Layer, a.Rules[0].Spot, "effect", "rule.allow", "the access list %s only allows, by its rules and by default, "+
					"so it has no effect: the strictest of all lists and rules counts; write default: deny, or require_approval", a.ID)
			}
			for _, r := range a.Rules {
				p.writtenCommands(l.Layer, r)
				p.withoutArguments(l.Layer, r, a)
			}
		}
	}
}

// otherSyntax is a pattern of commands as clients write it in their permissions.
var otherSyntax = engine.Regexp(`^[A-Z][A-Za-z]*\((.*)\)$`)

// writtenCommands warns about commands that no call of the rule's tools and actions has.
func (p *policy) writtenCommands(layer string, r bundles.AccessRule) {
	for _, pattern := range r.Commands {
		if found := otherSyntax().FindStringSubmatch(pattern); found != nil {
			p.warn(layer, r.Spot, "commands", "rule.program", "commands: %q is written as the permissions of a client, and is never "+
				"a command here; write %q", pattern, strings.Replace(found[1], ":*", " *", 1))
		}
	}
	if len(r.Commands) == 0 {
		return
	}
	if len(r.Actions) > 0 && !slices.ContainsFunc(r.Actions, func(a string) bool { return fits(a, []string{cel.ActionExec}) }) {
		p.warn(layer, r.Spot, "commands", "rule.never", "commands: only the action %s has commands, and this rule is about %s; "+
			"remove one of the two", cel.ActionExec, strings.Join(r.Actions, ", ")).Warning = false
	}
	if len(r.Tools) > 0 && !slices.ContainsFunc(r.Tools, func(tool string) bool { return p.runsCommands(tool) }) {
		p.warn(layer, r.Spot, "commands", "rule.never", "commands: %s runs no commands, so this rule never applies; remove one of the two",
			strings.Join(r.Tools, ", ")).Warning = false
	}
}

// withoutArguments warns about a restriction of a program that any argument avoids, unless another pattern of the list has one.
func (p *policy) withoutArguments(layer string, r bundles.AccessRule, a bundles.AccessList) {
	for _, word := range r.Commands {
		more := func(pattern string) bool {
			return strings.HasPrefix(pattern, word+" *") || strings.HasPrefix(pattern, word+"*")
		}
		others := func(other bundles.AccessRule) bool { return slices.ContainsFunc(other.Commands, more) }
		if r.Effect != bundles.EffectAllow && !strings.ContainsAny(word, " *(") && !slices.ContainsFunc(a.Rules, others) {
			p.warn(layer, r.Spot, "commands", "rule.program", "commands: %q is only the program without arguments; write %q, which is with and "+
				"without any", word, word+" *")
		}
	}
}

// runsCommands reports whether a tool may run commands: a pattern may, and so may a tool that has no row.
func (p *policy) runsCommands(tool string) bool {
	action := classify.ActionOf(p.rows, tool)
	return strings.HasSuffix(tool, "*") || action == "" || action == cel.ActionExec
}
