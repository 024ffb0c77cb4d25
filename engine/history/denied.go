package history

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// deny records the effects of a call that did not run, so that another way to
// one of them is recognised.
func (h *State) deny(n int64, a *engine.Action, harm string) {
	d := denial{N: n, At: h.Actions, Harm: harm}
	if a == nil {
		h.Denials = append(h.Denials, d)
		return
	}
	d.Print = boundKey(a.Fingerprint, digestLength)
	kept := 0
	for _, i := range deniedEffects(a, harm) {
		e := &a.Effects[i]
		aim, act := purposeOf(a, e), actOf(e)
		if kept < maxDeniedEffects && (aim != "" || act != "") && isPurpose(a, e) {
			d.Kind, d.Verb, d.Target = boundKey(string(e.Kind), digestLength), act, aim
			h.Denials = append(h.Denials, d)
			kept++
		}
	}
	if kept == 0 {
		h.Denials = append(h.Denials, d)
	}
}

// refuse records a call that does not run although policy only asked about it. person: a
// person said so.
func (h *State) refuse(c *callEntry, person bool) {
	a := h.agent(c.Agent)
	if a == nil {
		return
	}
	if p := a.pastOf(c.Pre); p != nil {
		d := denial{N: p.N, At: h.Actions, Print: p.Print, Kind: string(p.Kind), Verb: p.Verb, Target: p.Target, Person: person}
		if sends(p.Verb) {
			d.Target = truncateKey(hostName(p.Target))
		}
		h.Denials = append(h.Denials, d)
	}
}

// forgive drops denials about objects that a person names when ordering work on them. What the
// same prompt forbids stays denied, and the rules still apply to the next call.
func (h *State) forgive(g *engine.Goal) {
	if !wantsChanges(g) {
		return
	}
	forbidden := append(slices.Clone(g.Statements), statementsOfConstraints(g.Constraints)...)
	h.Denials = slices.DeleteFunc(h.Denials, func(d denial) bool {
		forgiven := slices.ContainsFunc(g.Names, d.named) && !slices.ContainsFunc(forbidden, func(s engine.Statement) bool {
			return s.Kind == engine.Forbids && (len(s.Objects) == 0 || slices.ContainsFunc(s.Objects, d.named))
		})
		if forgiven {
			h.Forgiven = keepLast(append(h.Forgiven, d), maxForgiven)
		}
		return forgiven
	})
}

// forgiveForbidden drops denials because of what a person forbade, once they answer that: what is still forbidden is
// denied for that, and another way to what they ordered is not a workaround.
func (h *State) forgiveForbidden() {
	h.Denials = slices.DeleteFunc(h.Denials, func(d denial) bool {
		forgiven := d.Harm == engine.HarmForbidden && !d.Taken
		if forgiven {
			h.Forgiven = keepLast(append(h.Forgiven, d), maxForgiven)
		}
		return forgiven
	})
}

// named reports whether a name stands for what was denied, or for a word of a
// denied program.
func (d *denial) named(name string) bool {
	return namesPath(name, d.Target) || d.Verb == verbRuns &&
		slices.ContainsFunc(strings.Fields(d.Target), func(word string) bool { return namesPath(name, word) })
}

// neverDenied is the value for actions that were not denied before.
func neverDenied() engine.DenialFacts {
	never := int64(engine.NeverHappened)
	return engine.DenialFacts{Same: never, Effect: never, Refused: never, Harms: map[string]int64{}}
}

