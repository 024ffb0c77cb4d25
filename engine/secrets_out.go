package engine

import (
	"slices"
	"strings"
)

// WayOut says how something of a secret that was read reaches another machine
// by an action.
type WayOut string

// The ways out.
const (
	OutText      WayOut = "text"      // the action's own text holds it, as it is or in code
	OutFile      WayOut = "file"      // a file that is sent holds it
	OutWorkspace WayOut = "workspace" // it was committed, or written into the workspace, and goes along with that
)

// WaysOut lists every WayOut.
func WaysOut() []string { return []string{string(OutFile), string(OutText), string(OutWorkspace)} }

// secretsOut lists the ways by which an action sends something of a secret,
// sorted. What another machine is asked for it gets to know, so that of the text
// every request counts; files and the workspace count where data are sent.
func (h *History) secretsOut(a *Action) []WayOut {
	var list []WayOut
	if a.asksElsewhere() && slices.Contains(a.Carries, LabelSecret) {
		list = append(list, OutText)
	}
	if !slices.ContainsFunc(a.Effects, Effect.leaves) {
		return list
	}
	if slices.ContainsFunc(a.Effects, func(e Effect) bool {
		return e.Kind == EffectFileRead && slices.Contains(h.labelsBelow(&e), LabelSecret)
	}) {
		list = append(list, OutFile)
	}
	if h.goesAlong(a) {
		list = append(list, OutWorkspace)
	}
	slices.Sort(list)
	return list
}

// leaves says that an effect sends data to another machine.
func (e Effect) leaves() bool { return e.Egress && !e.Loopback }

// asksElsewhere says that another machine hears of an action. A tool of a server
// counts, unless files are all that it is about.
func (a *Action) asksElsewhere() bool {
	if slices.ContainsFunc(a.Effects, func(e Effect) bool { return (e.Kind == EffectNetwork || e.Egress) && !e.Loopback }) {
		return true
	}
	return a.serves()
}

// serves says that a tool of a server is called for something else than files.
func (a *Action) serves() bool {
	return slices.Contains(a.Types, TypeMCPCall) && !slices.ContainsFunc(a.Effects, func(e Effect) bool {
		return e.Kind == EffectFileRead || e.Kind == EffectFileWrite || e.Kind == EffectFileDelete
	})
}

// goesAlong says that a secret is in what an action makes others see of the
// workspace: in commits that it pushes, or in files that it publishes.
func (h *History) goesAlong(a *Action) bool {
	if a.pushes() {
		return h.Committed || a.commits() && h.strewn()
	}
	return slices.Contains(a.Signals, SignalPublish) && !slices.Contains(a.Signals, SignalDryRun) && h.strewn()
}

// strewn says that the session wrote something of a secret into a file of the
// workspace that is not kept apart.
func (h *History) strewn() bool { return slices.ContainsFunc(h.Paths, pathEntry.strewn) }

func (p pathEntry) strewn() bool {
	return strings.HasPrefix(p.Key, "./") && !p.Apart && p.State != ledgerDeleted && slices.Contains(p.Labels, LabelSecret)
}

// apart says that a file is one for secrets, or that git leaves it alone.
func (e *Effect) apart() bool {
	return e.Class == ClassCredential || e.Class == ClassEnvFile || e.Class == ClassGitData || e.Git == "ignored"
}

func (a *Action) commits() bool { return a.git("commit", "tag", "notes") }
func (a *Action) pushes() bool  { return a.git("push") }

func (a *Action) git(subs ...string) bool {
	return slices.ContainsFunc(a.Commands, func(c Command) bool {
		return c.Name == "git" && len(c.Sub) > 0 && slices.Contains(subs, c.Sub[0])
	})
}

// foldCommit notes that a commit holds something of a secret: in its message, or
// in files that may be in it.
func (h *History) foldCommit(a *Action) {
	if a.commits() && (slices.Contains(h.carries(a), LabelSecret) || h.strewn()) {
		h.Committed = true
	}
}

// foldPushed forgets what was pushed: somebody agreed to it.
func (h *History) foldPushed(a *Action) {
	if !a.pushes() || !h.Committed {
		return
	}
	h.Committed = false
	for i := range h.Paths {
		if p := &h.Paths[i]; p.strewn() {
			p.Labels = slices.DeleteFunc(slices.Clone(p.Labels), func(l Label) bool { return l == LabelSecret })
		}
	}
}
