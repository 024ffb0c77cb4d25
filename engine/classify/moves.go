package classify

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// keepMoves makes new names of those moves after which a file is still at hand:
// what moves is not deleted. Where it lands in a temporary directory, on a device
// or nowhere that is known about, and where it belongs to the system, it counts as
// gone.
func keepMoves(list []engine.Effect) {
	kept := landsAtHand(list)
	for i := range list {
		e := &list[i]
		if e.Kind != engine.EffectFileDelete || e.Verb != "move" || !kept[moveOf(e)] || !mayMove(e) {
			continue
		}
		e.Kind, e.Verb = engine.EffectFileWrite, "rename"
		e.Recursive = e.Recursive && e.Location != engine.LocationInside && e.Location != engine.LocationUnknown
		if e.Reversibility == engine.R4 || e.Reversibility == engine.R5 {
			e.Reversibility = ""
		}
		if e.Exists == "no" && e.Certainty == engine.CertaintyExact {
			e.Reversibility = engine.R3
		}
	}
}

// moving is a command that moves things, and the machine on which it does.
type moving struct {
	command int
	host    string
}

func moveOf(e *engine.Effect) moving { return moving{e.Command, e.Host} }

// landsAtHand returns, for each command that moves things, whether all of them end
// up where they can be found.
func landsAtHand(list []engine.Effect) map[moving]bool {
	kept := map[moving]bool{}
	for i := range list {
		e := &list[i]
		if e.Kind == engine.EffectFileWrite && e.Verb == "move" && e.Command >= 0 {
			before, seen := kept[moveOf(e)]
			kept[moveOf(e)] = (before || !seen) && onThisMachine(e)
		}
	}
	return kept
}

// onThisMachine reports whether a place keeps what is moved to it.
func onThisMachine(e *engine.Effect) bool {
	return slices.Contains([]engine.Location{engine.LocationInside, engine.LocationSelf, engine.LocationOutside, engine.LocationHome,
		engine.LocationSystem, engine.LocationUnknown}, e.Location)
}

// mayMove reports whether a file at a place is missed by nobody who finds it
// elsewhere. Programs and settings of the system are looked for where they are,
// and a pattern from the root on stands for some of them.
func mayMove(e *engine.Effect) bool {
	return e.Target != "/" && slices.Contains([]engine.Location{engine.LocationInside, engine.LocationSelf, engine.LocationOutside,
		engine.LocationHome, engine.LocationTemp, engine.LocationUnknown}, e.Location)
}
