package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// FactsOf lists the facts that are true of an input, sorted; it computes
// Input.Facts.
func FactsOf(in *engine.Input) []string {
	set := map[string]bool{
		engine.FactNotUnderstood: len(in.Action.Opaque) > 0,
		engine.FactFailedBefore:  in.History.Similar.Failed > 0,
		engine.FactUnmet:         slices.ContainsFunc(in.History.Presupposes, func(p engine.Precondition) bool { return !p.Met }),
		engine.FactStopped:       in.Session.Stopped,
		engine.FactDiffers:       in.History.Call != nil && in.History.Call.ExecutedDiffers,
		engine.FactAllowed:       in.Session.Allowed != "",
	}
	runFacts(in, set)
	for i := range in.Action.Effects {
		effectFacts(&in.Action.Effects[i], set)
	}
	set[engine.FactReadsOnly] = len(in.Action.Effects) > 0 && !set[engine.FactChanges] && !set[engine.FactNotUnderstood]
	names := []string{}
	for name, holds := range set {
		if holds {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// runFacts adds the facts about the course of the run.
func runFacts(in *engine.Input, set map[string]bool) {
	h, s := &in.History, &in.Session
	set[engine.FactFailed] = in.Event.Result != nil && in.Event.Result.Outcome == engine.OutcomeFailed
	for _, w := range h.Windows {
		set[engine.FactRepeated] = set[engine.FactRepeated] || w.Same > 1
		set[engine.FactMissing] = set[engine.FactMissing] || w.Missing > 0
	}
	set[engine.FactCycle] = h.Cycle.Period > 0
	set[engine.FactNothingNew] = h.Since.News > 1 && h.Since.News < engine.NeverHappened
	set[engine.FactDeniedBefore] = h.Denials.Same < engine.NeverHappened || h.Denials.Effect < engine.NeverHappened ||
		h.Denials.Refused < engine.NeverHappened
	set[engine.FactCheckEdited] = h.Rechecks != (engine.CheckFacts{})
	set[engine.FactAfterFailure] = h.Since.Failed < engine.NeverHappened
	set[engine.FactAuthError] = h.Since.AuthError < engine.NeverHappened
	set[engine.FactCarries] = len(in.Action.Carries) > 0
	set[engine.FactInherits] = len(in.Action.Inherits) > 0
	set[engine.FactUnread] = slices.ContainsFunc(in.Action.Effects, func(e engine.Effect) bool { return e.Unread != "" })
	set[engine.FactObeys] = slices.Contains(in.Action.Carries, engine.LabelUntrusted) ||
		slices.ContainsFunc(in.Action.Effects, func(e engine.Effect) bool { return e.Untrusted })
	set[engine.FactSecretOut] = len(in.Action.SecretsOut) > 0
	set[engine.FactReadSecret] = h.Since.Secret < engine.NeverHappened
	set[engine.FactReadOthers] = h.Since.Untrusted < engine.NeverHappened
	set[engine.FactGrowing] = len(s.Growing) > 0
	set[engine.FactGoal] = in.Goal.Known
	for _, said := range in.Goal.Statements {
		forbids := said.Kind == engine.Forbids
		set[engine.FactConstrained] = set[engine.FactConstrained] || forbids
		set[engine.FactPermitted] = set[engine.FactPermitted] || !forbids
	}
	set[engine.FactNewHost] = h.NewHosts > 0
	set[engine.FactSpread] = s.Elsewhere > 0
	set[engine.FactClaims] = in.Event.Says != nil
}

// spread returns the share of elsewhere in all paths that were written.
func spread(s *engine.SessionFacts) float64 {
	var all int64
	for where, count := range s.Written {
		if where != string(engine.LocationNull) {
			all += count
		}
	}
	return engine.Round6(float64(s.Elsewhere) / float64(max(all, 1)))
}

// elsewhere counts the paths written since the last prompt that are neither in
// the workspace nor temporary, and that no person named.
func (h *State) elsewhere() int64 {
	var n int64
	for i := range h.Paths {
		p := &h.Paths[i]
		switch p.Where {
		case "", string(engine.LocationInside), string(engine.LocationSelf), string(engine.LocationWorktree), string(engine.LocationTemp),
			string(engine.LocationBeside), string(engine.LocationNotes), string(engine.LocationNull), engine.LocationNamed:
		default:
			if p.N > h.PromptN {
				n++
			}
		}
	}
	return n
}

func effectFacts(e *engine.Effect, set map[string]bool) {
	deletes, writes := e.Kind == engine.EffectFileDelete, e.Kind == engine.EffectFileWrite
	for name, holds := range map[string]bool{
		engine.FactChanges:         e.Kind != engine.EffectFileRead,
		engine.FactChangesFiles:    deletes || writes,
		engine.FactDeletes:         deletes,
		engine.FactRecursiveDelete: deletes && e.Recursive,
		engine.FactOutside:         e.Location != "" && e.Location != engine.LocationInside,
		engine.FactExternal:        e.Kind == engine.EffectNetwork && !e.Loopback,
		engine.FactPrivileged:      e.Privileged,
		engine.FactUnknownTarget:   (deletes || writes) && e.Location == engine.LocationUnknown,
	} {
		set[name] = set[name] || holds
	}
}
