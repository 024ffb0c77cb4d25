package engine

import (
	"maps"
	"slices"
)

// join adds to an action what the session did to its targets before.
func (h *History) join(a Action) Action {
	a.Types, a.Commands, a.Signals = orEmpty(a.Types), orEmpty(a.Commands), orEmpty(a.Signals)
	a.Paths, a.Hosts, a.Opaque = orEmpty(a.Paths), orEmpty(a.Hosts), orEmpty(a.Opaque)
	effects := make([]Effect, len(a.Effects))
	for i, e := range a.Effects {
		if p := h.path(truncateKey(e.Place())); p != nil && e.Short != "" {
			e.Ledger = p.State
			e.Secret, e.Untrusted = slices.Contains(p.Labels, LabelSecret), slices.Contains(p.Labels, LabelUntrusted)
		}
		if e.Kind == EffectFileDelete && e.Recursive && h.movedBelow(&e) {
			e.Ledger = ledgerMoved
		}
		e.Named, e.Scoped = h.Goals.named(&e), h.Goals.added(&e)
		e.Run = e.Kind == EffectFileRead && a.also(&e, func(o *Effect) bool { return o.Kind == EffectProcess })
		effects[i] = e
	}
	a.Effects = effects
	a.Carries = h.carries(&a)
	a.SecretsOut = h.secretsOut(&a)
	return a
}

