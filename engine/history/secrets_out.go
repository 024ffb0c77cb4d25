package history

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// secretsOut lists the ways by which an action sends something of a secret,
// sorted. What another machine is asked for it gets to know, so that of the text
// every request counts; files and the workspace count where data are sent.
func (h *State) secretsOut(a *engine.Action) []engine.WayOut {
	var list []engine.WayOut
	if asksElsewhere(a) && slices.Contains(a.Carries, engine.LabelSecret) {
		list = append(list, engine.OutText)
	}
	if !slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return e.Egress && !e.Loopback }) {
		return list
	}
	if slices.ContainsFunc(a.Effects, func(e engine.Effect) bool {
		return e.Kind == engine.EffectFileRead && slices.Contains(h.labelsBelow(&e), engine.LabelSecret)
	}) {
		list = append(list, engine.OutFile)
	}
	if h.goesAlong(a) {
		list = append(list, engine.OutWorkspace)
	}
	slices.Sort(list)
	return list
}

// goesAlong says that a secret is in what an action makes others see of the
// workspace: in commits that it pushes, or in files that it publishes.
func (h *State) goesAlong(a *engine.Action) bool {
	if pushes(a) {
		return h.Committed || commits(a) && h.strewn()
	}
	return slices.Contains(a.Signals, engine.SignalPublish) && !slices.Contains(a.Signals, engine.SignalDryRun) && h.strewn()
}

// strewn says that the session wrote something of a secret into a file of the
// workspace that is not kept apart.
func (h *State) strewn() bool { return slices.ContainsFunc(h.Paths, pathEntry.strewn) }

func (p pathEntry) strewn() bool {
	return strings.HasPrefix(p.Key, "./") && !p.Apart && p.State != engine.LedgerDeleted && slices.Contains(p.Labels, engine.LabelSecret)
}

// foldCommit notes that a commit holds something of a secret: in its message, or
// in files that may be in it.
func (h *State) foldCommit(a *engine.Action) {
	if commits(a) && (slices.Contains(h.carries(a), engine.LabelSecret) || h.strewn()) {
		h.Committed = true
	}
}

// foldPushed forgets what was pushed: somebody agreed to it.
func (h *State) foldPushed(a *engine.Action) {
	if !pushes(a) || !h.Committed {
		return
	}
	h.Committed = false
	for i := range h.Paths {
		if p := &h.Paths[i]; p.strewn() {
			p.Labels = slices.DeleteFunc(slices.Clone(p.Labels), func(l engine.Label) bool { return l == engine.LabelSecret })
		}
	}
}
