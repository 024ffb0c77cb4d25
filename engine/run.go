package engine

import (
	pathpkg "path"
	"slices"
)

// How far back facts about a run look; they belong to FoldVersion.
const (
	cycleSpan        = 4 // the longest period of calls that counts as a cycle
	workaroundSpan   = 10
	maxDeniedEffects = 4
	maxChecks        = 6  // per agent
	totalChecks      = 32 // over all agents
	maxCheckReads    = 4
)

// folder is a digest of where an action mostly happens.
func folder(a *Action) string {
	if len(a.Effects) == 0 {
		return ""
	}
	e := &a.Effects[0]
	place := e.Place()
	switch {
	case place == "" && e.Kind == EffectNetwork:
		place = e.Target
	case place != "" && e.Entry == "dir":
		place = pathpkg.Clean(place)
	case place != "":
		place = pathpkg.Dir(place)
	}
	if place == "" {
		return ""
	}
	return keyDigits(place)
}

// rank is the reversibility of the worst effect, as a number.
func rank(a *Action) int64 {
	worst := int64(0)
	for _, e := range a.Effects {
		if i := slices.Index(Reversibilities(), string(e.Reversibility)); i > 0 {
			worst = max(worst, int64(i))
		}
	}
	return worst
}

// missing counts what an action takes for there, and is not: files that are
// read or deleted, and that nothing in the session has made. A deletion by force
// takes nothing for there.
func (h *History) missing(a *Action) int64 {
	var n int64
	for i := range a.Effects {
		e := &a.Effects[i]
		needs := e.Kind == EffectFileRead || e.Kind == EffectFileDelete && !e.Forced
		if !needs || e.Exists != "no" || e.Certainty != CertaintyExact || e.Host != "" {
			continue
		}
		if p := h.path(truncateKey(e.Place())); p == nil || p.State == ledgerRead {
			n++
		}
	}
	return n
}

// sinces counts the actions since some things were.
func (h *History) sinces(a *agentHistory) SinceFacts {
	f := SinceFacts{
		Failed: NeverAgo, AuthError: NeverAgo, News: h.sinceNews(a),
		Secret:    h.sinceLabel(LabelSecret, h.SecretAt, a.Events, a.SecretAt),
		Untrusted: h.sinceLabel(LabelUntrusted, h.UntrustedAt, a.Events, a.UntrustedAt),
		Prompt:    NeverAgo,
	}
	if h.Prompts > 0 {
		f.Prompt = ago(h.Actions, h.PromptAt)
	}
	for i := range a.Ring {
		p, ago := &a.Ring[i], int64(len(a.Ring)-i)
		if p.Outcome != OutcomeFailed {
			continue
		}
		if f.Failed = ago; p.Trouble == TroubleAuth {
			f.AuthError = ago
		}
	}
	return f
}

// sinceNews counts the agent's actions since one brought news, a prompt came, or
// its history began. Of what nobody says how it came out, nothing is counted.
func (h *History) sinceNews(a *agentHistory) int64 {
	n := int64(1)
	for i := len(a.Ring) - 1; i >= 0 && a.Ring[i].N > h.PromptN; i-- {
		p := &a.Ring[i]
		if p.News {
			break
		}
		if p.over() {
			n++
		}
	}
	return n
}

// sinceLabel counts from when something with a label was read: the agent's own
// actions where it was the one, so that others which act in between hide nothing.
func (h *History) sinceLabel(l Label, at, events, own int64) int64 {
	if _, known := h.Labels[string(l)]; !known {
		return NeverAgo
	}
	if own > 0 {
		return min(ago(h.Actions, at), ago(events, own))
	}
	return ago(h.Actions, at)
}

// ago counts from one number of actions to a later one; 1 is the action before.
func ago(now, then int64) int64 { return min(NeverAgo, now-then+1) }

// failedRank is the reversibility of the latest action that failed.
func (a *agentHistory) failedRank() int64 {
	for i := len(a.Ring) - 1; i >= 0; i-- {
		if a.Ring[i].Outcome == OutcomeFailed {
			return a.Ring[i].Rank
		}
	}
	return 0
}

// fired says when the agent's events had findings last, by their ids, and how
// often any agent's had. So one agent's alarm keeps no other's quiet.
func (h *History) fired(a *agentHistory) map[string]FiredFacts {
	m := map[string]FiredFacts{}
	for id, times := range h.Fired {
		m[id] = FiredFacts{Ago: NeverAgo, Told: NeverAgo, Times: times}
	}
	for id, f := range a.Fired {
		facts := FiredFacts{Ago: ago(a.Events, f.At), Level: f.Level, Told: NeverAgo, ToldLevel: f.ToldLevel, Times: max(1, h.Fired[id])}
		if f.ToldLevel != "" {
			facts.Told = ago(a.Events, f.Told)
		}
		m[id] = facts
	}
	return m
}

// last lists the latest actions in brief.
func (a *agentHistory) last(n int, now int64) []PastFacts {
	list := []PastFacts{}
	for _, p := range a.Ring[max(0, len(a.Ring)-n):] {
		list = append(list, PastFacts{
			Types: p.Types.list(), Tool: p.Tool, Target: p.Target, Outcome: p.Outcome,
			Error: p.Error, Trouble: p.Trouble, Check: p.Check, Ago: max(0, now-p.T),
		})
	}
	return list
}
