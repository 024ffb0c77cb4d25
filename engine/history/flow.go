package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// labelPerson is a label of marks only: a person wrote it.
const labelPerson engine.Label = "person"

// labelOwn is a label of marks only: the agent wrote it before it stood in
// anything that it read.
const labelOwn engine.Label = "own"

// maxMarks is how many marks of one label are kept; the latest. When one of a
// secret is forgotten, the session's own label remains.
const maxMarks = 160

// addMarks takes down what an output with a label held.
func (h *State) addMarks(l engine.Label, marks []string) {
	if row := addDigits(h.Marks[l], marks, maxMarks); row != "" {
		h.Marks[l] = row
	}
}

// label notes that an agent of the session has read something with a label.
func (h *State) label(agent string, l engine.Label, n int64) {
	if _, known := h.Labels[string(l)]; !known {
		h.Labels[string(l)] = n
	}
	a := h.agent(agent)
	if a == nil {
		a = &agentState{} // forgotten, or never asked about anything: the session's count remains
	}
	if l == engine.LabelSecret {
		h.SecretAt, a.SecretAt = h.Actions, a.Events
	} else {
		h.UntrustedAt, a.UntrustedAt = h.Actions, a.Events
	}
}

// carries lists the labels of what an action shares with earlier outputs. What
// a person wrote themselves, or the agent before it read it, is not untrusted,
// wherever else it stands too.
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

// foldOwn takes down what an action is the first to say. Where it repeats anything
// that was read, the rest may be that in another form.
func (h *State) foldOwn(a *engine.Action) {
	if len(h.carries(a)) == 0 {
		h.addMarks(labelOwn, a.Marks)
	}
}

// labelsRead lists the labels of what is in a file.
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
		case e.Kind == engine.EffectFileDelete && e.Verb == "move", e.Verb == "rename": // where it goes, its labels go
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

// labelsBelow lists the labels of a path, and of what lies in it where an effect
// reaches so far.
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

// foldOutput notes the labels of what a call returned.
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

// turned lists the labels of a text that an action turns into another one, in
// code or out of it, with nothing else at hand: what it prints has them too.
// Whatever runs may say things of its own, so that only a secret outlasts that.
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

// saysOnlyThatItDid says that an answer is no form of what the call was given: a
// tool that writes a file or starts an agent, and git, have words of their own.
func saysOnlyThatItDid(a *engine.Action) bool {
	if len(a.Commands) == 0 {
		return slices.Contains(a.Types, engine.TypeAgentSpawn) ||
			slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return e.Kind == engine.EffectFileWrite })
	}
	return !slices.ContainsFunc(a.Commands, func(c engine.Command) bool { return c.Name != "git" })
}

// notOwn leaves out what the agent was the first to say: that is an example that it
// made up, and no secret that it was told.
func (h *State) notOwn(marks []string) []string {
	return slices.DeleteFunc(slices.Clone(marks), func(m string) bool {
		return hasDigits(h.Marks[labelOwn], m) && !hasDigits(h.Marks[engine.LabelSecret], m)
	})
}

// foldFlow labels the session with what an action will return, before anything
// is known of it: not every agent says what came of a call. It marks the files
// that the action writes with the labels of what it carries: from the data in its
// arguments, or from the files and hosts that the same action reads.
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
			p.Labels, p.Apart = slices.Compact(p.Labels), apart(e)
		}
	}
}

// onlyInstalls says that all that an action asks elsewhere is an installer, which
// is none of what a command writes beside it: it says how far it is.
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

// copied is from how many literals on a text is a copy of what was read, and not one
// that uses its names.
const copied = 12

// ownShare is of how many marks of a text one may be of what was read, and the text
// is still the agent's own.
const ownShare = 4

// writes lists the labels of what an action writes down of its own arguments. Who
// uses names that were read, such as those of fields and ids, or one address among
// much of their own, writes a text of their own: it comes from outside as a copy, or
// where it holds what could order something and little else.
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
	if names >= copied || orders > 0 && ownShare*names >= len(a.Marks) {
		list = append(list, engine.LabelUntrusted)
	}
	return list
}

// maxHosts is how many hosts the session remembers having contacted. One that
// is forgotten is new again.
const maxHosts = 64

func (h *State) newHosts(a *engine.Action) int64 {
	hosts := hostDigits(a)
	return int64(len(hosts) - shared(hosts, h.Hosts))
}
