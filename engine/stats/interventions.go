package stats

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Outcome describes the effect of an intervention.
type Outcome string

// The outcomes.
const (
	Helped   Outcome = "helped"   // the issue did not return soon
	Returned Outcome = "returned" // it did
	Open     Outcome = "open"     // the session did not continue for long enough to know
)

// Outcomes lists every Outcome.
func Outcomes() []string { return []string{string(Helped), string(Returned), string(Open)} }

// Vocabulary returns the values that an intervention's field may have; nil:
// any.
func (Intervention) Vocabulary(field string) []string {
	if field == "outcome" {
		return Outcomes()
	}
	return nil
}

// Soon is when an issue has returned: within this many calls of the agent, or this many seconds
// (the setting interventions.effectiveness).
type Soon struct {
	Actions int64 `json:"actions"`
	Seconds int64 `json:"seconds"`
}

// maxWatched limits the interventions of one session whose outcome is still open.
const maxWatched = 1024

// byScores is the issue of an answer that only the scores led to.
const byScores = "scores"

// watch is an intervention whose outcome is still open.
type watch struct {
	agent, issue string
	kind         string
	record, call string // that it was about
	strictness   int
	before       int   // strictness of the one that did not help; -1: there was none
	calls        int64 // of the agent until then
	time         int64
	settled      bool // it is counted; the next one may still be an escalation
}

// interventions counts interventions and their outcomes.
type interventions struct {
	counts      counts[Intervention]
	escalations counts[string]
	watched     []*watch
	calls       map[string]int64 // by agent
	soon        Soon
}

func newInterventions(soon Soon) *interventions {
	return &interventions{soon: soon, counts: counts[Intervention]{}, escalations: counts[string]{}}
}

// see reads a record of the session.
func (v *interventions) see(r *engine.Record) {
	if r.Kind == engine.KindAct && r.Act != nil {
		v.act(r)
	}
	if r.Decision == nil || r.Answer == nil {
		return
	}
	agent := agentOf(r)
	if r.Kind == engine.KindPre && (v.calls[agent] > 0 || len(v.calls) < maxWatched) {
		v.calls[agent]++
	}
	v.watched = slices.DeleteFunc(v.watched, func(w *watch) bool { return w.agent == agent && v.over(w, r) })
	for _, w := range v.watched {
		if w.agent == agent && (r.Call == "" || r.Call != w.call) && names(r, w.issue) {
			v.settle(w, Returned)
		}
	}
	if issue := issueOf(r); issue != "" {
		v.add(r, agent, issue)
	}
}

// over reports whether the outcome of an intervention is known, and counts it.
func (v *interventions) over(w *watch, r *engine.Record) bool {
	if v.calls[w.agent]-w.calls <= v.soon.Actions || r.T-w.time <= v.soon.Seconds*1000 {
		return false
	}
	v.settle(w, Helped)
	return true
}

func (v *interventions) settle(w *watch, o Outcome) {
	if w.settled {
		return
	}
	w.settled = true
	v.counts.add(Intervention{Type: w.kind, Issue: w.issue, Outcome: o}, Intervention{Type: builtIn(w.kind), Issue: Other, Outcome: o})
	if w.before >= 0 && w.strictness > w.before {
		v.escalations.add(w.issue, Other)
	}
}

// builtIn returns a kind, or Other for one that the organisation defined: a log may have any
// number of those.
func builtIn(kind string) string {
	if slices.Contains(engine.Interventions(), kind) || slices.Contains(engine.Verdicts(), kind) {
		return kind
	}
	return Other
}

// add adds an intervention whose outcome is to be determined.
func (v *interventions) add(r *engine.Record, agent, issue string) {
	next := &watch{agent: agent, issue: issue, record: r.ID(), call: r.Call, before: -1, calls: v.calls[agent], time: r.T}
	next.kind, next.strictness = kindOf(r)
	if i := slices.IndexFunc(v.watched, func(w *watch) bool { return w.agent == agent && w.issue == issue }); i >= 0 {
		if r.Call != "" && r.Call == v.watched[i].call {
			return // one intervention, reported before and after the call
		}
		v.settle(v.watched[i], Returned)
		next.before = v.watched[i].strictness
		v.watched = slices.Delete(v.watched, i, i+1)
	}
	if len(v.watched) >= maxWatched {
		v.settle(v.watched[0], Open)
		v.watched = v.watched[1:]
	}
	v.watched = append(v.watched, next)
}

// stopStrictness is the strictness of a stop, which is stricter than any answer.
const stopStrictness = 50

// kindOf returns the kind of an intervention and its strictness: the intervention, where the
// policy made one with a warning or it led to the answer, else the answer.
func kindOf(r *engine.Record) (kind string, strictness int) {
	effect := r.Answer.Effect
	strictness = 10 * effect.Strictness()
	made := r.Decision.Intervention
	// A stop that comes with a warning is only offered.
	if made == nil || len(made.Does) == 0 && (effect != engine.Warn || made.Kind == engine.EmergencyStop) {
		return string(effect), strictness
	}
	most := 0 // an organisation's own kind that does nothing is a message
	for _, kind := range made.Kinds() {
		most = max(most, slices.Index(engine.Interventions(), kind))
	}
	return made.Kind, strictness + most
}

// act records an executed intervention: it counts instead of the answer, as the stricter of
// the two. One without an answer counts by itself.
func (v *interventions) act(r *engine.Record) {
	if r.Act.Rollback != nil {
		return // the decision has it already; its result is counted with the files
	}
	for _, w := range v.watched {
		if w.record == r.Act.Of && !w.settled {
			w.strictness = stopStrictness
			if builtIn(w.kind) != Other {
				w.kind = r.Act.Kind
			}
			return
		}
	}
	v.counts.add(Intervention{r.Act.Kind, Other, Open, 0}, Intervention{Other, Other, Open, 0})
}

// end counts the interventions for which no more records follow.
func (v *interventions) end() {
	for _, w := range v.watched {
		v.settle(w, Open)
	}
}

func agentOf(r *engine.Record) string {
	if r.Agent == "" {
		return engine.MainAgent
	}
	return r.Agent
}

// issueOf returns the issue of a record's answer: that of the organisation's own kind of intervention that
// does something, or the strictest rule or pattern that leads to the answer by itself. It is empty if nothing was done.
func issueOf(r *engine.Record) string {
	effect := r.Answer.Effect
	if effect == engine.Allow || r.Answer.Mode == engine.ModeDegraded {
		return ""
	}
	if made := r.Decision.Intervention; made != nil && len(made.Does) > 0 {
		return made.Issue // its rule only warns
	}
	for _, rule := range r.Decision.Rules {
		if enforced(rule).Strictness() >= effect.Strictness() {
			return rule.ID
		}
	}
	return byScores
}

// enforced returns the verdict of a rule after its own enforcement.
func enforced(rule engine.RuleResult) engine.Verdict {
	switch {
	case rule.Enforcement == "observe":
		return engine.Allow
	case rule.Enforcement == "warn" && rule.Decision.Strictness() > engine.Warn.Strictness():
		return engine.Warn
	}
	return rule.Decision
}

// names reports whether an issue is found in a record.
func names(r *engine.Record, issue string) bool {
	return issue == byScores && issueOf(r) == byScores ||
		slices.ContainsFunc(r.Decision.Rules, func(rule engine.RuleResult) bool { return rule.ID == issue }) ||
		slices.ContainsFunc(r.Findings, func(f engine.Finding) bool { return f.ID == issue && f.Error == "" })
}