// movedBelow says that the session moved something into a folder that an effect
// goes through: it may be the only place where that is now.
func (h *History) movedBelow(e *Effect) bool {
	return slices.ContainsFunc(h.Paths, func(p pathEntry) bool { return p.State == ledgerMoved && e.reaches(p.Key) })
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (h *History) sessionFacts(r *Record) SessionFacts {
	f := SessionFacts{
		Workspace: h.Workspace, Actions: h.Actions, Prompts: h.Prompts, FileOps: h.FileOps,
		Denials: h.Denied, DeniedInRow: h.DeniedRow, CountsByType: maps.Clone(h.ByType),
	}
	_, f.SecretsRead = h.Labels[string(LabelSecret)]
	f.Labels, f.Written, f.Deleted = h.labels(), h.written(), h.Deleted
	f.Spread = f.spread()
	f.Growing, f.Agents, f.Scope = h.growing(), h.Spawned, orEmpty(h.Goals.Scope)
	if h.Stop != nil {
		f.Stopped, f.StopReason, f.StopBy = true, h.Stop.Reason, h.Stop.By
	}
	if r.Phase == PhasePre && r.Action != nil {
		f.FileOps += fileOps(r.Action)
	}
	f.Answers = AnswerCounts{Asked: h.Asked, Approved: h.Approved, Refused: h.Refused, Overruled: h.Overruled}
	if i := h.allows(r); i >= 0 {
		f.Allowed, f.AllowedBy = AllowedSession, h.Allowed[i].By
		if h.Allowed[i].Once {
			f.Allowed = AllowedOnce
		}
	}
	return f
}

func (h *History) labels() []Label {
	list := []Label{}
	for _, l := range Labels() {
		if _, known := h.Labels[l]; known {
			list = append(list, Label(l))
		}
	}
	return list
}

// written counts the paths that were written or deleted, by where they lie. What
// was to be made counts too, whatever came of it.
func (h *History) written() map[string]int64 {
	m := map[string]int64{}
	for i := range h.Paths {
		if p := &h.Paths[i]; p.Where != "" {
			m[p.Where]++
		}
	}
	return m
}

func fileOps(a *Action) int64 {
	var n int64
	for _, e := range a.Effects {
		if e.Kind == EffectFileWrite || e.Kind == EffectFileDelete {
			n++
		}
	}
	return n
}

func (h *History) facts(r *Record, a Action, view View) HistoryFacts {
	agent := h.agent(agentOf(r))
	if agent == nil {
		agent = &agentHistory{}
	}
	f := HistoryFacts{
		Windows: map[string]WindowFacts{}, Presupposes: []Presupposed{}, Progression: "explores", FirstTime: true,
		Since: h.sinces(agent), FailedRank: agent.failedRank(), Denied: DeniedFacts{Ago: NeverAgo},
		CheckFailed: agent.checkFailed(), Fired: h.fired(agent), Last: agent.last(view.Last, r.T),
	}
	for _, w := range view.Windows {
		f.Windows[w.Name] = h.window(agent, w, r)
	}
	if r.Phase == PhasePost {
		f.Call = h.callFacts(r)
	}
	if r.Action != nil && r.Phase == PhasePre {
		h.actionFacts(&f, agent, r, a)
	}
	return f
}

// actionFacts says how an action that is to be made follows from what was.
func (h *History) actionFacts(f *HistoryFacts, agent *agentHistory, r *Record, a Action) {
	print := boundKey(a.Fingerprint, digestLength)
	f.Similar = agent.similar(a)
	f.FirstTime = !h.seenKind(a)
	f.Progression = h.progression(agent, a)
	f.Presupposes = presupposed(agent, a)
	f.Cycle, f.Polling = agent.cycle(print), agent.polling(&a, print, r.T)
	f.Denied, f.Checks, f.NewHosts = h.deniedFacts(agent, &a), agent.checks(&a), h.newHosts(&a)
}

func (h *History) callFacts(r *Record) *CallFacts {
	c := h.call(agentOf(r), r.Call)
	if c == nil || c.Pre == 0 {
		return nil
	}
	f := &CallFacts{Decision: c.Decision, Enforced: c.Enforced}
	if r.SHA != nil {
		f.ExecutedDiffers = c.Args != "" && r.SHA.Args != "" && c.Args != prefix(r.SHA.Args, argsLength)
	}
	return f
}

// window counts over a stretch of the agent's actions, and what the event adds
// to it.
func (h *History) window(a *agentHistory, w Window, r *Record) WindowFacts {
	f := WindowFacts{ByType: map[string]int64{}, Errors: map[string]int64{}}
	stretch := a.stretch(w, r.T)
	prints := map[string]bool{}
	for i := range stretch {
		f.count(&stretch[i])
		prints[stretch[i].Print] = true
	}
	f.Distinct = int64(len(prints))
	f.Places, f.Returns = walk(stretch)
	f.goals(stretch)
	if r.Action != nil && r.Phase == PhasePre {
		f.Same = same(stretch, boundKey(r.Action.Fingerprint, digestLength))
		f.Missing += h.missing(r.Action)
	}
	if res := resultOf(r); res != nil && r.Phase == PhasePost && res.Class != "" {
		f.SameError = f.Errors[boundKey(res.Class, errorClassLen)] + 1
	}
	return f
}

func (f *WindowFacts) count(p *past) {
	f.Events++
	for _, t := range p.Types.list() {
		f.ByType[string(t)]++
	}
	switch p.Outcome {
	case OutcomeFailed:
		f.Failed++
	case OutcomeDenied:
		f.Denied++
	}
	if p.Error != "" {
		f.Errors[p.Error]++
		f.MaxErrors = max(f.MaxErrors, f.Errors[p.Error])
	}
	if f.Missing += p.Missing; p.writes() && p.Outcome != OutcomeDenied {
		f.Edits++
	}
}

// walk counts the folders of a stretch, and how often one was come back to from
// another.
func walk(stretch []past) (places, returns int64) {
	seen, last := map[string]bool{}, ""
	for i := range stretch {
		dir := stretch[i].Dir
		if dir == "" || dir == last {
			continue
		}
		if seen[dir] {
			returns++
		}
		seen[dir], last = true, dir
	}
	return int64(len(seen)), returns
}

// goals says how the actions lay to what people said, and which way that goes.
func (f *WindowFacts) goals(stretch []past) {
	var words [2]int64
	var events [2]int64
	for i := range stretch {
		p := &stretch[i]
		if !p.Goal {
			continue
		}
		if f.Goals++; p.Named {
			f.Named++
		}
		half := 2 * i / len(stretch)
		words[half] += p.Words
		events[half]++
	}
	if f.Goals == 0 {
		return
	}
	f.Words = Round6(float64(words[0]+words[1]) / 100 / float64(f.Goals))
	if events[0] > 0 && events[1] > 0 {
		f.WordsTend = Round6(float64(words[1])/100/float64(events[1]) - float64(words[0])/100/float64(events[0]))
	}
}

func (a *agentHistory) stretch(w Window, now int64) []past {
	if w.Last > 0 {
		return a.Ring[max(0, len(a.Ring)-w.Last):]
	}
	from := now - w.For.Milliseconds()
	i := len(a.Ring)
	for i > 0 && a.Ring[i-1].T >= from {
		i--
	}
	return a.Ring[i:]
}

// similar counts actions with the same types and target, or whose words are
// the same to similarShare.
func (a *agentHistory) similar(act Action) SimilarFacts {
	var f SimilarFacts
	key, _ := target(&act)
	print := boundKey(act.Fingerprint, digestLength)
	words, types := sketch(act.Tokens), typesOf(act.Types)
	for i := range a.Ring {
		p := &a.Ring[i]
		same := key != "" && p.Target == key && p.Types == types
		if !same && p.Print != print && !alike(p.Sketch, words) {
			continue
		}
		f.Count++
		if p.Outcome == OutcomeFailed {
			f.Failed++
		}
	}
	return f
}

// alike compares two sketches: the share of hashes in common among all.
func alike(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	common := 0
	for i := 0; i+4 <= len(a); i += 4 {
		for j := 0; j+4 <= len(b); j += 4 {
			if a[i:i+4] == b[j:j+4] {
				common++
				break
			}
		}
	}
	all := len(a)/4 + len(b)/4 - common
	return float64(common) >= similarShare*float64(all)
}

// seenKind says whether any agent of the session did something of the same
// types to the same class of target before.
func (h *History) seenKind(a Action) bool {
	_, class := target(&a)
	types := typesOf(a.Types)
	for _, agent := range h.Agents {
		for i := range agent.Ring {
			if p := &agent.Ring[i]; p.Class == class && p.Types == types {
				return true
			}
		}
	}
	return false
}

// progression says how an action follows from what came before.
func (h *History) progression(agent *agentHistory, a Action) string {
	switch {
	case h.contradicts(a) || agent.undoes(&a):
		return "contradicts"
	case agent.repeats(a):
		return "repeats"
	case h.buildsOn(a):
		return "builds_on"
	}
	return "explores"
}

// contradicts: the action deletes what the session created and then used.
func (h *History) contradicts(a Action) bool {
	return slices.ContainsFunc(a.Effects, func(e Effect) bool {
		if e.Kind != EffectFileDelete {
			return false
		}
		p := h.path(truncateKey(e.Place()))
		return p != nil && p.State == ledgerCreated && p.Used
	})
}

// repeats: the same call was made among the last repeatSpan actions, nothing
// was written since, and its results so far do not differ.
func (a *agentHistory) repeats(act Action) bool {
	result, found := "", false
	print := boundKey(act.Fingerprint, digestLength)
	for i := len(a.Ring) - 1; i >= max(0, len(a.Ring)-repeatSpan); i-- {
		p := &a.Ring[i]
		if p.Print != print {
			if p.writes() && p.Outcome != OutcomeDenied {
				break
			}
			continue
		}
		if found && p.Result != result {
			return false
		}
		result, found = p.Result, true
	}
	return found
}

// buildsOn: the action uses a path or host that an earlier action touched.
func (h *History) buildsOn(a Action) bool {
	for _, e := range a.Effects {
		if p := h.path(truncateKey(e.Place())); e.Short != "" && p != nil && p.State != ledgerPending {
			return true
		}
		if e.Kind == EffectNetwork && e.Target != "" && h.seenHost(truncateKey(e.Target)) {
			return true
		}
	}
	return false
}

func (h *History) seenHost(key string) bool {
	for _, agent := range h.Agents {
		for i := range agent.Ring {
			if p := &agent.Ring[i]; p.Class == "host" && p.Target == key {
				return true
			}
		}
	}
	return false
}

// presupposed lists what an action takes for granted, as far as the ledger
// shows: a file that is changed was read or written before.
func presupposed(agent *agentHistory, a Action) []Presupposed {
	list := []Presupposed{}
	for _, e := range a.Effects {
		if e.Kind == EffectFileWrite && e.Exists == "yes" && e.Certainty == CertaintyExact && e.Entry != "dir" {
			list = append(list, Presupposed{What: "read_before_edit", Met: e.Ledger != ""})
			break
		}
	}
	if n := len(agent.Ring); n > 0 {
		list = append(list, Presupposed{What: "earlier_step_succeeded", Met: agent.Ring[n-1].Outcome != OutcomeFailed})
	}
	return list
}
