package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxTrees bounds the working trees that are remembered; it belongs to
// FoldVersion. They only make policy milder, so the oldest is forgotten.
const maxTrees = 8

// madeTree returns the key of the working tree that an action has git make; of
// several, that of the last one. A folder that already exists may be someone's:
// git refuses it, and what comes after it in the same command may hide that.
func madeTree(a *engine.Action) string {
	key := ""
	if a == nil {
		return key
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Object == engine.ObjectWorktree && e.Kind == engine.EffectFileWrite && e.Certainty == engine.CertaintyExact &&
			e.Exists != "yes" && e.Class == "" && e.Host == "" && (besides(e.Location) || e.Location == engine.LocationTemp ||
			e.Location == engine.LocationInside) {
			key = truncateKey(e.Short)
		}
	}
	return key
}

// besides reports whether a working tree may be there.
func besides(l engine.Location) bool {
	return l == engine.LocationWorktree || l == engine.LocationOutside || l == engine.LocationBeside || l == engine.LocationHome
}

// endsTree reports whether git removes a working tree that it made in the
// session: it contained nobody's work before. What was moved into it may exist
// nowhere else.
func (h *State) endsTree(e *engine.Effect) bool {
	return e.Object == engine.ObjectWorktree && e.Kind == engine.EffectFileDelete && e.Certainty == engine.CertaintyExact &&
		e.Host == "" && e.Ledger != engine.LedgerMoved && slices.Contains(h.Trees, truncateKey(e.Short))
}

func (h *State) addTree(key string) {
	if key != "" {
		h.Trees = keepLast(appendOnce(h.Trees, key), maxTrees)
	}
}

// dropTree forgets a tree that is removed, by git or otherwise.
func (h *State) dropTree(e *engine.Effect) {
	if len(h.Trees) > 0 && e.Host == "" {
		h.Trees = slices.DeleteFunc(h.Trees, func(key string) bool { return reaches(e, key) })
	}
}

// location reports where an effect takes place, given the working trees that git made in the
// session: if nothing is known about the disk, only these show what belongs to the workspace's
// repository.
func (h *State) location(e *engine.Effect) engine.Location {
	known := e.Certainty == engine.CertaintyExact || e.Certainty == engine.CertaintyGlob
	if len(h.Trees) == 0 || !known || e.Host != "" || e.Short == "" || e.Location == engine.LocationWorktree || !besides(e.Location) {
		return e.Location
	}
	above := upwards(e.Short)[1:]
	if e.Certainty == engine.CertaintyGlob && len(above) > 0 {
		above = above[1:] // a pattern may take all that is in a tree
	}
	if slices.ContainsFunc(above, func(dir string) bool { return slices.Contains(h.Trees, truncateKey(dir)) }) {
		return engine.LocationWorktree
	}
	return e.Location
}
