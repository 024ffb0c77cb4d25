package history

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// deny keeps the effects of a call that did not run, so that another way to one
// of them is recognised.
func (h *State) deny(n int64, a *engine.Action, harm string) {
	d := denial{N: n, At: h.Actions, Harm: harm}
	if a == nil {
		h.Denials = append(h.Denials, d)
		return
	}
	d.Print = boundKey(a.Fingerprint, digestLength)
	kept := 0
	for _, i := range objectedTo(a, harm) {
		e := &a.Effects[i]
		aim, act := aimOf(a, e), actOf(e)
		if kept < maxDeniedEffects && (aim != "" || act != "") && isAim(a, e) {
			d.Kind, d.Verb, d.Target = boundKey(string(e.Kind), digestLength), act, aim
			h.Denials = append(h.Denials, d)
			kept++
		}
	}
	if kept == 0 {
		h.Denials = append(h.Denials, d)
	}
}

// refuse keeps what is known of a call to which a person said no.
func (h *State) refuse(c *callEntry) {
	a := h.agent(c.Agent)
	if a == nil {
		return
	}
	if p := a.pastOf(c.Pre); p != nil {
		d := denial{N: p.N, At: h.Actions, Print: p.Print, Kind: string(p.Kind), Verb: p.Verb, Target: p.Target, Person: true}
		if sends(p.Verb) {
			d.Target = truncateKey(hostName(p.Target))
		}
		h.Denials = append(h.Denials, d)
	}
}

// forgive forgets denials about what a person names as they order work: they say
// themselves what they want of it. What they forbid in the same breath stays
// denied, and so does what the rules say of the next call.
func (h *State) forgive(g *engine.Goal) {
	if !wantsChanges(g) {
		return
	}
	h.Denials = slices.DeleteFunc(h.Denials, func(d denial) bool {
		return slices.ContainsFunc(g.Names, d.named) && !slices.ContainsFunc(g.Constraints, func(c engine.Constraint) bool {
			return c.Kind != engine.ConstraintLift && (c.What == "" || d.named(c.What))
		})
	})
}

// named says that a name stands for what was denied, or for a word of a program
// that was not to run.
func (d *denial) named(name string) bool {
	return namesPath(name, d.Target) || d.Verb == verbRuns &&
		slices.ContainsFunc(strings.Fields(d.Target), func(word string) bool { return namesPath(name, word) })
}

// neverDenied is of what was not denied before.
func neverDenied() engine.DenialFacts {
	return engine.DenialFacts{Same: engine.NeverAgo, Effect: engine.NeverAgo, Refused: engine.NeverAgo, Harms: map[string]int64{}}
}

// deniedFacts says how long ago an action was denied: in actions of the session,
// or of the agent itself, since others may act in between.
func (h *State) deniedFacts(agent *agentState, a *engine.Action) engine.DenialFacts {
	f := neverDenied()
	print := boundKey(a.Fingerprint, digestLength)
	var aims []string // of the action's effects; most calls follow no denial
	for i := range h.Denials {
		d := &h.Denials[i]
		ago := min(ago(h.Actions, d.At), agent.since(d.N))
		if aims == nil {
			aims = aimsOf(a)
		}
		switch {
		case d.Print == print && print != "":
			f.Same = min(f.Same, ago)
		case !d.fits(a, aims) && !d.followed(a, aims):
		case d.Person:
			f.Refused = min(f.Refused, ago)
		default:
			f.Effect = min(f.Effect, ago)
			if before, known := f.Harms[d.Harm]; d.Harm != "" && (!known || ago < before) {
				f.Harms[d.Harm] = ago
			}
		}
	}
	return f
}

// harmOf is what the rule that denied a call named. A call that was denied by its
// scores, or since nobody could be asked, has none: that says too little of it to
// take what comes later for another way to the same harm.
func harmOf(r *engine.Record) string {
	if r.Decision == nil {
		return ""
	}
	for _, rule := range r.Decision.Rules {
		if rule.Decision == engine.Block && rule.Enforcement == "" {
			return cmp.Or(rule.Harm, engine.HarmPolicy)
		}
	}
	return ""
}

// since counts the agent's actions since the one of a pre record, that one
// included.
func (a *agentState) since(pre int64) int64 {
	for i := len(a.Ring) - 1; i >= 0 && a.Ring[i].N >= pre; i-- {
		if a.Ring[i].N == pre {
			return int64(len(a.Ring) - i)
		}
	}
	return engine.NeverAgo
}

// fits says that an action would do what was denied: as much or more to the same
// target, or to one that holds it.
func (d *denial) fits(a *engine.Action, aims []string) bool {
	if d.Target == "" && d.Verb == "" {
		return false
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		act := actOf(e)
		if act != d.Verb && !(d.Verb == actSend && sends(act)) || e.Verb == trashVerb || !asStrong(engine.EffectKind(d.Kind), e.Kind) ||
			d.spares(a, e) {
			continue
		}
		if aims[i] == d.Target || e.Kind != engine.EffectFileRead && d.Target != "" && reaches(e, d.Target) {
			return true
		}
	}
	return false
}
