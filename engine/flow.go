package engine

import (
	"slices"
	"strings"
)

// Label says where data come from. Labels go with what is read: to the output
// of a call, to actions that share a text with such an output, and to the files
// that these write.
type Label string

// The labels.
const (
	LabelUntrusted Label = "untrusted" // written by nobody in the session: pages, answers of services, files fetched
	LabelSecret    Label = "secret"    // read from a credential or env file
)

// labelPerson is a label of marks only: a person wrote it.
const labelPerson Label = "person"

// Labels lists every Label that policy sees.
func Labels() []string { return []string{string(LabelUntrusted), string(LabelSecret)} }

// maxMarks is how many marks of one label are kept; the latest. When one of a
// secret is forgotten, the session's own label remains.
const maxMarks = 160

// addMarks takes down what an output with a label held.
func (h *History) addMarks(l Label, marks []string) {
	if row := addDigits(h.Marks[l], marks, maxMarks); row != "" {
		h.Marks[l] = row
	}
}

// label notes that an agent of the session has read something with a label.
func (h *History) label(agent string, l Label, n int64) {
	if _, known := h.Labels[string(l)]; !known {
		h.Labels[string(l)] = n
	}
	a := h.agent(agent)
	if a == nil {
		a = &agentHistory{} // forgotten, or never asked about anything: the session's count remains
	}
	if l == LabelSecret {
		h.SecretAt, a.SecretAt = h.Actions, a.Events
	} else {
		h.UntrustedAt, a.UntrustedAt = h.Actions, a.Events
	}
}

// carries lists the labels of what an action shares with earlier outputs. What
// a person wrote themselves is not untrusted, wherever else it stands too.
func (h *History) carries(a *Action) []Label {
	var list []Label
	for _, m := range a.Marks {
		if hasDigits(h.Marks[LabelSecret], m) {
			list = append(list, LabelSecret)
		}
		if hasDigits(h.Marks[LabelUntrusted], m) && !hasDigits(h.Marks[labelPerson], m) {
			list = append(list, LabelUntrusted)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// outputLabels lists the labels of what a call returns: those of the files that
// it reads, and untrusted for what comes from elsewhere.
func (h *History) outputLabels(a *Action) []Label {
	var list []Label
	for i := range a.Effects {
		e := &a.Effects[i]
		switch {
		case e.Kind == EffectFileRead:
			if e.Class == ClassCredential || e.Class == ClassEnvFile {
				list = append(list, LabelSecret)
			}
			list = append(list, h.labelsBelow(e)...)
			if thirdParty(e.Place()) {
				list = append(list, LabelUntrusted)
			}
		case e.Kind == EffectFileDelete && e.Verb == "move": // where it goes, its labels go
			if e.Class == ClassCredential || e.Class == ClassEnvFile {
				list = append(list, LabelSecret)
			}
			list = append(list, h.labelsBelow(e)...)
		case e.Kind == EffectNetwork && !e.Loopback && !a.synchronises(e):
			list = append(list, LabelUntrusted)
		}
	}
	if a.serves() {
		list = append(list, LabelUntrusted)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// synchronises says that an effect is git's, to its remote: what it prints are
// names of branches and its own words.
func (a *Action) synchronises(e *Effect) bool {
	if e.Command < 0 || e.Command >= len(a.Commands) {
		return false
	}
	c := &a.Commands[e.Command]
	return c.Name == "git" && len(c.Sub) > 0 && slices.Contains([]string{"fetch", "pull", "push", "ls-remote", "remote"}, c.Sub[0])
}

// thirdParty says that a path is in a package that was fetched.
func thirdParty(place string) bool {
	return slices.ContainsFunc(strings.Split(place, "/"), func(part string) bool {
		switch part {
		case "node_modules", "bower_components", "site-packages", "dist-packages", "Pods":
			return true
		}
		return false
	})
}

// labelsBelow lists the labels of a path, and of what lies in it where an effect
// reaches so far.
func (h *History) labelsBelow(e *Effect) []Label {
	var list []Label
	place := e.Place()
	if place == "" {
		return nil
	}
	for i := range h.Paths {
		if p := &h.Paths[i]; len(p.Labels) > 0 && e.reaches(p.Key) {
			list = append(list, p.Labels...)
		}
	}
	return list
}

// foldOutput notes the labels of what a call returned.
func (h *History) foldOutput(r *Record, o Outcome) {
	res := resultOf(r)
	if r.Action == nil || res == nil || o == OutcomeDenied {
		return
	}
	for _, l := range h.outputLabels(r.Action) {
		h.label(agentOf(r), l, r.N)
		h.addMarks(l, res.Marks)
	}
	h.addMarks(LabelSecret, res.Secrets)
	for _, l := range h.turned(r.Action) {
		h.addMarks(l, res.Marks)
	}
	if o == OutcomeRan {
		h.foldPushed(r.Action)
	}
}

// turned lists the labels of a text that an action turns into another one, in
// code or out of it, with nothing else at hand: what it prints has them too.
// Whatever runs may say things of its own, so that only a secret outlasts that.
func (h *History) turned(a *Action) []Label {
	if a.asksElsewhere() {
		return nil
	}
	var list []Label
	for _, l := range h.carries(a) {
		if !slices.ContainsFunc(a.Effects, func(e Effect) bool { return e.Kind == EffectFileRead || l != LabelSecret }) {
			list = append(list, l)
		}
	}
	return list
}

// foldFlow labels the session with what an action will return, before anything
// is known of it: not every agent says what came of a call. It marks the files
// that the action writes with the labels of what it carries: from the data in its
// arguments, or from the files and hosts that the same action reads.
func (h *History) foldFlow(r *Record, a *Action) {
	returns := h.outputLabels(a)
	for _, l := range returns {
		h.label(agentOf(r), l, r.N)
	}
	h.foldCommit(a)
	labels := append(h.carries(a), returns...)
	if len(labels) == 0 {
		return
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Kind != EffectFileWrite || e.Short == "" {
			continue
		}
		if p := h.path(truncateKey(e.Place())); p != nil {
			p.Labels = append(p.Labels, labels...)
			slices.Sort(p.Labels)
			p.Labels, p.Apart = slices.Compact(p.Labels), e.apart()
		}
	}
}

// maxHosts is how many hosts the session remembers having contacted. One that
// is forgotten is new again.
const maxHosts = 64

func (h *History) foldHosts(a *Action) { h.Hosts = addDigits(h.Hosts, hostDigits(a), maxHosts) }

func (h *History) newHosts(a *Action) int64 {
	hosts := hostDigits(a)
	return int64(len(hosts) - shared(hosts, h.Hosts))
}

func hostDigits(a *Action) []string {
	var list []string
	for _, host := range a.Hosts {
		list = append(list, hexSum([]byte(host))[:hashDigits])
	}
	return list
}
