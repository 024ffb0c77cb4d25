package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// objectedTo lists the effects of a denied call that the denial may be about, by
// their places. Of a call that would lose something, those are the effects by
// which it may be lost: what else stands in its line goes on being allowed. Where
// the line loses something that lasts, a temporary file is not what it is about.
func objectedTo(a *engine.Action, harm string) []int {
	all := where(a, func(*engine.Effect) bool { return true })
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

// where lists the places of the effects of which something holds.
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

// loses says that what is there is gone after an effect: a file that is deleted or
// known to be overwritten, a change of the system or of a service, what a program
// throws away.
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

// mayLose is loses, where nobody knows what was there.
func mayLose(e *engine.Effect) bool { return e.Kind == engine.EffectFileWrite }

// spares says that an effect is no way around the denial of a loss: what is moved
// within the workspace, or stashed, is still at hand; what the session made itself
// is nobody's work; and nothing is lost where nothing is.
func (d *denial) spares(a *engine.Action, e *engine.Effect) bool {
	if d.Harm != engine.HarmLoss && engine.EffectKind(d.Kind) != engine.EffectFileDelete {
		return false
	}
	return e.Verb == "stash" || movesWithin(a, e) || d.Harm == engine.HarmLoss && e.Ledger == engine.LedgerCreated ||
		e.Kind == engine.EffectFileWrite && (e.Exists == "no" || e.Ledger == engine.LedgerDeleted)
}

// movesWithin says that an effect moves something to a free place of the workspace.
func movesWithin(a *engine.Action, e *engine.Effect) bool {
	if e.Verb != "rename" {
		return false
	}
	to := landings(a, e)
	return len(to) > 0 && !slices.ContainsFunc(to, func(o *engine.Effect) bool {
		return o.Location != engine.LocationInside || o.Exists == "yes" || o.Class == engine.ClassGitData
	})
}

// landings are the places where what an effect moves comes to lie: all those of
// its command.
func landings(a *engine.Action, e *engine.Effect) []*engine.Effect {
	var list []*engine.Effect
	for i := range a.Effects {
		o := &a.Effects[i]
		if o.Kind == engine.EffectFileWrite && o.Verb == "move" && o.Command == e.Command && o.Host == e.Host {
			list = append(list, o)
		}
	}
	return list
}

// followed says that an action moves what was denied, and then does to it what was.
func (d *denial) followed(a *engine.Action, aims []string) bool {
	return slices.ContainsFunc(moved([]denial{*d}, a), func(m denial) bool {
		rest := *a
		rest.Effects = slices.Clone(a.Effects)
		for i := range rest.Effects {
			if e := &rest.Effects[i]; e.Verb == "move" || e.Verb == "rename" {
				e.Kind = engine.EffectFileRead // where it lands, it is not lost
			}
		}
		return m.fits(&rest, aims)
	})
}

// followDenied keeps in mind what was denied where it goes under another name: to
// delete it there is another way to the same loss.
func (h *State) followDenied(n int64, a *engine.Action) {
	for _, d := range moved(h.Denials, a) {
		d.N, d.At = n, h.Actions
		h.Denials = append(h.Denials, d)
	}
}

// moved are denials, with the names that an action gives to what they are about.
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
			list = append(list, d.at(landings(a, e))...)
		}
	}
	return list
}

// goesWith says that what was denied is moved with an effect: it, or what holds it.
func (d *denial) goesWith(e *engine.Effect) bool {
	folder := *e
	folder.Recursive = true
	return reaches(&folder, d.Target)
}

// at are denials of the same for the places where it now lies.
func (d denial) at(places []*engine.Effect) []denial {
	var list []denial
	for _, o := range places[:min(len(places), maxDeniedEffects)] {
		d.Print, d.Target = "", about(o)
		list = append(list, d)
	}
	return list
}
