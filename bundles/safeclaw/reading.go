package safeclaw

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/foreign"
)

// expr is a condition of an access rule: patterns of action names, and an
// expression in CEL; both must be true if both are present.
type expr struct {
	fixed   bool // the constant value
	value   bool
	actions []string
	cel     string
	or      bool // cel has an || outside parentheses
}

var (
	always = expr{fixed: true, value: true}
	never  = expr{fixed: true}
)

// text returns the whole condition in CEL.
func (e expr) text() string {
	switch {
	case e.fixed && e.value:
		return "true"
	case e.fixed:
		return "false"
	case e.actions == nil:
		return e.cel
	case e.cel == "":
		return named(e.actions)
	}
	return grouped(named(e.actions), len(e.actions) > 1) + " && " + grouped(e.cel, e.or)
}

func grouped(text string, or bool) string {
	if or {
		return "(" + text + ")"
	}
	return text
}

// named writes patterns of action names in CEL.
func named(actions []string) string {
	parts := make([]string, len(actions))
	for i, a := range actions {
		if prefix, ok := strings.CutSuffix(a, "*"); ok {
			parts[i] = "action.name.startsWith(" + foreign.Quote(prefix) + ")"
		} else {
			parts[i] = "action.name == " + foreign.Quote(a)
		}
	}
	return strings.Join(parts, " || ")
}

// anyOf is true if one of the conditions is.
func anyOf(list []expr) expr {
	list = slices.DeleteFunc(slices.Clone(list), func(e expr) bool { return e.fixed && !e.value })
	switch {
	case len(list) == 0:
		return never
	case slices.ContainsFunc(list, func(e expr) bool { return e.fixed }):
		return always
	case len(list) == 1:
		return list[0]
	case !slices.ContainsFunc(list, func(e expr) bool { return e.cel != "" }):
		return expr{actions: union(list)}
	}
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = e.text()
	}
	return expr{cel: strings.Join(parts, " || "), or: true}
}

func union(list []expr) []string {
	var all []string
	for _, e := range list {
		for _, a := range e.actions {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all
}

// allOf is true if all of the conditions are. The first one that only tests names
// becomes patterns, which are evaluated before any expression.
func allOf(list []expr) expr {
	list = slices.DeleteFunc(slices.Clone(list), func(e expr) bool { return e.fixed && e.value })
	if len(list) == 0 {
		return always
	}
	var out expr
	var parts []expr
	for _, e := range list {
		if e.fixed {
			return never
		}
		if out.actions == nil && e.actions != nil {
			out.actions, e.actions = e.actions, nil
		}
		if e.cel != "" || e.actions != nil {
			parts = append(parts, e)
		}
	}
	if len(parts) == 1 && parts[0].actions == nil {
		out.cel, out.or = parts[0].cel, parts[0].or
		return out
	}
	texts := make([]string, len(parts))
	for i, e := range parts {
		texts[i] = grouped(e.text(), e.or && e.actions == nil || e.cel == "" && len(e.actions) > 1)
	}
	out.cel = strings.Join(texts, " && ")
	return out
}

// fill sets the condition of a rule, and keeps its schedule and date.
func (e expr) fill(r *bundles.AccessRule) {
	switch {
	case e.fixed && e.value:
	case e.fixed:
		r.When, r.Schedule, r.ExpiresAt = "false", nil, ""
	default:
		r.Actions, r.When = e.actions, e.cel
	}
}

// reading is the meaning of a part of a policy, unless it is unknown or cannot be
// expressed.
type reading struct {
	expr
	why []string // there is none
}

func exactly(e expr) reading { return reading{expr: e} }

// doubtful returns a reading without a known meaning.
func doubtful(why string) reading { return reading{why: []string{why}} }

func (r reading) and(o reading) reading { return join(allOf, []reading{r, o}) }

func join(f func([]expr) expr, list []reading) reading {
	var parts []expr
	var out reading
	for _, r := range list {
		parts, out.why = append(parts, r.expr), append(out.why, r.why...)
	}
	out.expr = f(parts)
	return out
}
