package history

import "github.com/agent-reviewer/reviewer/engine"

// Bounds of facts about a run; they belong to FoldVersion.
const (
	cycleSpan        = 8 // the longest period of calls that is looked for; policy says which count
	maxDeniedEffects = 4
	maxChecks        = 6  // per agent
	totalChecks      = 32 // over all agents
	maxCheckReads    = 4
)

// missing counts paths that an action presupposes and that do not exist: files
// that are read or deleted, and that nothing in the session created. A forced
// deletion presupposes nothing; for other deletions a missing file does no
// harm, so they count once.
func (h *State) missing(a *engine.Action) int64 {
	var n int64
	deletes := false
	for i := range a.Effects {
		e := &a.Effects[i]
		needs := e.Kind == engine.EffectFileRead || e.Kind == engine.EffectFileDelete && !e.Forced
		if !needs || e.Exists != "no" || e.Certainty != engine.CertaintyExact || e.Host != "" {
			continue
		}
		p := h.path(truncateKey(e.Place()))
		if p != nil && p.known() && p.State != engine.LedgerRead || e.Kind == engine.EffectFileDelete && deletes {
			continue
		}
		n++
		deletes = deletes || e.Kind == engine.EffectFileDelete
	}
	return n
}

// sinces counts the actions since certain events.
func (h *State) sinces(a *agentState) engine.SinceFacts {
	f := engine.SinceFacts{
		Failed: engine.NeverHappened, AuthError: engine.NeverHappened, News: h.sinceNews(a),
		Secret:    h.sinceLabel(engine.LabelSecret, h.SecretAt, a.Events, a.SecretAt),
		Untrusted: h.sinceLabel(engine.LabelUntrusted, h.UntrustedAt, a.Events, a.UntrustedAt),
		Prompt:    engine.NeverHappened,
	}
	if h.Prompts > 0 {
		f.Prompt = ago(h.Actions, h.PromptAt)
	}
	for i := range a.Ring {
		p, ago := &a.Ring[i], int64(len(a.Ring)-i)
		if p.Outcome != engine.OutcomeFailed {
			continue
		}
		if f.Failed = ago; p.Trouble == engine.TroubleAuth {
			f.AuthError = ago
		}
	}
	return f
}

// sinceNews counts the agent's actions since one brought news, a prompt came,
// or its history started. Actions without a reported result are not counted.
func (h *State) sinceNews(a *agentState) int64 {
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

// sinceLabel counts from when something with a label was read: in the agent's own actions if
// it read it, so that actions of other agents in between make no difference.
func (h *State) sinceLabel(l engine.Label, at, events, own int64) int64 {
	if _, known := h.Labels[string(l)]; !known {
		return engine.NeverHappened
	}
	if own > 0 {
		return min(ago(h.Actions, at), ago(events, own))
	}
	return ago(h.Actions, at)
}

// ago returns the difference of two action counts; 1 is the previous action.
func ago(now, then int64) int64 { return min(engine.NeverHappened, now-then+1) }

// failedRank is the reversibility of the latest action that failed.
func (a *agentState) failedRank() int64 {
	for i := len(a.Ring) - 1; i >= 0; i-- {
		if a.Ring[i].Outcome == engine.OutcomeFailed {
			return a.Ring[i].Rank
		}
	}
	return 0
}

// fired reports when the agent's events last had findings, by their ids, and how often
// those of any agent had them. So an alarm of one agent does not suppress one of another.
func (h *State) fired(a *agentState) map[string]engine.FiredFacts {
	m := map[string]engine.FiredFacts{}
	for id, times := range h.Fired {
		m[id] = engine.FiredFacts{Ago: engine.NeverHappened, Told: engine.NeverHappened, Times: times}
	}
	for id, f := range a.Fired {
		facts := engine.FiredFacts{Ago: ago(a.Events, f.At), Level: f.Level, Told: engine.NeverHappened, ToldLevel: f.ToldLevel,
			Times: max(1, h.Fired[id])}
		if f.ToldLevel != "" {
			facts.Told = ago(a.Events, f.Told)
		}
		m[id] = facts
	}
	return m
}

// last lists the latest actions in brief.
func (a *agentState) last(n int, now int64) []engine.PastFacts {
	list := []engine.PastFacts{}
	for _, p := range a.Ring[max(0, len(a.Ring)-n):] {
		list = append(list, engine.PastFacts{
			Types: p.Types.list(), Tool: p.Tool, Target: p.Target, Outcome: p.Outcome,
			Error: p.Error, Trouble: p.Trouble, Check: p.Check, Ago: max(0, now-p.T),
		})
	}
	return list
}

// lateEntry is a call that was answered before its review, which found more than the answer
// said. The agent was not told yet.
type lateEntry struct {
	N        int64          `json:"n"`
	Call     string         `json:"call,omitempty"`
	Decision engine.Verdict `json:"decision"`
	Rule     string         `json:"rule,omitempty"`
	Reason   string         `json:"reason,omitempty"`
}

// Unreviewed returns the number of the record of a call that was answered before its review
// and was not reviewed yet; 0: there is none.
func (h *State) Unreviewed() int64 { return h.Early }

// foldEarly notes a call that was answered before its review. A call that is reviewed first
// tells the agent what was found late, unless the session is stopped.
func (h *State) foldEarly(r *engine.Record) {
	if r.Decision != nil && h.Stop == nil {
		h.Late = nil
	}
	if r.Source == engine.SourceAsync {
		h.Early = r.N
	}
}

// foldLate adds what a review found after the answer. The interventions and the stop that it
// decided on count from now on.
func (h *State) foldLate(r *engine.Record) {
	if h.Early == 0 || r.Act.Of != engine.RecordID(h.Chain, h.Early) {
		return // it was added already
	}
	late := r.Act.Late
	if answer := knownVerdict(late.Answer()); answer != engine.Allow {
		h.Late = &lateEntry{N: h.Early, Call: engine.ClipJSON(late.Call, reasonLength), Decision: answer}
		h.Late.explain(late)
	}
	h.Early = 0
	as := *r // what was found was folded with the call
	as.Decision, as.Findings = late.Decision, late.Findings
	h.foldInterventions(&as)
	h.foldStop(&as)
}

func (e *lateEntry) explain(late *engine.LateReview) {
	d := late.Decision
	if d == nil {
		e.Reason = engine.ClipJSON(late.Failure, reasonLength)
		return
	}
	e.Reason = engine.ClipJSON(d.Reason, reasonLength)
	if len(d.Rules) > 0 {
		e.Rule = truncateKey(d.Rules[0].ID)
	}
}

func (h *State) lateFacts() *engine.LateFacts {
	if h.Late == nil {
		return nil
	}
	l := h.Late
	return &engine.LateFacts{Record: engine.RecordID(h.Chain, l.N), Call: l.Call, Decision: l.Decision, Rule: l.Rule, Reason: l.Reason}
}