// deniedFacts counts how long ago an action was denied: in actions of the session, or of the
// agent itself if these are fewer, since other agents may act in between.
func (h *State) deniedFacts(agent *agentState, a *engine.Action) engine.DenialFacts {
	f := neverDenied()
	print := boundKey(a.Fingerprint, digestLength)
	var aims []string // of the action's effects; most calls follow no denial
	for i := range h.Denials {
		d := &h.Denials[i]
		ago := min(ago(h.Actions, d.At), agent.since(d.N))
		if aims == nil {
			aims = purposesOf(a)
		}
		switch {
		case d.Print == print && print != "":
			f.Same = min(f.Same, ago)
		case !d.fits(a, aims) && !d.followed(a, aims):
		case d.Person:
			f.Refused = min(f.Refused, ago)
		default:
			f.Effect = min(f.Effect, ago)
			if before, known := f.Harms[d.Harm]; d.Harm != "" && (!known || ago < before) {
				f.Harms[d.Harm] = ago
			}
		}
	}
	return f
}

// harmOf returns the harm named by the first rule that denied a call for what it does, or else
// HarmLimit for a limit on the session. A call that was denied by its scores, or because nobody could be asked,
// has none: that is too little to treat later calls as another way to the same harm.
func harmOf(r *engine.Record) string {
	if r.Decision == nil {
		return ""
	}
	harm := ""
	for _, rule := range r.Decision.Rules {
		if rule.Decision != engine.Block || rule.Enforcement != "" || harm != "" && harm != engine.HarmLimit {
			continue
		}
		harm = cmp.Or(rule.Harm, engine.HarmPolicy)
		if rule.Limit {
			harm = engine.HarmLimit
		}
	}
	return harm
}

// countHarm counts a denial by its harm; one of a question that nobody could answer
// names none.
func (h *State) countHarm(harm string) {
	if !slices.Contains(engine.RuleHarms(), harm) {
		return
	}
	if h.DeniedBy == nil {
		h.DeniedBy = map[string]int64{}
	}
	h.DeniedBy[harm]++
}

// since counts the agent's actions since the one of a pre record, that one
// included.
func (a *agentState) since(pre int64) int64 {
	for i := len(a.Ring) - 1; i >= 0 && a.Ring[i].N >= pre; i-- {
		if a.Ring[i].N == pre {
			return int64(len(a.Ring) - i)
		}
	}
	return engine.NeverHappened
}

// fits reports whether an action has a denied effect: one at least as strong on the same
// target, or on one that contains it.
func (d *denial) fits(a *engine.Action, aims []string) bool {
	if d.Target == "" && d.Verb == "" {
		return false
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		act := actOf(e)
		if act != d.Verb && !(d.Verb == actSend && sends(act)) || e.Verb == trashVerb || !asStrong(engine.EffectKind(d.Kind), e.Kind) ||
			d.spares(a, e) {
			continue
		}
		if aims[i] == d.Target || e.Kind != engine.EffectFileRead && d.Target != "" && reaches(e, d.Target) {
			return true
		}
	}
	return false
}

// maxInterventions bounds the interventions that are remembered; the oldest is
// forgotten first. It belongs to FoldVersion.
const maxInterventions = 16

// intervention is one that was made, and when its issue was found again.
type intervention struct {
	N      int64   `json:"n"`
	At     int64   `json:"at"` // actions so far
	T      int64   `json:"t"`
	Kind   string  `json:"kind"`
	Issue  string  `json:"issue"`
	Agent  string  `json:"agent"`
	Factor float64 `json:"factor,omitempty"`
	// When the issue was found again; 0: not yet.
	BackAt int64 `json:"back_at,omitempty"`
	BackT  int64 `json:"back_t,omitempty"`
	Began  int64 `json:"began,omitempty"`   // record with which the run-up to it began
	BeganT int64 `json:"began_t,omitempty"` // its time
	Lifted bool  `json:"lifted,omitempty"`
	// Tokens and time that were used since the prompt before it.
	Tokens int64 `json:"tokens,omitempty"`
	Busy   int64 `json:"busy,omitempty"`
}

func (i *intervention) size() int {
	return 184 + digits(i.Began) + digits(i.BeganT) + digits(i.Tokens) + digits(i.Busy) +
		len(i.Kind) + len(i.Issue) + len(i.Agent) + digits(i.N) + digits(i.At) + digits(i.T) + digits(i.BackAt) + digits(i.BackT)
}

