package history

import (
	"cmp"
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// join adds to an action what the session did to its targets before.
func (h *State) join(a engine.Action) engine.Action {
	a.Types, a.Commands, a.Signals = orEmpty(a.Types), orEmpty(a.Commands), orEmpty(a.Signals)
	a.Paths, a.Hosts, a.Opaque = orEmpty(a.Paths), orEmpty(a.Hosts), orEmpty(a.Opaque)
	effects := make([]engine.Effect, len(a.Effects))
	for i, e := range a.Effects {
		if p := h.path(truncateKey(e.Place())); p != nil && e.Short != "" {
			if p.known() {
				e.Ledger = p.State
			}
			e.Secret, e.Untrusted = slices.Contains(p.Labels, engine.LabelSecret), slices.Contains(p.Labels, engine.LabelUntrusted)
		}
		e.Untrusted = e.Untrusted || e.Unread != "" && h.cameInto(e.Place())
		switch moved, perhaps := h.movedBelow(&e); {
		case moved:
			e.Ledger = engine.LedgerMoved
		case perhaps:
			e.Ledger = ""
		case h.endsTree(&e):
			e.Ledger = engine.LedgerCreated
		}
		e.Location = h.location(&e)
		e.Named, e.Scoped, e.Given = h.Goals.named(&e), h.Goals.added(&e), h.Goals.given(&e)
		e.Named = e.Named || h.Goals.namesHost(&e)
		e.Mentioned, e.Timed = h.Goals.mentioned(&e)
		e.Agreed, e.Made = h.agreed(&e), h.made(&a, &e)
		e.Run = e.Kind == engine.EffectFileRead && sameCommandHas(&a, &e, func(o *engine.Effect) bool { return o.Kind == engine.EffectProcess })
		effects[i] = e
	}
	a.Effects = effects
	a.Carries = h.carries(&a)
	a.SecretsOut = h.secretsOut(&a)
	a.Inherits = h.inherits(&a)
	return a
}

// cameInto reports whether a path is in a folder that the session fetched, and not in the packages that an installer put
// there.
func (h *State) cameInto(place string) bool {
	return slices.ContainsFunc(upwards(place), func(folder string) bool {
		p := h.path(truncateKey(folder))
		return p != nil && p.State == engine.LedgerCreated && slices.Contains(p.Labels, engine.LabelUntrusted) && !thirdParty(folder)
	})
}

// movedBelow reports whether the session moved something, or perhaps did, into a folder that an
// effect deletes: it may be the only place where that is now.
func (h *State) movedBelow(e *engine.Effect) (moved, perhaps bool) {
	if e.Kind != engine.EffectFileDelete || !e.Recursive {
		return false, false
	}
	for i := range h.Paths {
		if p := &h.Paths[i]; p.mayHoldMoved() && reaches(e, p.Key) {
			moved, perhaps = moved || p.State == engine.LedgerMoved, true
		}
	}
	return moved, perhaps
}

func (h *State) sessionFacts(r *engine.Record) engine.SessionFacts {
	f := engine.SessionFacts{
		Workspace: h.Workspace, Actions: h.Actions, Prompts: h.Prompts, FileOps: h.FileOps, Bytes: h.Bytes,
		Denials: h.Denied, DeniedInRow: h.DeniedRow, CountsByType: maps.Clone(h.ByType),
	}
	_, f.SecretsRead = h.Labels[string(engine.LabelSecret)]
	f.Labels, f.Written, f.Deleted = h.labels(), h.written(), h.Deleted
	f.Elsewhere = h.elsewhere()
	f.Spread = spread(&f)
	f.Growing, f.Agents, f.Scope = h.growing(), h.Spawned, orEmpty(h.Goals.Scope)
	f.Started, f.Remotes, f.Made = h.started(), h.Remotes, h.Made
	f.Interventions, f.DeniedHarms, f.DeniedBy = h.interventionFacts(r), h.deniedHarms(), maps.Clone(h.DeniedBy)
	f.Checkpoints = h.checkpointStates(max(r.T, h.T))
	if h.Stop != nil {
		f.Stopped, f.StopReason, f.Aborted = true, h.Stop.Told(), h.Stop.Final
		if f.StopUnsigned = h.Stop.Anyone; !f.StopUnsigned {
			f.StopBy = h.Stop.By
		}
		f.StopRule, f.StopHarm, f.StopMS = h.Stop.Rule, h.Stop.Harm, max(r.T, h.T)-h.Stop.T
		f.StopHeard = h.PromptN > h.Stop.N
	}
	f.Resumed, f.Restored, f.Late = h.Resumed, h.Restored, h.lateFacts()
	if r.Phase == engine.PhasePre && r.Action != nil {
		f.FileOps += fileOps(r.Action)
		f.Bytes = addUse(f.Bytes, bytesOf(r.Action))
	}
	f.Tokens, f.Busy = h.spentWith(r)
	f.TasksDone, f.TasksOpen = h.PlanDone, h.PlanOpen
	f.Answers = engine.AnswerCounts{Asked: h.Asked, Approved: h.Approved, Refused: h.Refused, Overruled: h.Overruled}
	if i := h.allowanceFor(r); i >= 0 {
		f.Allowed, f.AllowedBy = engine.AllowedSession, h.Allowed[i].By
		if h.Allowed[i].Once {
			f.Allowed = engine.AllowedOnce
		}
	}
	return f
}

func (h *State) labels() []engine.Label {
	list := []engine.Label{}
	for _, l := range engine.Labels() {
		if _, known := h.Labels[l]; known {
			list = append(list, engine.Label(l))
		}
	}
	return list
}

// written counts the paths that were written or deleted, by location. Intended writes count
// too, regardless of their outcome.
func (h *State) written() map[string]int64 {
	m := map[string]int64{}
	for i := range h.Paths {
		if p := &h.Paths[i]; p.Where != "" {
			m[p.Where]++
		}
	}
	return m
}

func (h *State) facts(r *engine.Record, a engine.Action, view engine.View) engine.HistoryFacts {
	agent := h.agent(agentOf(r))
	if agent == nil {
		agent = &agentState{}
	}
	f := engine.HistoryFacts{
		Windows: map[string]engine.WindowFacts{}, Presupposes: []engine.Precondition{}, Follows: []string{}, FirstTime: true,
		Since: h.sinces(agent), FailedRank: agent.failedRank(), Began: h.beganAgo(r), Denials: neverDenied(),
		CheckFailed: agent.checkFailed(), Fired: h.fired(agent), Last: agent.last(view.Last, r.T),
	}
	for _, w := range view.Windows {
		f.Windows[w.Name] = h.window(agent, w, r)
	}
	if r.Phase == engine.PhasePost {
		f.Call = h.callFacts(r)
	}
	if r.Phase == engine.PhasePre && agent.Turns {
		f.Turn = agent.Turn + 1
	}
	if r.Action != nil && r.Phase == engine.PhasePre {
		f.Similar = agent.similar(a, cmp.Or(view.Similar, engine.DefaultSimilar))
		h.actionFacts(&f, agent, r, a)
	}
	f.Claims = h.claimFacts(agent, r)
	addLegacyFacts(&f)
	return f
}

// actionFacts describes how a new action relates to earlier ones.
func (h *State) actionFacts(f *engine.HistoryFacts, agent *agentState, r *engine.Record, a engine.Action) {
	print := boundKey(a.Fingerprint, digestLength)
	f.FirstTime = !h.seenKind(a)
	f.Follows = h.follows(agent, a)
	f.Presupposes = presupposed(agent, a)
	f.Cycle, f.Pauses = agent.cycle(print), agent.pauseFacts(&a, print, r.T)
	f.Denials, f.Rechecks, f.NewHosts = h.deniedFacts(agent, &a), agent.checks(&a), h.newHosts(&a)
}

func (h *State) callFacts(r *engine.Record) *engine.CallFacts {
	c := h.call(agentOf(r), r.Call)
	if c == nil || c.Pre == 0 {
		return nil
	}
	f := &engine.CallFacts{Decision: c.Decision, Enforced: c.Enforced}
	if r.SHA != nil && outcomeOf(r) != engine.OutcomeDenied { // a refused call ran in no form
		f.ExecutedDiffers = c.Args != "" && r.SHA.Args != "" && c.Args != prefix(r.SHA.Args, argsLength)
	}
	return f
}

// window counts a part of the agent's actions, and the event itself.
func (h *State) window(a *agentState, w engine.Window, r *engine.Record) engine.WindowFacts {
	f := engine.WindowFacts{ByType: map[string]int64{}, Errors: map[string]int64{}}
	stretch := a.stretch(w, r.T)
	prints := make(map[string]bool, len(stretch))
	for i := range stretch {
		countPast(&f, &stretch[i])
		prints[stretch[i].Print] = true
	}
	f.Distinct = int64(len(prints))
	f.Places, f.Returns = folderStats(stretch)
	countGoals(&f, stretch)
	if r.Action != nil && r.Phase == engine.PhasePre {
		f.Same, f.InFlight = same(stretch, boundKey(r.Action.Fingerprint, digestLength), h.PromptN)
		f.Missing += h.missing(r.Action)
	}
	if res := resultOf(r); res != nil && r.Phase == engine.PhasePost && res.Class != "" {
		f.SameError = a.attempts(stretch, boundKey(res.Class, errorClassLen), h.failure(a, r))
	}
	return f
}

func countPast(f *engine.WindowFacts, p *ringEntry) {
	f.Events++
	for _, t := range p.Types.list() {
		f.ByType[string(t)]++
	}
	switch p.Outcome {
	case engine.OutcomeFailed:
		f.Failed++
	case engine.OutcomeDenied:
		f.Denied++
	}
	if p.Error != "" {
		f.Errors[p.Error]++
		f.MaxErrors = max(f.MaxErrors, f.Errors[p.Error])
	}
	if p.Runs && p.Outcome != engine.OutcomeDenied {
		f.Runs++
	}
	if f.Missing += p.Missing; p.writes() && p.ended() {
		f.Edits++
	}
}

// folderStats counts the folders of a window, and how often the agent returned to one
// from another.
func folderStats(stretch []ringEntry) (places, returns int64) {
	seen, last := make(map[string]bool, len(stretch)), ""
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

// countGoals measures how far the actions relate to what people asked for, and
// the trend.
func countGoals(f *engine.WindowFacts, stretch []ringEntry) {
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
	f.Words = engine.Round6(float64(words[0]+words[1]) / 100 / float64(f.Goals))
	if events[0] > 0 && events[1] > 0 {
		f.WordsTend = engine.Round6(float64(words[1])/100/float64(events[1]) - float64(words[0])/100/float64(events[0]))
	}
}

func (a *agentState) stretch(w engine.Window, now int64) []ringEntry {
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

// similar counts actions with the same types and target that do the same there, or
// that have at least this share of words in common with it.
func (a *agentState) similar(act engine.Action, share float64) engine.SimilarFacts {
	var f engine.SimilarFacts
	key, _ := target(&act)
	does := actionDigest(&act)
	print := boundKey(act.Fingerprint, digestLength)
	words, types := sketch(act.Tokens), typesOf(act.Types)
	for i := range a.Ring {
		p := &a.Ring[i]
		same := key != "" && p.Target == key && p.Types == types && p.Deed == does
		if !same && p.Print != print && !alike(p.Sketch, words, share) {
			continue
		}
		f.Count++
		if p.Outcome == engine.OutcomeFailed {
			f.Failed++
		}
	}
	return f
}

// alike compares two sketches: the share of hashes in common among all.
func alike(a, b string, share float64) bool {
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
	return float64(common) >= share*float64(all)
}

// seenKind reports whether any agent of the session did something of the same
// types to the same class of target before.
func (h *State) seenKind(a engine.Action) bool {
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

// follows lists how an action relates to earlier ones.
func (h *State) follows(agent *agentState, a engine.Action) []string {
	list := []string{}
	if h.contradicts(a) || agent.undoes(&a) {
		list = append(list, engine.FollowsContradicts)
	}
	if agent.repeats(a) {
		list = append(list, engine.FollowsRepeats)
	}
	if h.buildsOn(a) {
		list = append(list, engine.FollowsBuildsOn)
	}
	return list
}

// contradicts reports whether the action deletes what the session created and then used.
func (h *State) contradicts(a engine.Action) bool {
	return slices.ContainsFunc(a.Effects, func(e engine.Effect) bool {
		if e.Kind != engine.EffectFileDelete {
			return false
		}
		p := h.path(truncateKey(e.Place()))
		return p != nil && p.State == engine.LedgerCreated && p.Used
	})
}

// repeats reports whether the same call was made among the last repeatSpan actions, nothing
// was written since, and its results so far do not differ.
func (a *agentState) repeats(act engine.Action) bool {
	result, found := "", false
	print := boundKey(act.Fingerprint, digestLength)
	for i := len(a.Ring) - 1; i >= max(0, len(a.Ring)-repeatSpan); i-- {
		p := &a.Ring[i]
		if p.Print != print {
			if p.writes() && p.ended() {
				break
			}
			continue
		}
		if p.Outcome == engine.OutcomePending {
			continue // made in the same turn as this one
		}
		if found && p.Result != result {
			return false
		}
		result, found = p.Result, true
	}
	return found
}

// buildsOn reports whether the action uses a path or host that an earlier action touched.
func (h *State) buildsOn(a engine.Action) bool {
	for _, e := range a.Effects {
		if p := h.path(truncateKey(e.Place())); e.Short != "" && p != nil && p.known() {
			return true
		}
		if e.Kind == engine.EffectNetwork && e.Target != "" && h.seenHost(truncateKey(e.Target)) {
			return true
		}
	}
	return false
}

func (h *State) seenHost(key string) bool {
	for _, agent := range h.Agents {
		for i := range agent.Ring {
			if p := &agent.Ring[i]; p.Class == "host" && p.Target == key && p.ended() {
				return true
			}
		}
	}
	return false
}

// presupposed lists the preconditions of an action, as far as the ledger shows
// them: a file that is changed was read or written before.
func presupposed(agent *agentState, a engine.Action) []engine.Precondition {
	list := []engine.Precondition{}
	for _, e := range a.Effects {
		if e.Kind == engine.EffectFileWrite && e.Exists == "yes" && e.Certainty == engine.CertaintyExact && e.Entry != "dir" {
			list = append(list, engine.Precondition{What: "read_before_edit", Met: e.Ledger != ""})
			break
		}
	}
	if n := len(agent.Ring); n > 0 {
		list = append(list, engine.Precondition{What: "earlier_step_succeeded", Met: agent.Ring[n-1].Outcome != engine.OutcomeFailed})
	}
	return list
}
