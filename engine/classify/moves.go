package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// keepMoves turns moves after which a file is still available into renames: a moved file is
// not deleted. A file that is moved to a temporary directory, a device or an unknown place, or
// that belongs to the system, counts as deleted.
func keepMoves(list []engine.Effect) {
	defer loseMoves(list)
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

// moving is a command that moves files, and the machine on which it runs.
type moving struct {
	command int
	host    string
}

func moveOf(e *engine.Effect) moving { return moving{e.Command, e.Host} }

// landsAtHand returns, for each command that moves files, whether all of them remain
// available.
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

// loseMoves turns renames into deletions where a later command deletes the place that the files came to.
func loseMoves(list []engine.Effect) {
	lost := map[moving]bool{}
	for i := range list {
		e := &list[i]
		if e.Kind == engine.EffectFileWrite && e.Verb == "move" && e.Command >= 0 && deletedLater(list, e) {
			lost[moveOf(e)] = true
		}
	}
	for i := range list {
		if e := &list[i]; e.Kind == engine.EffectFileWrite && e.Verb == "rename" && lost[moveOf(e)] {
			e.Kind, e.Verb, e.Recursive = engine.EffectFileDelete, "move", e.Recursive || e.Entry == "dir"
		}
	}
}

// deletedLater reports whether a later command deletes the place to which files are moved: mv data build/ && rm -r build.
func deletedLater(list []engine.Effect, moved *engine.Effect) bool {
	return slices.ContainsFunc(list, func(e engine.Effect) bool {
		return e.Kind == engine.EffectFileDelete && e.Verb != "move" && e.Command > moved.Command && e.Host == moved.Host && e.Target != "" &&
			(moved.Target == e.Target || strings.HasPrefix(moved.Target, strings.TrimSuffix(e.Target, "/")+"/"))
	})
}

// onThisMachine reports whether files moved to a place stay on this machine.
func onThisMachine(e *engine.Effect) bool {
	return slices.Contains([]engine.Location{engine.LocationInside, engine.LocationSelf, engine.LocationOutside, engine.LocationHome,
		engine.LocationSystem, engine.LocationUnknown}, e.Location)
}

// mayMove reports whether nothing depends on a file being at a place. Programs and settings
// of the system must stay where they are, and a pattern that starts at the root covers some
// of them.
func mayMove(e *engine.Effect) bool {
	return e.Target != "/" && slices.Contains([]engine.Location{engine.LocationInside, engine.LocationSelf, engine.LocationOutside,
		engine.LocationHome, engine.LocationTemp, engine.LocationUnknown}, e.Location)
}
