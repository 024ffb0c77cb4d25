package history

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// labelPerson is a label only for marks: a person wrote the text.
const labelPerson engine.Label = "person"

// labelOwn is a label only for marks: the agent wrote the text before it
// occurred in anything that it read.
const labelOwn engine.Label = "own"

// maxMarks is the number of latest marks that are kept per label. When one of a
// secret is forgotten, the session's own label remains.
const maxMarks = 160

// addMarks records the marks of an output with a label.
func (h *State) addMarks(l engine.Label, marks []string) {
	if row := addDigits(h.Marks[l], marks, maxMarks); row != "" {
		h.Marks[l] = row
	}
}

// label records that an agent of the session has read something with a label.
func (h *State) label(agent string, l engine.Label, n int64) {
	if _, known := h.Labels[string(l)]; !known {
		h.Labels[string(l)] = n
	}
	a := h.agent(agent)
	if a == nil {
		a = &agentState{} // forgotten, or the agent was never reviewed: the session's count remains
	}
	if l == engine.LabelSecret {
		h.SecretAt, a.SecretAt = h.Actions, a.Events
	} else {
		h.UntrustedAt, a.UntrustedAt = h.Actions, a.Events
	}
}

// carries lists the labels of texts that an action shares with earlier outputs.
// What a person wrote themselves, or the agent before it read it, is not
// untrusted, wherever else it occurs.
func (h *State) carries(a *engine.Action) []engine.Label {
	var list []engine.Label
	for _, m := range a.Marks {
		if hasDigits(h.Marks[engine.LabelSecret], m) {
			list = append(list, engine.LabelSecret)
		}
		if hasDigits(h.Marks[labelPerson], m) || hasDigits(h.Marks[labelOwn], m) {
			continue
		}
		for _, l := range []engine.Label{engine.LabelUntrusted, engine.LabelService} {
			if hasDigits(h.Marks[l], m) {
				list = append(list, l)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// foldOwn records the texts that an action is the first to contain. If it
// repeats anything that was read, the rest may be that text in another form.
func (h *State) foldOwn(a *engine.Action) {
	if len(h.carries(a)) == 0 {
		h.addMarks(labelOwn, a.Marks)
	}
}

// labelsRead lists the labels of a file's content.
func (h *State) labelsRead(e *engine.Effect) []engine.Label {
	list := h.labelsBelow(e)
	if e.Class == engine.ClassCredential || e.Class == engine.ClassEnvFile {
		list = append(list, engine.LabelSecret)
	}
	return list
}

// outputLabels lists the labels of what a call returns: those of the files that
// it reads, and untrusted for what comes from elsewhere.
func (h *State) outputLabels(a *engine.Action) []engine.Label {
	var list []engine.Label
	for i := range a.Effects {
		e := &a.Effects[i]
		switch {
		case e.Kind == engine.EffectFileRead:
			if e.Verb != engine.VerbList || len(a.Commands) > 1 { // another command may read what is listed
				list = append(list, h.labelsRead(e)...)
			}
			if thirdParty(e.Place()) {
				list = append(list, engine.LabelUntrusted)
			}
		case e.Kind == engine.EffectFileDelete && e.Verb == "move", e.Verb == "rename": // labels are copied together with the file
			if e.Class == engine.ClassCredential || e.Class == engine.ClassEnvFile {
				list = append(list, engine.LabelSecret)
			}
			list = append(list, h.labelsBelow(e)...)
		case e.Kind == engine.EffectNetwork && !e.Loopback && !a.Synchronises(e):
			list = append(list, engine.LabelUntrusted)
		}
	}
	if callsServer(a) {
		list = append(list, engine.LabelUntrusted)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// labelsBelow lists the labels of a path, and of its contents if the effect is
// recursive.
func (h *State) labelsBelow(e *engine.Effect) []engine.Label {
	var list []engine.Label
	place := e.Place()
	if place == "" {
		return nil
	}
	for i := range h.Paths {
		if p := &h.Paths[i]; len(p.Labels) > 0 && reaches(e, p.Key) {
			list = append(list, p.Labels...)
		}
	}
	return list
}

// foldOutput records the labels of a call's output.
func (h *State) foldOutput(r *engine.Record, o engine.Outcome) {
	res := resultOf(r)
	if r.Action == nil || res == nil || o == engine.OutcomeDenied {
		return
	}
	for _, l := range h.outputLabels(r.Action) {
		h.label(agentOf(r), l, r.N)
		h.addMarks(l, res.Marks)
		if l == engine.LabelUntrusted {
			h.addMarks(engine.LabelService, res.Names)
		}
	}
	h.addMarks(engine.LabelSecret, h.notOwn(res.Secrets))
	for _, l := range h.turned(r.Action) {
		h.addMarks(l, res.Marks)
	}
	if o == engine.OutcomeRan {
		h.foldPushed(r.Action)
	}
}

// turned lists the labels of a string that an action transforms without other
// inputs: its output has them too. A program that is run may print something of
// its own, so then only the label of a secret remains.
func (h *State) turned(a *engine.Action) []engine.Label {
	if asksElsewhere(a) || saysOnlyThatItDid(a) {
		return nil
	}
	var list []engine.Label
	for _, l := range h.carries(a) {
		if !slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return e.Kind == engine.EffectFileRead || l != engine.LabelSecret }) {
			list = append(list, l)
		}
	}
	return list
}

// saysOnlyThatItDid reports whether a result is only a status message: a tool
// that writes a file or starts an agent, and git, print their own messages
// rather than the call's input.
func saysOnlyThatItDid(a *engine.Action) bool {
	if len(a.Commands) == 0 {
		return slices.Contains(a.Types, engine.TypeAgentSpawn) ||
			slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return e.Kind == engine.EffectFileWrite })
	}
	return !slices.ContainsFunc(a.Commands, func(c engine.Command) bool { return c.Name != "git" })
}

// notOwn removes what the agent was the first to write: that is an example that it
// invented, and not a secret that it read.
func (h *State) notOwn(marks []string) []string {
	return slices.DeleteFunc(slices.Clone(marks), func(m string) bool {
		return hasDigits(h.Marks[labelOwn], m) && !hasDigits(h.Marks[engine.LabelSecret], m)
	})
}

// foldFlow labels the session with what an action will return, before the result is known,
// since not every agent reports results. It also labels the files that the action writes: with
// the labels of the data in its arguments, and of the files and hosts that the same action
// reads.
func (h *State) foldFlow(r *engine.Record, a *engine.Action) {
	returns := h.outputLabels(a)
	for _, l := range returns {
		h.label(agentOf(r), l, r.N)
	}
	h.foldCommit(a)
	own := h.writes(a)
	if len(own) == 0 && len(returns) == 0 {
		return
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Kind != engine.EffectFileWrite || e.Short == "" {
			continue
		}
		labels := own
		if !onlyInstalls(a, e.Command) {
			labels = append(slices.Clip(own), returns...)
		}
		if p := h.path(truncateKey(e.Place())); p != nil && len(labels) > 0 {
			p.Labels = append(p.Labels, labels...)
			slices.Sort(p.Labels)
			p.Labels, p.Apart = slices.Compact(p.Labels), keptApart(e)
		}
	}
}

// onlyInstalls reports whether the only program of an action that contacts
// other hosts is an installer; its progress messages do not end up in what
// another command writes.
func onlyInstalls(a *engine.Action, command int) bool {
	if !slices.Contains(a.Signals, engine.SignalPackageInstall) || slices.ContainsFunc(a.Effects, func(e engine.Effect) bool {
		return e.Kind == engine.EffectFileRead
	}) {
		return false
	}
	asks := where(a, func(e *engine.Effect) bool { return e.Kind == engine.EffectNetwork && !e.Loopback })
	if len(asks) != 1 {
		return false
	}
	e := &a.Effects[asks[0]]
	return e.Command >= 0 && e.Command < len(a.Commands) && e.Command != command && wholeProgram(e, &a.Commands[e.Command])
}

// copyThreshold is the minimum number of shared literals for a string to count as a copy
// of what was read, and not as one that uses its names.
const copyThreshold = 12

// maxForeignShare is the minimum number of marks per shared mark for a string to still
// count as the agent's own.
const maxForeignShare = 4

// writes lists the labels of texts that an action writes from its own
// arguments. A string that only uses names that were read, such as those of
// fields and ids, or one address among many of its own, is the agent's own: it
// counts as coming from outside if it is a copy, or if it contains something
// that could be an instruction and little else.
func (h *State) writes(a *engine.Action) []engine.Label {
	list := slices.DeleteFunc(h.carries(a), func(l engine.Label) bool { return l != engine.LabelSecret })
	names, orders := 0, 0
	for _, m := range a.Marks {
		if !hasDigits(h.Marks[engine.LabelUntrusted], m) || hasDigits(h.Marks[labelPerson], m) || hasDigits(h.Marks[labelOwn], m) {
			continue
		}
		if names++; !hasDigits(h.Marks[engine.LabelService], m) {
			orders++
		}
	}
	if names >= copyThreshold || orders > 0 && maxForeignShare*names >= len(a.Marks) {
		list = append(list, engine.LabelUntrusted)
	}
	return list
}

// maxHosts limits the contacted hosts that the session remembers. A host that is forgotten
// counts as new again.
const maxHosts = 64

func (h *State) newHosts(a *engine.Action) int64 {
	hosts := hostDigits(a)
	return int64(len(hosts) - shared(hosts, h.Hosts))
}

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
