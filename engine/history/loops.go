package history

import "github.com/agent-reviewer/reviewer/engine"

// undoes reports whether an action brings its target back to what it was before
// the agent changed it.
func (a *agentState) undoes(act *engine.Action) bool {
	key, _ := target(act)
	from, into := turns(act)
	if key == "" || into == "" {
		return false
	}
	changed := false
	for i := len(a.Ring) - 1; i >= 0; i-- {
		p := &a.Ring[i]
		if p.Target != key || p.Into == "" || p.Outcome == engine.OutcomeDenied || p.Outcome == engine.OutcomeFailed {
			continue
		}
		if from != "" && p.From == into && p.Into == from {
			return true
		}
		if from == "" && p.From == "" && p.Into == into {
			return changed
		}
		changed = true
	}
	return false
}

// cycle finds the period of calls that the agent repeats, given one more call.
func (a *agentState) cycle(print string) engine.CycleFacts {
	var best engine.CycleFacts
	for period := 2; period <= cycleSpan; period++ {
		n := a.periodic(print, period)
		if times := n / period; times >= 2 && times > int(best.Times) {
			best = engine.CycleFacts{Period: int64(period), Times: int64(times)}
		}
	}
	return best
}

// periodic counts the calls, from the newest backwards, that fit a period. A period of equal
// calls is a loop, not a cycle. Calls that are still running were made in the same turn, and
// end the period.
func (a *agentState) periodic(print string, period int) int {
	at := func(i int) string { // counted from the newest, which is print
		switch {
		case i == 0:
			return print
		case i > len(a.Ring) || a.Ring[len(a.Ring)-i].Outcome == engine.OutcomePending:
			return ""
		}
		return a.Ring[len(a.Ring)-i].Print
	}
	n := 0
	for at(n) != "" && (n < period || at(n) == at(n-period)) {
		n++
	}
	for i := 1; i < period; i++ {
		if at(i) != at(0) {
			return n
		}
	}
	return 0
}

// over reports whether the result of an action is known.
func (p *ringEntry) over() bool {
	return p.Outcome != engine.OutcomePending && p.Outcome != engine.OutcomeUnknown
}

// same counts how often the newest call of a window was made, itself included,
// back to where its result differed, the agent changed something, or a person
// wrote (in record since): the person who writes may want it checked again. A call without
// a reported result counts as having the same result; calls still
// running show neither that results are the same nor that they differ.
// Denied calls had no result, so they do not count.
func same(stretch []ringEntry, print string, since int64) (n, inFlight int64) {
	n = 1
	result, known := "", false
	for i := len(stretch) - 1; i >= 0 && print != ""; i-- {
		p := &stretch[i]
		switch {
		case p.N < since, p.Print != print && p.altered() && p.ended():
			return n, inFlight
		case p.Print != print, p.Outcome == engine.OutcomeDenied:
		case p.Outcome == engine.OutcomePending:
			inFlight++
		case p.Outcome == engine.OutcomeUnknown:
			n++
		case known && p.Result != result:
			return n, inFlight
		default:
			result, known = p.Result, true
			n++
		}
	}
	return n, inFlight
}

// alters compares an action with the agent's latest one that altered its target.
func (a *agentState) alters(p *ringEntry, act *engine.Action) changeSet {
	if act == nil {
		return 0
	}
	what := changesOf(act)
	for i := len(a.Ring) - 1; i >= 0 && what != 0; i-- {
		old := &a.Ring[i]
		if old.Target != p.Target || !old.altersAtAll() {
			continue
		}
		if old.Print == p.Print || p.Into != "" && p.From == "" && old.Into == p.Into {
			return what | altersAgain
		}
		if old.ended() {
			break
		}
	}
	return what
}

// ended reports whether a result shows that an action ran, even if it failed.
func (p *ringEntry) ended() bool {
	return p.Outcome == engine.OutcomeRan || p.Outcome == engine.OutcomeFailed
}

func (p *ringEntry) writes() bool { return p.Alters&altersFiles != 0 }

// altersAtAll reports whether an action may have changed something, even if
// only again. A failed edit that names the content it replaces did not.
func (p *ringEntry) altersAtAll() bool {
	return p.Alters != 0 && p.Outcome != engine.OutcomeDenied && !(p.Outcome == engine.OutcomeFailed && p.Into != "")
}

// altered reports whether something may differ from before. An edit that finds the
// text it replaces changes something each time it runs.
func (p *ringEntry) altered() bool {
	return p.altersAtAll() && (p.Alters&altersAgain == 0 || p.From != "" && p.Outcome == engine.OutcomeRan)
}

// maxPauses limits the pauses that are examined; it belongs to FoldVersion.
const maxPauses = 3

// pause is the time between a call and the same call before it.
type pause struct {
	ms     int64
	waited bool // a call between them waits
}

// pauseFacts reports what is between a call that changes nothing here and the same call before
// it, so that policy can distinguish waiting from retrying.
func (a *agentState) pauseFacts(act *engine.Action, print string, now int64) engine.PauseFacts {
	if changesOf(act) != 0 {
		return engine.PauseFacts{}
	}
	pauses := a.pauses(print, now)
	f := engine.PauseFacts{Waits: act.Waits, Count: int64(len(pauses))}
	for i, p := range pauses {
		if p.waited {
			f.Waited++
			continue
		}
		if first := int64(i) == f.Waited; first || p.ms < f.Least {
			f.Least = p.ms
		}
		f.Shrinks = f.Shrinks || i+1 < len(pauses) && p.ms < pauses[i+1].ms
	}
	return f
}

// pauses lists the pauses before a call that is made again, the newest first.
func (a *agentState) pauses(print string, now int64) []pause {
	var list []pause
	next := pause{ms: now}
	for i := len(a.Ring) - 1; i >= max(0, len(a.Ring)-repeatSpan) && len(list) < maxPauses; i-- {
		p := &a.Ring[i]
		if p.Print != print {
			next.waited = next.waited || p.Waits && p.ended()
			continue
		}
		next.ms -= p.T
		list = append(list, next)
		next = pause{ms: p.T}
	}
	return list
}

// failure is the failure that an event reports, before it is folded. N is 0 if the call
// is not known.
func (h *State) failure(a *agentState, r *engine.Record) ringEntry {
	p := ringEntry{Report: h.N + 1, Turn: a.turn()}
	if c := h.call(agentOf(r), r.Call); c != nil {
		p.N = c.Pre
	}
	return p
}

// turn names the agent's current turn by the record that ended the one before; 0: turns
// are not known.
func (a *agentState) turn() int64 {
	if !a.Turns {
		return 0
	}
	return a.Ended
}

// attempts counts how often the agent ran into a class of errors, the event's failure
// included. An agent that makes several calls at once has not seen the first of them fail:
// they are one attempt.
func (a *agentState) attempts(stretch []ringEntry, class string, own ringEntry) int64 {
	n, first, seen := int64(0), ringEntry{}, false
	add := func(p ringEntry) {
		if n == 0 || !p.with(&first) {
			n, first = n+1, p
		}
		first.Report = min(first.Report, p.Report)
	}
	for i := range stretch {
		switch p := stretch[i]; {
		case p.N == own.N:
			add(own)
			seen = true
		case p.Error == class:
			add(p)
		}
	}
	if !seen {
		add(own)
	}
	return n
}

// with reports whether a failed call belongs to the same attempt as one before it.
func (p *ringEntry) with(first *ringEntry) bool {
	return p.N != 0 && p.N < first.Report || p.Turn != 0 && p.Turn == first.Turn
}
