package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// deniedEffects lists the effects of a denied call to which the denial may refer,
// by place. If the call would lose something, those are the effects that may
// cause the loss: the rest of its line stays allowed. If the line loses
// something permanent, the denial is not about a temporary file. A denial because of
// foreign code is not about the settings of the machine that the same line changes.
func deniedEffects(a *engine.Action, harm string) []int {
	all := where(a, func(*engine.Effect) bool { return true })
	if harm == engine.HarmForeignCode {
		if list := where(a, func(e *engine.Effect) bool { return e.Kind != engine.EffectSystemCall }); len(list) > 0 {
			return list
		}
	}
	if harm != engine.HarmLoss {
		return all
	}
	for _, about := range []func(*engine.Effect) bool{losesWhatLasts, loses, mayLose} {
		if list := where(a, about); len(list) > 0 {
			return list
		}
	}
	return all
}

// where lists the places of the effects for which ok is true.
func where(a *engine.Action, holds func(*engine.Effect) bool) []int {
	var list []int
	for i := range a.Effects {
		if holds(&a.Effects[i]) {
			list = append(list, i)
		}
	}
	return list
}

func losesWhatLasts(e *engine.Effect) bool { return loses(e) && e.Location != engine.LocationTemp }

// loses reports whether an effect destroys existing data: a file that is
// deleted or known to be overwritten, a change of the system or of a service,
// something that a program discards.
func loses(e *engine.Effect) bool {
	switch e.Kind {
	case engine.EffectFileWrite:
		return e.Exists == "yes"
	case engine.EffectProcess:
		return !onlyRuns(e)
	case engine.EffectNetwork:
		act := actOf(e)
		return act == actDelete || act == actForce
	}
	return e.Kind == engine.EffectFileDelete || e.Kind == engine.EffectSystemCall
}

// mayLose is loses for unknown earlier contents.
func mayLose(e *engine.Effect) bool { return e.Kind == engine.EffectFileWrite }

// spares reports whether an effect is not a workaround for the denial of a loss: what is moved
// within the workspace, or stashed, is still available; what the session created itself is not
// someone's work; and where nothing exists, nothing is lost. A file that was not to be written because of its code,
// or because of whom it reaches, may be removed. What the session made is its own.
func (d *denial) spares(a *engine.Action, e *engine.Effect) bool {
	written := engine.EffectKind(d.Kind) == engine.EffectFileWrite && (d.Harm == engine.HarmForeignCode || d.Harm == engine.HarmExposure)
	if e.Made == engine.MadeItself || d.undone(e) || written && e.Kind == engine.EffectFileDelete && e.Verb != "move" && e.Verb != "rename" {
		return true
	}
	if d.Harm != engine.HarmLoss && engine.EffectKind(d.Kind) != engine.EffectFileDelete {
		return false
	}
	return e.Verb == "stash" || movesWithin(a, e) || d.Harm == engine.HarmLoss && e.Ledger == engine.LedgerCreated ||
		e.Kind == engine.EffectFileWrite && (e.Exists == "no" || e.Ledger == engine.LedgerDeleted)
}

// undone reports whether an effect undoes what was denied: it discards the session's own change of a file that
// a person wants unchanged, or a change that is not there, or adds text to a file that was not to be changed otherwise.
func (d *denial) undone(e *engine.Effect) bool {
	switch d.Harm {
	case engine.HarmForbidden:
		return e.Verb == "discard" && (e.Ledger == engine.LedgerWritten || e.Git == "clean")
	case engine.HarmLoss:
		return e.Kind == engine.EffectFileWrite && e.Verb == "append"
	}
	return false
}

// movesWithin reports whether an effect moves something to a free place of the
// workspace.
func movesWithin(a *engine.Action, e *engine.Effect) bool {
	if e.Verb != "rename" {
		return false
	}
	to := moveTargets(a, e)
	return len(to) > 0 && !slices.ContainsFunc(to, func(o *engine.Effect) bool {
		return o.Location != engine.LocationInside || o.Exists == "yes" || o.Class == engine.ClassGitData
	})
}

// moveTargets returns the places to which the command of an effect moves
// something.
func moveTargets(a *engine.Action, e *engine.Effect) []*engine.Effect {
	var list []*engine.Effect
	for i := range a.Effects {
		o := &a.Effects[i]
		if o.Kind == engine.EffectFileWrite && o.Verb == "move" && o.Command == e.Command && o.Host == e.Host {
			list = append(list, o)
		}
	}
	return list
}

// followed reports whether an action moves the target of a denied action, and then applies the
// denied effect to it.
func (d *denial) followed(a *engine.Action, aims []string) bool {
	return slices.ContainsFunc(moved([]denial{*d}, a), func(m denial) bool {
		rest := *a
		rest.Effects = slices.Clone(a.Effects)
		for i := range rest.Effects {
			if e := &rest.Effects[i]; e.Verb == "move" || e.Verb == "rename" {
				e.Kind = engine.EffectFileRead // the destination keeps it
			}
		}
		return m.fits(&rest, aims)
	})
}

// followDenied tracks the targets of denied actions when they are renamed: deleting it
// there is another way to the same loss.
func (h *State) followDenied(n int64, a *engine.Action) {
	for _, d := range moved(h.Denials, a) {
		d.N, d.At = n, h.Actions
		h.Denials = append(h.Denials, d)
	}
}

// moved returns denials with the new names that an action gives to their objects.
func moved(denials []denial, a *engine.Action) []denial {
	var list []denial
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Verb != "rename" {
			continue
		}
		for _, d := range denials {
			if d.Target == "" || engine.EffectKind(d.Kind) != engine.EffectFileDelete || !d.goesWith(e) {
				continue
			}
			list = append(list, d.at(moveTargets(a, e))...)
		}
	}
	return list
}

// goesWith reports whether an effect moves the target of a denied action, or a folder that
// contains it.
func (d *denial) goesWith(e *engine.Effect) bool {
	folder := *e
	folder.Recursive = true
	return reaches(&folder, d.Target)
}

// at returns the same denials for the current places of their objects.
func (d denial) at(places []*engine.Effect) []denial {
	var list []denial
	for _, o := range places[:min(len(places), maxDeniedEffects)] {
		d.Print, d.Target = "", about(o)
		list = append(list, d)
	}
	return list
}