// foldInterventions records which issues of earlier interventions an event has again, and the
// intervention that it led to. It runs after the event's action was counted.
func (h *State) foldInterventions(r *engine.Record) {
	for k := range h.Interventions {
		if i := &h.Interventions[k]; i.BackT == 0 && i.Agent == agentOf(r) && found(r, i.Issue) {
			i.BackAt, i.BackT = h.Actions, max(h.T, r.T)
		}
	}
	d := r.Decision
	if d == nil || d.Intervention == nil || d.Intervention.Issue == "" || d.Enforced == engine.Allow {
		return
	}
	began, beganT := h.began(r)
	h.Interventions = keepLast(append(h.Interventions, intervention{
		N: r.N, At: h.Actions, T: max(h.T, r.T), Agent: agentOf(r), Factor: min(max(d.Intervention.Factor, 0), 1),
		Kind: truncateKey(d.Intervention.Kind), Issue: truncateKey(d.Intervention.Issue), Tokens: h.Tokens, Busy: h.Busy, Began: began, BeganT: beganT,
	}), maxInterventions)
}

// found reports whether an event has a finding of an issue, or a rule of it
// fired.
func found(r *engine.Record, issue string) bool {
	if slices.ContainsFunc(r.Findings, func(f engine.Finding) bool { return truncateKey(f.ID) == issue }) {
		return true
	}
	return r.Decision != nil && slices.ContainsFunc(r.Decision.Rules, func(rule engine.RuleResult) bool {
		return truncateKey(rule.ID) == issue
	})
}

// interventionFacts describes the earlier interventions for an event.
func (h *State) interventionFacts(r *engine.Record) []engine.InterventionFacts {
	var list []engine.InterventionFacts
	tokens, busy := h.spentWith(r)
	for _, i := range h.Interventions {
		f := engine.InterventionFacts{
			Kind: i.Kind, Issue: i.Issue, Agent: i.Agent, Factor: i.Factor,
			Ago: h.Actions - i.At + 1, MS: max(r.T, h.T) - i.T, Run: i.N > h.PromptN,
			Began: max(max(r.T, h.T)-i.BeganT, 0), Lifted: i.Lifted,
		}
		if a := h.agent(i.Agent); !i.taken() {
			f.Next = a == nil || len(a.Ring) == 0 || a.Ring[len(a.Ring)-1].N < i.N
		}
		if f.Run {
			f.Tokens, f.Busy = tokens-i.Tokens, busy-i.Busy
		}
		if i.BackT > 0 {
			f.Back = &engine.Return{Actions: i.BackAt - i.At, MS: i.BackT - i.T}
		}
		list = append(list, f)
	}
	return list
}

// deniedHarms lists the harms of the latest denials in a row, oldest first, up to
// one that named none.
func (h *State) deniedHarms() []string {
	var harms []string
	last := int64(0)
	for i := len(h.Denials) - 1; i >= 0; i-- {
		d := &h.Denials[i]
		switch {
		case d.N == last || d.Taken:
			continue
		case d.Person || d.Harm == "" || d.At <= h.Actions-h.DeniedRow:
			slices.Reverse(harms)
			return harms
		}
		last = d.N
		harms = append(harms, d.Harm)
	}
	slices.Reverse(harms)
	return harms
}

// maxTakenFrom bounds the sessions for which it is remembered how far they were read. What is
// forgotten is taken over again. It belongs to FoldVersion.
const maxTakenFrom = 16

// takenFrom records how far another session was read.
type takenFrom struct {
	Chain string `json:"c"` // first digits of its chain
	N     int64  `json:"n"`
}

func (t *takenFrom) size() int { return len(t.Chain) + 16 + digits(t.N) }

// Given contains what other sessions can take over from a session.
type Given struct {
	Stop    *Stopped
	Denials []engine.TakenDenial
	Limits  []engine.TakenLimit
}

// Empty reports whether there is nothing to take.
func (g *Given) Empty() bool { return g.Stop == nil && len(g.Denials)+len(g.Limits) == 0 }

