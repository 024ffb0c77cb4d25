package engine

import "slices"

// Label says where data come from. Labels go with what is read: to the output
// of a call, to actions that share a text with such an output, and to the files
// that these write.
type Label string

// The labels.
const (
	LabelUntrusted Label = "untrusted" // written by nobody in the session: pages, answers of services, files fetched
	LabelSecret    Label = "secret"    // read from a credential or env file

	labelPerson Label = "person" // of marks only: a person wrote it
)

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

// label notes that the session has read something with a label.
func (h *History) label(l Label, n int64) {
	if _, known := h.Labels[string(l)]; !known {
		h.Labels[string(l)] = n
	}
	if l == LabelSecret {
		h.SecretAt = h.Actions
	} else {
		h.UntrustedAt = h.Actions
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
			if p := h.path(truncateKey(e.Place())); p != nil && e.Short != "" {
				list = append(list, p.Labels...)
			}
		case e.Kind == EffectNetwork && !e.Loopback:
			list = append(list, LabelUntrusted)
		}
	}
	if slices.Contains(a.Types, TypeMCPCall) {
		list = append(list, LabelUntrusted)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// foldOutput notes the labels of what a call returned.
func (h *History) foldOutput(r *Record) {
	if r.Action == nil || r.Event == nil || r.Event.Result == nil {
		return
	}
	for _, l := range h.outputLabels(r.Action) {
		h.label(l, r.N)
		h.addMarks(l, r.Event.Result.Marks)
	}
}

// foldFlow marks the files that an action writes with the labels of what it
// carries: from the data in its arguments, or from the files and hosts that the
// same action reads.
func (h *History) foldFlow(a *Action) {
	labels := append(h.carries(a), h.outputLabels(a)...)
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
			p.Labels = slices.Compact(slices.Sorted(slices.Values(append(p.Labels, labels...))))
		}
	}
}

// maxHosts is how many hosts the session remembers having contacted.
const maxHosts = 48

func (h *History) foldHosts(a *Action) {
	for _, host := range a.Hosts {
		h.Hosts = keepLast(appendOnce(h.Hosts, truncateKey(host)), maxHosts)
	}
}

func (h *History) newHosts(a *Action) int64 {
	var n int64
	for _, host := range a.Hosts {
		if !slices.Contains(h.Hosts, truncateKey(host)) {
			n++
		}
	}
	return n
}
