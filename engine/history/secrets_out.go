package history

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// secretsOut lists the ways by which an action sends part of a secret, sorted.
// Any request discloses its text, so for texts every request counts; files and
// the workspace count only if data are sent.
func (h *State) secretsOut(a *engine.Action) []engine.ExfilPath {
	var list []engine.ExfilPath
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
	if h.publishesSecret(a) {
		list = append(list, engine.OutWorkspace)
	}
	slices.Sort(list)
	return list
}

// publishesSecret reports whether a secret is in the parts of the workspace that an
// action publishes: in commits that it pushes, or in files.
func (h *State) publishesSecret(a *engine.Action) bool {
	if pushes(a) {
		return h.Committed || commits(a) && h.secretInWorkspace()
	}
	return slices.Contains(a.Signals, engine.SignalPublish) && !slices.Contains(a.Signals, engine.SignalDryRun) && h.secretInWorkspace()
}

// secretInWorkspace reports whether the session wrote part of a secret into a file of the
// workspace that git does not ignore.
func (h *State) secretInWorkspace() bool { return slices.ContainsFunc(h.Paths, pathEntry.strewn) }

func (p pathEntry) strewn() bool {
	deleted := p.known() && p.State == engine.LedgerDeleted
	return strings.HasPrefix(p.Key, "./") && !p.Apart && !deleted && slices.Contains(p.Labels, engine.LabelSecret)
}

// foldCommit records that a commit contains part of a secret: in its message,
// or in files that may be in it.
func (h *State) foldCommit(a *engine.Action) {
	if commits(a) && (slices.Contains(h.carries(a), engine.LabelSecret) || h.secretInWorkspace()) {
		h.Committed = true
	}
}

// foldPushed forgets the pushed secrets: someone agreed to the push.
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