// Given returns what came after a record: a stop that can be lifted, denials of the last
// actions, and the throttling that applies until the next prompt. What the session itself
// took over from another one is not passed on.
func (h *State) Given(after, within int64) Given {
	var g Given
	if s := h.Stop; s != nil && s.N > after && !s.Taken && !s.Final {
		g.Stop = s
	}
	for _, d := range h.Denials {
		if d.N > after && !d.Taken && ago(h.Actions, d.At) <= within {
			g.Denials = append(g.Denials, engine.TakenDenial{N: d.N, Print: d.Print, Kind: d.Kind, Verb: d.Verb, Target: d.Target,
				Harm: d.Harm, Person: d.Person})
		}
	}
	for _, i := range h.Interventions {
		if i.N > max(after, h.PromptN) && i.Factor > 0 && !i.Lifted && !i.taken() {
			g.Limits = append(g.Limits, engine.TakenLimit{N: i.N, Issue: i.Issue, Factor: i.Factor})
		}
	}
	g.Denials, g.Limits = keepLast(g.Denials, engine.MaxTaken), keepLast(g.Limits, engine.MaxTaken)
	return g
}

// TakenTo returns how far a chain was read; 0: it was not.
func (h *State) TakenTo(chain string) int64 {
	for _, t := range h.Taken {
		if t.Chain == prefix(chain, digestLength) {
			return t.N
		}
	}
	return 0
}

// LastCall returns the time of the latest call of any agent; 0: there was none.
func (h *State) LastCall() int64 {
	var last int64
	for _, a := range h.Agents {
		if n := len(a.Ring); n > 0 {
			last = max(last, a.Ring[n-1].T)
		}
	}
	return last
}

// foldTaken makes what came from another session the session's own, as if it had happened with
// this record. It does not count as an action, nor as a denial of the session's own.
func (h *State) foldTaken(r *engine.Record) {
	t := r.Act.Taken
	from := takenFrom{prefix(boundKey(t.Chain, keyLength), digestLength), t.To}
	h.Taken = slices.DeleteFunc(h.Taken, func(o takenFrom) bool { return o.Chain == from.Chain })
	h.Taken = keepLast(append(h.Taken, from), maxTakenFrom)
	for _, d := range keepLast(slices.Clone(t.Denials), engine.MaxTaken) {
		h.Denials = append(h.Denials, denial{N: r.N, At: h.Actions, Print: boundKey(d.Print, digestLength), Kind: boundKey(d.Kind, digestLength),
			Verb: truncateKey(d.Verb), Target: truncateKey(d.Target), Harm: boundKey(d.Harm, digestLength), Person: d.Person, Taken: true})
	}
	if len(t.Denials) > 0 {
		h.DeniedAt = h.Actions
	}
	for _, s := range t.Said {
		if s.Kind == engine.Forbids && s.Act != "" {
			h.Goals.forbid(heldStatement{Statement: h.bounded(s)})
		}
	}
	h.foldTakenLimits(r)
	if r.Act.Kind == engine.EmergencyStop && h.Stop != nil && h.Stop.N == r.N {
		h.Stop.Taken = true
	}
}

// foldTakenLimits records interventions that no agent of the session had.
func (h *State) foldTakenLimits(r *engine.Record) {
	for _, l := range keepLast(slices.Clone(r.Act.Taken.Limits), engine.MaxTaken) {
		at := max(h.T, r.T)
		h.Interventions = keepLast(append(h.Interventions, intervention{
			N: r.N, At: h.Actions, T: at, Kind: engine.ResourceThrottling, Issue: truncateKey(l.Issue),
			Factor: min(max(l.Factor, 0), 1), Tokens: h.Tokens, Busy: h.Busy, Began: r.N, BeganT: at,
		}), maxInterventions)
	}
}

// taken reports whether an intervention was one of another session.
func (i *intervention) taken() bool { return i.Agent == "" }
